//! `fastlbp bingo`: the line protocol that BINGO's driver speaks with its inference program.
//!
//! Commands are whitespace-separated tokens on the standard input; each gets one line on the
//! standard output, flushed at once.

use crate::activity::Activity;
use crate::conflicts::Conflicts;
use crate::driver_settings::ask_for_one_device;
use crate::early_start::EarlyStart;
use crate::failure::{Failure, Outcome};
use crate::graph_file::GraphFile;
use crate::messages::{inform, warn};
use crate::run_warnings;
use crate::signals;
use crate::standard_streams::{input_path, standard_input, standard_output};
use crate::stats::reason_name;
use fastlbp::format::six_digits;
use fastlbp::{
    BeliefPropagation, Contradiction, EngineOptions, RunReport, RunRequest, Schedule, StopRule,
};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// Answer BINGO's queries on the standard input (also as `bingo_wrapper GRAPH [SEED]`)
///
/// Commands:
///   BP TOL MIN MAX HIST  run from fresh messages with the current evidence; prints the share of
///                        variables and factors that still change
///   Q I                  prints P(x=1) of the variable with index I, from the last BP
///   FQ I V               prints the belief of factor I at table index V
///   O I true|false       observes a variable
///   UC I                 clears the evidence of a variable
///   NL                   prints an empty line
///   BYE                  ends the program, as the end of the input does
///
/// Messages are updated in the order SEQFIX. Contradictory deterministic messages are resolved by vote
/// and reported on the standard error. Bad input is answered by a line that begins with ERROR, and
/// the rest of its line is skipped. SIGINT, SIGTERM and SIGHUP end the program at once, between lines.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    #[command(flatten)]
    graph: GraphFile,
    /// Accepted for BINGO's driver and not used: nothing is random in SEQFIX
    #[arg(value_name = "SEED")]
    seed: Option<u64>,
    /// Read the commands from this file, and not from the standard input
    #[arg(short, long, value_name = "FILE", value_parser = input_path())]
    commands: Option<PathBuf>,
    /// Say on the standard error how many iterations each BP took, and how long
    #[arg(long)]
    timing: bool,
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> Outcome {
    let mut conflicts = Conflicts::default();
    arguments.graph.add_to(&mut conflicts)?;
    match arguments.commands.as_deref() {
        Some(file) => conflicts.input("--commands", Some(file))?,
        None => conflicts.standard_input("the commands")?,
    }
    ask_for_one_device(&EngineOptions::default());
    let session = {
        let _activity = Activity::start("reading");
        let graph = Arc::new(arguments.graph.read()?.graph);
        BeliefPropagation::new(graph, Schedule::SequentialFixed, EngineOptions::default())?
    };
    let commands: Box<dyn BufRead> = match &arguments.commands {
        Some(path) => {
            let file = File::open(path).map_err(|error| of_file(path, &error))?;
            Box::new(BufReader::new(file))
        }
        None => Box::new(standard_input()?),
    };
    let (tokens, mut output) = (Tokens::new(commands), standard_output()?);
    let timing = arguments.timing;
    match (Conversation { session, tokens, timing, early_start: None }).hold(&mut output) {
        Ok(()) => Ok(()),
        Err(Stop::Input(error)) => Err(match &arguments.commands {
            Some(path) => of_file(path, &error),
            None => Failure::standard_input(&error),
        }),
        Err(Stop::Output(error)) => Err(Failure::standard_output(&error)),
    }
}

/// The failure of reading the file of `--commands`.
fn of_file(path: &Path, error: &io::Error) -> Failure {
    Failure::input(format!("{}: {error}", path.display()))
}

/// Why a conversation cannot go on.
enum Stop {
    Input(io::Error),
    Output(io::Error),
}

/// What came of one command.
enum Answer {
    Line(String),
    /// The token at fault is on the command's line or, as it is no command, not worth keeping.
    Error(String),
    /// The command lacks arguments; the token that came instead begins the next command.
    Missing(String, Token),
}

struct Conversation<R> {
    session: BeliefPropagation,
    tokens: Tokens<R>,
    timing: bool,
    /// From the first run on.
    early_start: Option<EarlyStart>,
}

