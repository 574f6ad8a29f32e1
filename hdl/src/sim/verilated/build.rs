//! From Verilog to a shared library, through a cache.

use super::{
    VerilatedError,
    cache::{Cache, Lack, file_error},
    tool,
};
use crate::{
    circuit::{Direction, Module, Port, verilog},
    tools,
};
use nendo_model::contract::digest::hex_digest;
use std::{
    env,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::{
        OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
};

/// Who is told, and what of.
type Announcer = Box<dyn Fn(&str) + Send + Sync>;
static ANNOUNCER: OnceLock<Announcer> = OnceLock::new();

/// From now on, tells of circuits that are not in the cache before they are compiled: that takes a while. The first
/// who asks is told.
pub fn announce(tell: impl Fn(&str) + Send + Sync + 'static) {
    let _ = ANNOUNCER.set(Box::new(tell));
}

/// What is compiled in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SimOptions {
    /// Waveforms (FST; needs zlib's headers).
    pub trace: bool,
    /// Coverage.
    pub coverage: Coverage,
}

/// What is counted while a circuit runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coverage {
    /// Nothing.
    #[default]
    None,
    /// Which lines are reached.
    Lines,
    /// And which bits change both ways: takes long to compile.
    LinesAndToggles,
}

/// The C++ interface: functions of plain C types over any set of ports.
fn shim(ports: &[Port], options: SimOptions) -> String {
    let mut s =
        String::from("#include <cstdint>\n#include <cstring>\n#include <memory>\n#include \"Vtop.h\"\n");
    if options.trace {
        s += "#include \"verilated_fst_c.h\"\n";
    }
    if options.coverage != Coverage::None {
        s += "#include \"verilated_cov.h\"\n";
    }
    s += "struct Sim {\n  VerilatedContext context;\n  std::unique_ptr<Vtop> top;\n  uint64_t time = 0;\n";
    if options.trace {
        s += "  std::unique_ptr<VerilatedFstC> trace;\n";
    }
    s += "};\n";
    s += "template <class T> static void put(T& p, uint32_t i, uint32_t v) {\n\
          \x20 if constexpr (sizeof(T) <= 4) p = static_cast<T>(v);\n\
          \x20 else if constexpr (sizeof(T) == 8 && std::is_integral<T>::value)\n\
          \x20   p = i ? (p & 0xffffffffull) | (uint64_t(v) << 32) : (p & ~0xffffffffull) | v;\n\
          \x20 else p[i] = v;\n}\n\
          template <class T> static uint32_t take(const T& p, uint32_t i) {\n\
          \x20 if constexpr (sizeof(T) <= 4) return p;\n\
          \x20 else if constexpr (sizeof(T) == 8 && std::is_integral<T>::value) return uint32_t(p >> (32 * i));\n\
          \x20 else return p[i];\n}\n";
    s += "extern \"C\" {\n";
    s += "Sim* nendo_new() {\n  auto s = new Sim;\n  s->context.randReset(2);\n  s->context.randSeed(1);\n";
    if options.trace {
        s += "  s->context.traceEverOn(true);\n";
    }
    s += "  s->top.reset(new Vtop(&s->context));\n  s->top->clock = 0;\n  s->top->eval();\n  return s;\n}\n";
    s += "void nendo_free(Sim* s) { s->top->final(); delete s; }\n";
    s += "void nendo_set(Sim* s, uint32_t port, uint32_t word, uint32_t value) {\n  switch (port) {\n";
    for (k, port) in ports.iter().enumerate().filter(|(_, p)| p.direction == Direction::In) {
        let _ = writeln!(s, "    case {k}: put(s->top->{}, word, value); break;", port.name);
    }
    s += "  }\n}\nuint32_t nendo_get(Sim* s, uint32_t port, uint32_t word) {\n  switch (port) {\n";
    for (k, port) in ports.iter().enumerate() {
        let _ = writeln!(s, "    case {k}: return take(s->top->{}, word);", port.name);
    }
    s += "  }\n  return 0;\n}\nvoid nendo_eval(Sim* s) { s->top->eval(); }\n";
    let dump = if options.trace { "if (s->trace) s->trace->dump(s->time);" } else { "" };
    let _ = writeln!(
        s,
        "void nendo_tick(Sim* s, uint64_t clocks) {{\n  for (uint64_t k = 0; k < clocks; ++k) {{\n    \
         s->top->clock = 1;\n    s->top->eval();\n    {dump} ++s->time;\n    \
         s->top->clock = 0;\n    s->top->eval();\n    {dump} ++s->time;\n  }}\n}}"
    );
    if options.trace {
        s += "void nendo_trace(Sim* s, const char* file) {\n  if (s->trace) { s->trace->close(); s->trace.reset(); }\n\
              \x20 if (file) { s->trace.reset(new VerilatedFstC); s->top->trace(s->trace.get(), 99); s->trace->open(file); }\n}\n";
    }
    if options.coverage != Coverage::None {
        s += "void nendo_coverage(Sim* s, const char* file) { s->context.coveragep()->write(file); }\n";
    }
    s += "}\n";
    s
}

