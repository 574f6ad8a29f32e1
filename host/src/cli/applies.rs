//! What goes with what: options that not every engine has a use for.
//!
//! The one table of it. Refusals, help texts and what `--engine auto` chooses from are made of it, for every command
//! that has an option `--engine`.

use crate::engine::{
    EngineKind::{self, Board, F32, F64, Hybrid, Model, Rtl},
    choice::{AUTO, EngineChoice, names},
};
use clap::{ArgMatches, Command, parser::ValueSource};

/// An option and the engines it goes with.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Rule {
    /// Its name in clap.
    id: &'static str,
    engines: &'static [EngineKind],
}

const fn rule(id: &'static str, engines: &'static [EngineKind]) -> Rule {
    Rule { id, engines }
}

pub(super) const TABLE: &[Rule] = &[
    rule("profile", &[Hybrid, Model, Rtl, Board]),
    rule("inverse", &[Model, Rtl, Board]),
    rule("modules", &[Model, Rtl, Board]),
    rule("shuffle_edges", &[Model, Rtl, Board]),
    rule("threads", &[F32, Model, Board]),
    rule("integrator", &[F64]),
    rule("device", &[Board]),
    rule("record", &[Rtl, Board]),
    rule("completion", &[Rtl, Board]),
    rule("trace", &[Rtl]),
];

impl Rule {
    /// The option as users write it.
    fn option(&self) -> String {
        format!("--{}", self.id.replace('_', "-"))
    }

    fn engines_text(&self) -> String {
        names(self.engines, "or")
    }

    fn needs(&self) -> String {
        format!("{} needs --engine {}", self.option(), self.engines_text())
    }
}

/// The options of the table that a command line has. Its own arguments, not those of a command above.
fn given(matches: &ArgMatches) -> Vec<&'static Rule> {
    let here = |rule: &&Rule| {
        let known = matches.try_contains_id(rule.id).unwrap_or(false);
        known && matches.value_source(rule.id) == Some(ValueSource::CommandLine)
    };
    TABLE.iter().filter(here).collect()
}

/// The engines that go with all options given: of those that are chosen from, or the board if a device is named.
pub(super) fn candidates(matches: &ArgMatches) -> Vec<EngineKind> {
    let given = given(matches);
    let device = given.iter().any(|rule| rule.engines == [Board]);
    let all = if device { &[Board][..] } else { &AUTO };
    all.iter().copied().filter(|kind| given.iter().all(|rule| rule.engines.contains(kind))).collect()
}

/// What is wrong with the options of a command line, if anything is: the remedy with it.
pub(super) fn refusal(matches: &ArgMatches) -> Option<String> {
    if let Some((_, matches)) = matches.subcommand() {
        return refusal(matches);
    }
    let choice = *matches.try_get_one::<EngineChoice>("engine").ok().flatten()?;
    let given = given(matches);
    match choice {
        EngineChoice::One(kind) => {
            let rule = given.iter().find(|rule| !rule.engines.contains(&kind))?;
            Some(format!("{}: with {} leave it out", rule.needs(), kind.name()))
        }
        EngineChoice::Auto if candidates(matches).is_empty() => {
            Some(given.iter().map(|rule| rule.needs()).collect::<Vec<_>>().join("; "))
        }
        EngineChoice::Auto => None,
    }
}