impl<R: BufRead> Conversation<R> {
    fn hold(mut self, output: &mut dyn Write) -> Result<(), Stop> {
        let mut pending = None;
        loop {
            let command = match pending.take() {
                Some(token) => token,
                None => match self.tokens.next().map_err(Stop::Input)? {
                    Some(token) => token,
                    None => return Ok(()),
                },
            };
            if command.text == "BYE" {
                return Ok(());
            }
            let line = match self.answer(&command).map_err(Stop::Input)? {
                Answer::Line(line) => line,
                Answer::Error(message) => {
                    self.tokens.skip_line().map_err(Stop::Input)?;
                    error_line(&message)
                }
                Answer::Missing(message, token) => {
                    pending = Some(token);
                    error_line(&message)
                }
            };
            let _whole = signals::whole_line();
            // In one piece: a pipe takes so few bytes as a whole or not at all.
            let written = output.write_all(format!("{line}\n").as_bytes());
            written.and_then(|()| output.flush()).map_err(Stop::Output)?;
        }
    }

    fn answer(&mut self, command: &Token) -> io::Result<Answer> {
        let (usage, argument_count) = match command.text.as_str() {
            "NL" => return Ok(Answer::Line(String::new())),
            "BP" => ("BP TOL MIN MAX HIST", 4),
            "Q" => ("Q INDEX", 1),
            "FQ" => ("FQ FACTOR INDEX", 2),
            "O" => ("O INDEX true|false", 2),
            "UC" => ("UC INDEX", 1),
            other => {
                return Ok(Answer::Error(format!(
                    "'{other}': a command BP, Q, FQ, O, UC, NL or BYE is needed"
                )));
            }
        };
        let mut arguments = Vec::with_capacity(argument_count);
        while arguments.len() < argument_count {
            match self.tokens.next()? {
                Some(token) if token.line != command.line && token.is_command() => {
                    let message = format!("'{usage}' is needed, the next command came instead");
                    return Ok(Answer::Missing(message, token));
                }
                Some(token) => arguments.push(token.text),
                None => return Ok(Answer::Error(format!("'{usage}' is needed, the input ended"))),
            }
        }
        let answer = match (command.text.as_str(), &arguments[..]) {
            ("BP", [tolerance, min_iterations, max_iterations, history]) => {
                self.run(tolerance, min_iterations, max_iterations, history)
            }
            ("Q", [variable]) => self.query(variable),
            ("FQ", [factor, index]) => self.query_factor(factor, index),
            ("O", [variable, value]) => self.observe(variable, value),
            ("UC", [variable]) => self.clear(variable),
            _ => Err(format!("'{usage}' is needed")),
        };
        Ok(answer.map_or_else(Answer::Error, Answer::Line))
    }

    fn run(
        &mut self, tolerance: &str, min_iterations: &str, max_iterations: &str, history: &str,
    ) -> Result<String, String> {
        let tolerance = tolerance
            .parse()
            .map_err(|_| format!("'{tolerance}': a tolerance such as 1e-6 is needed"))?;
        let rule = StopRule::Bingo {
            tolerance,
            min_iterations: number(min_iterations, "a number of iterations")?,
            max_iterations: number(max_iterations, "a number of iterations")?,
            history: number(history, "a number of beliefs")?,
        };
        // BINGO has no way to hear of a contradiction: it needs an answer.
        let request = RunRequest { contradiction: Contradiction::Vote, ..RunRequest::new(rule) };
        self.early_start.get_or_insert_with(|| {
            EarlyStart::beside_first(&self.session, &request, &EngineOptions::default())
        });
        let started = Instant::now();
        let report = self.session.run(&request);
        let seconds = started.elapsed().as_secs_f64();
        self.session.take_notes().iter().for_each(inform);
        let report = report.map_err(|error| error.to_string())?;
        if self.timing {
            let RunReport { iterations, reason, .. } = report;
            let each = 1e3 * seconds / iterations.max(1) as f64;
            inform(format!(
                "BP: {iterations} iterations in {seconds:.6} s, {each:.4} ms each; {}",
                reason_name(reason)
            ));
        }
        let index = |variable| format!("index {variable}");
        if let Some(text) = run_warnings::of_contradictions(&report, index) {
            warn(format!("BP: {text}"));
        }
        Ok(six_digits(report.active_fraction))
    }