/// The shared library of a circuit, compiled unless it is in the cache.
pub(super) fn library(module: &Module, options: SimOptions) -> Result<PathBuf, VerilatedError> {
    let cache = Cache::open()?;
    let tool = tool::find()?;
    let compiler = env::var("CXX").unwrap_or_else(|_| "c++".to_owned());
    let verilog = verilog(module, "top");
    let shim = shim(module.ports(), options);
    let key = format!("{verilog}\0{shim}\0{}\0{compiler}\0{FLAGS:?}\0{options:?}", tool.version);
    let key = hex_digest(key.as_bytes());
    let folder = cache.entry(&key[..24], &["circuit.so"], |aside, lack| {
        if let Some(tell) = ANNOUNCER.get() {
            tell(match lack {
                Lack::Absent => "compiling the circuit with Verilator; the next run finds it compiled ...",
                Lack::Damaged => "the compiled circuit is damaged: compiling it anew with Verilator ...",
            });
        }
        for (name, text) in [("top.v", &verilog), ("shim.cpp", &shim)] {
            fs::write(aside.join(name), text).map_err(file_error(&aside.join(name)))?;
        }
        let log = cache.file("last-failure.log");
        let mut command = tool.command();
        command.current_dir(aside).args(["--cc", "top.v", "--top-module", "top", "--Mdir", "."]).args(FLAGS);
        if options.trace {
            command.arg("--trace-fst");
        }
        match options.coverage {
            Coverage::None => {}
            Coverage::Lines => drop(command.arg("--coverage-line")),
            Coverage::LinesAndToggles => drop(command.args(["--coverage-line", "--coverage-toggle"])),
        }
        check("verilator", run(&mut command).map_err(|_| VerilatedError::NoVerilator)?, &log)?;
        let program = tools::find(&compiler).ok_or_else(|| VerilatedError::NoCompiler(compiler.clone()))?;
        let compiler = Compiler { program, include: tool.root.join("include"), options, log: &log };
        compiler.circuit(aside, &runtime(&cache, &compiler, &tool.version)?)
    })?;
    Ok(folder.join("circuit.so"))
}

/// Verilator's options: unused and unoptimised parts stay quiet, the rest is an error.
const FLAGS: [&str; 7] = ["-O3", "--x-assign", "fast", "--x-initial", "unique", "--noassert", "-Wno-fatal"];

/// Bytes of C++ from which on a circuit is optimised less: eight modules compile in half the time, and run 5 to 10 %
/// slower.
const LARGE: u64 = 2_000_000;

/// Verilator's own C++, compiled once for all circuits.
fn runtime(cache: &Cache, compiler: &Compiler<'_>, version: &str) -> Result<Vec<PathBuf>, VerilatedError> {
    let Compiler { program, include, options, .. } = compiler;
    let mut names = vec!["verilated.cpp", "verilated_threads.cpp"];
    if options.trace {
        names.push("verilated_fst_c.cpp");
    }
    if options.coverage != Coverage::None {
        names.push("verilated_cov.cpp");
    }
    let (program, place) = (program.display(), include.display());
    let key = hex_digest(format!("{version}\0{program}\0{options:?}\0{place}").as_bytes());
    let objects: Vec<String> = names.iter().map(|name| name.replace(".cpp", ".o")).collect();
    let objects: Vec<&str> = objects.iter().map(String::as_str).collect();
    let folder = cache.entry(&format!("runtime-{}", &key[..16]), &objects, |aside, _| {
        let sources: Vec<PathBuf> = names.iter().map(|name| include.join(name)).collect();
        let objects: Vec<PathBuf> = objects.iter().map(|name| aside.join(name)).collect();
        compiler.objects(aside, &sources, &objects, false)
    })?;
    Ok(objects.iter().map(|name| folder.join(name)).collect())
}

/// The system's C++ compiler with what it needs to know.
struct Compiler<'a> {
    program: PathBuf,
    include: PathBuf,
    options: SimOptions,
    log: &'a Path,
}