/// The same command, the help of its options saying which engines they go with.
pub(super) fn annotate(command: Command) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    let command = names.into_iter().fold(command, |command, name| command.mut_subcommand(name, annotate));
    if !command.get_arguments().any(|arg| arg.get_id() == "engine") {
        return command;
    }
    let has = |command: &Command, id: &str| command.get_arguments().any(|arg| arg.get_id() == id);
    TABLE.iter().fold(command, |command, rule| match has(&command, rule.id) {
        true => command.mut_arg(rule.id, |arg| {
            let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
            arg.help(format!("{help} [engines: {}]", rule.engines_text()))
        }),
        false => command,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every way to give an option of the table, with a value that it takes.
    fn typed(rule: &Rule) -> Vec<String> {
        let value = match rule.id {
            "profile" => Some("wide"),
            "inverse" => Some("table"),
            "modules" | "threads" | "shuffle_edges" => Some("2"),
            "integrator" => Some("rk4"),
            "device" => Some("model"),
            "record" | "trace" => Some("out/file"),
            "completion" => Some("poll"),
            _ => None,
        };
        std::iter::once(rule.option()).chain(value.map(str::to_owned)).collect()
    }

    fn matches(words: &[&str], options: &[String]) -> ArgMatches {
        let words = words.iter().map(|word| (*word).to_owned());
        crate::cli::command().try_get_matches_from(words.chain(options.iter().cloned())).unwrap()
    }

    fn has(command: &str, id: &str) -> bool {
        let all = crate::cli::command();
        let sub = all.find_subcommand(command).unwrap();
        sub.get_arguments().any(|arg| arg.get_id() == id)
    }

    /// `--threads` on f64, `--integrator` on the model, `--profile` on f32 and others were taken and forgotten.
    #[test]
    fn an_option_is_used_or_refused_on_every_engine_by_every_command() {
        let mut seen = 0;
        for (command, last) in [
            ("run", None),
            ("compare", None),
            ("view", None),
            ("picture", Some(["-o", "p.png"])),
            ("movie", Some(["-o", "m.gif"])),
        ] {
            for rule in TABLE.iter().filter(|rule| has(command, rule.id)) {
                for kind in [F64, F32, Hybrid, Model, Rtl, Board] {
                    let mut words = vec!["nendo", command, "cube9", "--engine", kind.name()];
                    words.extend(last.iter().flatten());
                    let refused = refusal(&matches(&words, &typed(rule)));
                    let fits = rule.engines.contains(&kind);
                    assert_eq!(refused.is_none(), fits, "{command} {rule:?} {}", kind.name());
                    let says =
                        |text: &String| text.contains(&rule.option()) && text.contains(&rule.engines_text());
                    assert!(refused.iter().all(says), "{refused:?}");
                    seen += 1;
                }
            }
        }
        assert!(seen >= 6 * (TABLE.len() + 4 * 8), "{seen}");
        assert!(TABLE.iter().all(|rule| has("run", rule.id)));
    }

    /// What `--engine auto` chooses from, by the options given: however a command declares them, none is overlooked.
    #[test]
    fn options_narrow_what_auto_chooses_from() {
        for (options, expected) in [
            ("", &[Model, F32, F64][..]),
            ("--threads 2", &[Model, F32]),
            ("--profile wide", &[Model]),
            ("--modules 2 --threads 2", &[Model]),
            ("--shuffle-edges 3", &[Model]),
            ("--integrator rk4", &[F64]),
            ("--device model", &[Board]),
            ("--live", &[Model, F32, F64]),
            ("--device model --live --record f", &[Board]),
        ] {
            let options: Vec<String> = options.split_whitespace().map(str::to_owned).collect();
            let found = matches(&["nendo", "run", "cube9"], &options);
            let run = found.subcommand_matches("run").unwrap();
            assert_eq!((candidates(run), refusal(&found)), (expected.to_vec(), None), "{options:?}");
            // As the command's own type has it.
            let crate::cli::Command::Run(args) =
                <crate::cli::Cli as clap::FromArgMatches>::from_arg_matches(&found).unwrap().command
            else {
                panic!("another command")
            };
            assert_eq!(args.engine().asked().1, expected, "{options:?}");
        }
        for contradiction in [
            "--integrator rk4 --profile wide",
            "--device model --trace f",
            "--live --integrator rk4 --modules 2",
            "--trace f",
        ] {
            let options: Vec<String> = contradiction.split_whitespace().map(str::to_owned).collect();
            let text = refusal(&matches(&["nendo", "run", "cube9"], &options)).unwrap();
            assert!(text.contains("needs --engine"), "{text}");
        }
    }

    #[test]
    fn help_says_which_engines_an_option_goes_with() {
        let all = crate::cli::command();
        let run = all.find_subcommand("run").unwrap();
        for rule in TABLE {
            let arg = run.get_arguments().find(|arg| arg.get_id() == rule.id).unwrap();
            let help = arg.get_help().unwrap().to_string();
            assert!(help.ends_with(&format!("[engines: {}]", rule.engines_text())), "{help}");
        }
        // Where there is no engine to choose, nothing is said of engines.
        let estimate = all.find_subcommand("estimate").unwrap();
        assert!(
            estimate
                .get_arguments()
                .all(|arg| !arg.get_help().is_some_and(|h| h.to_string().contains("[engines")))
        );
    }
}