    fn query(&self, variable: &str) -> Result<String, String> {
        let variable = number(variable, "the index of a variable")?;
        let belief = self.session.probability(variable);
        belief.map(six_digits).map_err(|error| error.to_string())
    }

    fn query_factor(&self, factor: &str, index: &str) -> Result<String, String> {
        let factor = number(factor, "the index of a factor")?;
        let index = number(index, "an index into its table")?;
        if self.session.report().is_none() {
            return Err("no results yet: beliefs are there after the first BP".into());
        }
        let belief = self.session.factor_belief_at(factor, index);
        belief.map(six_digits).map_err(|error| error.to_string())
    }

    fn observe(&mut self, variable: &str, value: &str) -> Result<String, String> {
        let variable = number(variable, "the index of a variable")?;
        let state = match value {
            "true" => 1,
            "false" => 0,
            _ => return Err(format!("'{value}': true or false is needed")),
        };
        self.session.observe(variable, state).map_err(|error| error.to_string())?;
        Ok(format!("O {variable} {value}"))
    }

    fn clear(&mut self, variable: &str) -> Result<String, String> {
        let variable = number(variable, "the index of a variable")?;
        self.session.clear_evidence(variable).map_err(|error| error.to_string())?;
        Ok(format!("UC {variable}"))
    }
}

fn number<T: std::str::FromStr>(text: &str, what: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("'{text}': {what} is needed"))
}

/// One line that begins with ERROR, whatever the message holds.
fn error_line(message: &str) -> String {
    let printable: String = message.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("ERROR {printable}")
}

/// A word of the input.
struct Token {
    text: String,
    line: u64,
}

impl Token {
    fn is_command(&self) -> bool {
        matches!(self.text.as_str(), "BP" | "Q" | "FQ" | "O" | "UC" | "NL" | "BYE")
    }
}

/// Longest word that is kept in full: longer ones are no valid input, and need not fill the memory.
const LONGEST_TOKEN: usize = 100;

/// Splits input into words, reading no further than needed for the next one.
struct Tokens<R> {
    input: R,
    line: u64,
}

impl<R: BufRead> Tokens<R> {
    fn new(input: R) -> Self {
        Self { input, line: 1 }
    }