impl Compiler<'_> {
    /// Compiles what Verilator and the shim left in a folder into `circuit.so`.
    fn circuit(&self, folder: &Path, runtime: &[PathBuf]) -> Result<(), VerilatedError> {
        let file = |error| VerilatedError::File { path: folder.display().to_string(), error };
        let mut names: Vec<String> = fs::read_dir(folder)
            .map_err(file)?
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| name.ends_with(".cpp"))
            .collect();
        names.sort();
        // Two units, not dozens: most of the time goes into the headers. Start-up code is not worth
        // optimising, what runs every clock is.
        let (slow, fast): (Vec<_>, Vec<_>) =
            names.into_iter().partition(|name| name.contains("Slow") || name.contains("Syms"));
        let unit = |names: &[String]| names.iter().map(|n| format!("#include \"{n}\"\n")).collect::<String>();
        let sources = [folder.join("all_Slow.cc"), folder.join("all_fast.cc")];
        for (source, names) in sources.iter().zip([&slow, &fast]) {
            fs::write(source, unit(names)).map_err(file)?;
        }
        let objects: Vec<PathBuf> = sources.iter().map(|s| s.with_extension("o")).collect();
        let bytes: u64 =
            fast.iter().filter_map(|name| Some(fs::metadata(folder.join(name)).ok()?.len())).sum();
        self.objects(folder, &sources, &objects, bytes > LARGE)?;
        let mut command = tools::command(&self.program);
        command.arg("-shared").args(&objects).args(runtime).arg("-pthread");
        command.arg("-o").arg(folder.join("circuit.so"));
        if self.options.trace {
            command.arg("-lz");
        }
        check("the linker", self.run(&mut command)?, self.log)?;
        objects.iter().for_each(|object| drop(fs::remove_file(object)));
        Ok(())
    }

    /// Compiles sources, `large` ones or not, to objects, as many at a time as there are cores; each appears whole.
    fn objects(
        &self,
        folder: &Path,
        sources: &[PathBuf],
        objects: &[PathBuf],
        large: bool,
    ) -> Result<(), VerilatedError> {
        let define = |name: &str, on: bool| format!("-D{name}={}", u8::from(on));
        let defines = [
            define("VM_COVERAGE", self.options.coverage != Coverage::None),
            define("VM_SC", false),
            define("VM_TRACE", self.options.trace),
            define("VM_TRACE_FST", self.options.trace),
            define("VM_TRACE_VCD", false),
        ];
        let next = AtomicUsize::new(0);
        let work = || {
            loop {
                let k = next.fetch_add(1, Ordering::Relaxed);
                let (Some(source), Some(object)) = (sources.get(k), objects.get(k)) else { return Ok(()) };
                let is_slow = source.to_string_lossy().contains("Slow");
                let level = match self.options.coverage {
                    // Start-up code, and the flood of counters, take longer to optimise than to run.
                    _ if is_slow => "-O0",
                    Coverage::LinesAndToggles => "-O0",
                    _ if large => "-O1",
                    _ => "-O2",
                };
                let aside = object.with_extension(format!("{}.tmp", std::process::id()));
                let mut command = tools::command(&self.program);
                command.args(["-std=gnu++17", "-fPIC", "-w", "-c", level]).args(&defines);
                command
                    .arg("-I")
                    .arg(folder)
                    .arg("-I")
                    .arg(&self.include)
                    .arg("-I")
                    .arg(self.include.join("vltstd"));
                command.arg(source).arg("-o").arg(&aside);
                check("the C++ compiler", self.run(&mut command)?, self.log)?;
                fs::rename(&aside, object)
                    .map_err(|error| VerilatedError::File { path: object.display().to_string(), error })?;
            }
        };
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        let results: Vec<Result<(), VerilatedError>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
            threads.into_iter().filter_map(|t| t.join().ok()).collect()
        });
        results.into_iter().collect()
    }

    fn run(&self, command: &mut Command) -> Result<Output, VerilatedError> {
        run(command).map_err(|_| VerilatedError::NoCompiler(self.program.display().to_string()))
    }
}

fn run(command: &mut Command) -> std::io::Result<Output> {
    command.stdin(Stdio::null()).output()
}

fn check(tool: &'static str, output: Output, log: &Path) -> Result<(), VerilatedError> {
    if output.status.success() {
        return Ok(());
    }
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let _ = fs::write(log, &text);
    let lines: Vec<&str> = text.lines().collect();
    let tail = lines[lines.len().saturating_sub(12)..].join("\n");
    Err(VerilatedError::Failed { tool, log: log.display().to_string(), tail })
}
