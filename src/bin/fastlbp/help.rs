//! The short help of `-h`: a line per option that is used often. `--help` has all of it.

use clap::{Arg, Command};

/// Options that few people need, of any subcommand: `-h` leaves them out.
const RARE: [&str; 22] = [
    "active",
    "blocks",
    "bingo",
    "contradiction",
    "damping",
    "device",
    "evidence_sample",
    "exact_limit",
    "format",
    "inference",
    "log_domain",
    "log_partition",
    "max_time",
    "no_compile",
    "ranks",
    "report",
    "seed",
    "soft_evidence",
    "stats",
    "stop_on",
    "ties",
    "trace",
];

/// The longest text of an option in the short help, if it cannot be cut at the end of a sentence.
const SHORT: usize = 72;

/// Has `-h` say in a line each what is used often.
pub fn with_short_help(command: Command) -> Command {
    let command = command.mut_args(short_argument);
    command.mut_subcommands(with_short_help)
}

fn short_argument(argument: Arg) -> Arg {
    let is_rare = RARE.contains(&argument.get_id().as_str());
    let argument = argument.hide_short_help(is_rare);
    let Some(help) = argument.get_help().map(ToString::to_string) else { return argument };
    if argument.get_long_help().is_some() {
        return argument;
    }
    match first_part(&help) {
        Some(first) => argument.help(first).long_help(help),
        None => argument,
    }
}

/// The beginning of a text that says enough; `None` where that is all of it.
fn first_part(help: &str) -> Option<String> {
    // The default stays in sight.
    let (text, default) = help.split_at(help.rfind(" [default: ").unwrap_or(help.len()));
    let end = [". ", "; ", ": ", " ("].iter().filter_map(|stop| text.find(stop)).min();
    let end = match end {
        Some(end) => end,
        None if text.len() > SHORT => text.find(", ")?,
        None => return None,
    };
    Some(format!("{}{default}", &text[..end]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_part_says_enough() {
        for (help, wanted) in [
            ("Seed of SEQRND", None),
            ("Number of threads [default: one per core]", None),
            ("Names: lines `a: b`; also with .gz [default: none]", Some("Names [default: none]")),
            (
                "Infer exactly, by a junction tree. Not with runs",
                Some("Infer exactly, by a junction tree"),
            ),
        ] {
            assert_eq!(first_part(help).as_deref(), wanted);
        }
    }
}
