//! The `nendo` command.

fn main() -> std::process::ExitCode {
    nendo_host::cli::main()
}