    fn peek(&mut self) -> io::Result<Option<u8>> {
        loop {
            match self.input.fill_buf() {
                Ok(bytes) => return Ok(bytes.first().copied()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn take(&mut self, byte: u8) {
        self.line += u64::from(byte == b'\n');
        self.input.consume(1);
    }

    /// The next word; the byte after it stays unread.
    fn next(&mut self) -> io::Result<Option<Token>> {
        let mut bytes = Vec::new();
        while let Some(byte) = self.peek()? {
            // What C++ streams skip: isspace in the "C" locale.
            let space = byte.is_ascii_whitespace() || byte == 0x0b;
            if space && !bytes.is_empty() {
                break;
            }
            if !space && bytes.len() <= LONGEST_TOKEN {
                bytes.push(byte);
            }
            self.take(byte);
        }
        if bytes.is_empty() {
            return Ok(None);
        }
        let mut text = String::from_utf8_lossy(&bytes).into_owned();
        if bytes.len() > LONGEST_TOKEN {
            text.push_str("...");
        }
        Ok(Some(Token { text, line: self.line }))
    }

    /// Skips the rest of the line on which the last word was.
    fn skip_line(&mut self) -> io::Result<()> {
        while let Some(byte) = self.peek()? {
            if byte == b'\n' {
                break;
            }
            self.take(byte);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastlbp::FactorGraphBuilder;

    fn converse(input: &str) -> String {
        let mut builder = FactorGraphBuilder::new();
        builder.add_prior(10, 0.25).unwrap();
        builder.add_and(20, &[10], 0.999, 0.0).unwrap();
        let graph = Arc::new(builder.build().unwrap());
        let session =
            BeliefPropagation::new(graph, Schedule::SequentialFixed, EngineOptions::default());
        let tokens = Tokens::new(input.as_bytes());
        let mut output = Vec::new();
        let session = session.unwrap();
        let conversation = Conversation { session, tokens, timing: false, early_start: None };
        assert!(conversation.hold(&mut output).is_ok());
        String::from_utf8(output).unwrap()
    }

    /// The first word of each answered line, or the line if it is none of an error.
    fn brief(input: &str) -> Vec<String> {
        let short = |line: &str| line.strip_prefix("ERROR").map_or(line, |_| "ERROR").to_string();
        converse(input).lines().map(short).collect()
    }

    #[test]
    fn commands_may_be_spread_over_lines() {
        let wanted = "0\n0.25\n\nO 0 true\nUC 0\n0.24975\n";
        assert_eq!(converse("BP 1e-6 5 10 2\nQ 0\nNL\nO 0 true\nUC 0\nQ 1\n"), wanted);
        assert_eq!(converse("BP\n1e-6\r\n5 10\n\n2 Q 0 NL O\n0 true UC 0\tQ\n\n1"), wanted);
    }

    #[test]
    fn results_are_those_of_the_last_run() {
        let lines = brief("Q 0\nBP 1e-6 5 10 2\nO 1 true\nQ 0\nBP 1e-6 5 10 2\nQ 0\nUC 1\nQ 0\n");
        assert_eq!(lines, ["ERROR", "0", "O 1 true", "0.25", "0", "1", "UC 1", "1"]);
    }

    #[test]
    fn factor_beliefs() {
        // Entries of factor 1 by the states of labels 10 and 20, the first one fastest.
        let input =
            "FQ 1 3\nBP 1e-6 5 10 2\nFQ 1 0\nFQ 1 1\nFQ 1 2\nFQ 1 3\nFQ 1 4\nFQ 2 0\nFQ 0 1";
        let wanted = ["ERROR", "0", "0.75", "0.00025", "0", "0.24975", "ERROR", "ERROR", "0.25"];
        assert_eq!(brief(input), wanted);
    }

    #[test]
    fn bad_input_gives_one_error_and_the_rest_of_its_line_is_skipped() {
        for wrong in [
            "X",
            "X 1 2 3",
            "q 0",
            "Q x",
            "Q -1",
            "Q 2",
            "Q 1.5",
            "Q 99999999999999999999999",
            "O 0 maybe",
            "O 0 1",
            "O 2 true",
            "O x true",
            "UC 7",
            "UC -7",
            "BP x 5 10 2",
            "BP nan 5 10 2",
            "BP -1 5 10 2",
            "BP 1e-6 50 10 2",
            "BP 1e-6 5 10 0",
            "BP 1e-6 5 10 -2",
            "BP 1e-6 5.0 10 2",
            "\u{1f980} \u{0} x",
            "ERROR",
        ] {
            let lines = brief(&format!("BP 1e-6 5 10 2\n{wrong}\nQ 0\nNL\n"));
            assert_eq!(lines, ["0", "ERROR", "0.25", ""], "{wrong:?}");
        }
    }

    #[test]
    fn a_command_that_lacks_arguments_does_not_eat_the_next_one() {
        for wrong in ["BP", "BP 1e-6 5 10", "Q", "FQ", "FQ 0", "O", "O 0", "UC"] {
            assert_eq!(brief(&format!("{wrong}\nNL\n")), ["ERROR", ""], "{wrong}");
            assert_eq!(brief(wrong), ["ERROR"], "{wrong}");
        }
    }

    #[test]
    fn the_end_of_the_input_and_bye_end_the_conversation() {
        assert_eq!(converse(""), "");
        assert_eq!(converse(" \n\n"), "");
        assert_eq!(converse("NL BYE NL"), "\n");
        assert_eq!(brief("Q\nBYE\nNL"), ["ERROR"]);
    }

    #[test]
    fn an_error_is_one_line_of_bounded_length() {
        let long = "x".repeat(1_000_000);
        let answer = converse(&format!("{long}\nNL\n"));
        assert!(answer.starts_with("ERROR 'xxx") && answer.len() < 300, "{}", answer.len());
        assert_eq!(answer.lines().count(), 2);
    }
}
