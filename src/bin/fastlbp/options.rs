//! Values of options that several subcommands read.

use clap::ValueEnum;
use fastlbp::{Backend, Schedule, StopRule};
use std::time::Duration;

/// Names of the update schedules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ScheduleName {
    /// Every message reads those of the iteration before (synchronous)
    #[value(name = "PARALL")]
    Parallel,
    /// One message after the other: factors in file order, inside a factor labels ascending
    #[value(name = "SEQFIX")]
    SequentialFixed,
    /// One message after the other, in a fresh random order every iteration (see --seed)
    #[value(name = "SEQRND")]
    SequentialRandom,
    /// Random blocks of messages one after the other, those of a block at once (see --blocks, --seed)
    #[value(name = "BLOCKS")]
    Blocks,
    /// Along the arcs from the bodies of AND and OR factors to their heads, then back
    #[value(name = "TOPO")]
    Topological,
    /// As TOPO, but all messages whose heads are equally deep at once
    #[value(name = "FWDBWD")]
    ForwardBackward,
    /// To the roots of a breadth-first spanning forest and back: exact in one iteration on trees
    #[value(name = "TREE")]
    Tree,
    /// Always the message that would change most (residual belief propagation)
    #[value(name = "SEQMAX")]
    MaximumResidual,
}

impl ScheduleName {
    /// The names of the schedules that are preorders.
    pub fn preorders() -> impl Iterator<Item = Self> {
        Self::value_variants().iter().copied().filter(|&name| name != ScheduleName::MaximumResidual)
    }

    /// The schedule; `seed` is that of SEQRND and BLOCKS, `blocks` > 0 that of BLOCKS.
    pub fn schedule(self, seed: u64, blocks: u32) -> Schedule {
        match self {
            ScheduleName::Parallel => Schedule::Parallel,
            ScheduleName::SequentialFixed => Schedule::SequentialFixed,
            ScheduleName::SequentialRandom => Schedule::SequentialRandom { seed },
            ScheduleName::Blocks => Schedule::Blocks { blocks, seed },
            ScheduleName::Topological => Schedule::Topological,
            ScheduleName::ForwardBackward => Schedule::ForwardBackward,
            ScheduleName::Tree => Schedule::Tree,
            ScheduleName::MaximumResidual => Schedule::MaximumResidual { log_domain: false },
        }
    }
}

/// Names of the backends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BackendName {
    /// The fastest one that is present
    Auto,
    /// The processor
    Cpu,
    /// A CUDA device
    Cuda,
}

impl BackendName {
    /// The backend.
    pub fn backend(self) -> Backend {
        match self {
            BackendName::Auto => Backend::Auto,
            BackendName::Cpu => Backend::Cpu,
            BackendName::Cuda => Backend::Cuda,
        }
    }
}

/// A tolerance: a finite number that is not negative.
pub fn parse_tolerance(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 0.0 => Ok(value),
        _ => Err("a number >= 0 such as 1e-9 is needed".into()),
    }
}

/// A damping: at least 0 and below 1.
pub fn parse_damping(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if (0.0..1.0).contains(&value) => Ok(value),
        _ => Err("a number in [0, 1) such as 0.5 is needed".into()),
    }
}

/// A time in seconds.
pub fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok();
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| "a number of seconds >= 0 such as 2.5 is needed".into())
}

/// BINGO's rule as `TOL,MIN,MAX,HIST`.
pub fn parse_bingo_rule(text: &str) -> Result<StopRule, String> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    let [tolerance, min_iterations, max_iterations, history] = parts[..] else {
        return Err(format!(
            "{} values: four are needed, TOL,MIN,MAX,HIST, such as 1e-6,500,1000,100",
            parts.len()
        ));
    };
    let count = |name: &str, text: &str| {
        text.parse::<u64>()
            .map_err(|_| format!("{name} '{text}': a number of iterations >= 0 is needed"))
    };
    let rule = StopRule::Bingo {
        tolerance: parse_tolerance(tolerance)
            .map_err(|needed| format!("TOL '{tolerance}': {needed}"))?,
        min_iterations: count("MIN", min_iterations)?,
        max_iterations: count("MAX", max_iterations)?,
        history: count("HIST", history)?,
    };
    match rule {
        StopRule::Bingo { min_iterations, max_iterations, .. }
            if min_iterations > max_iterations =>
        {
            Err(format!("MIN {min_iterations} is above MAX {max_iterations}"))
        }
        StopRule::Bingo { history: 0, .. } => Err("HIST 0: at least 1 is needed".into()),
        rule => Ok(rule),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedule_names_are_those_of_the_library() {
        for name in ScheduleName::value_variants() {
            let value = name.to_possible_value();
            let text = value.as_ref().map_or("", |value| value.get_name());
            assert_eq!(name.schedule(7, 3).name(), text);
        }
        let all = ScheduleName::value_variants().iter().map(|name| name.schedule(7, 3));
        assert!(all.map(|schedule| schedule.name()).eq(Schedule::names()));
    }

    #[test]
    fn tolerances_and_times() {
        assert_eq!(parse_tolerance("1e-6"), Ok(1e-6));
        assert_eq!(parse_tolerance("0"), Ok(0.0));
        for wrong in ["", "-1", "nan", "inf", "1e400", "x", "1,5"] {
            assert!(parse_tolerance(wrong).is_err(), "{wrong}");
        }
        assert_eq!(parse_damping("0.75"), Ok(0.75));
        for wrong in ["", "-0.1", "1", "nan", "inf", "x"] {
            assert!(parse_damping(wrong).is_err(), "{wrong}");
        }
        assert_eq!(parse_seconds("2.5"), Ok(Duration::from_millis(2500)));
        for wrong in ["", "-1", "nan", "inf", "1e30", "x"] {
            assert!(parse_seconds(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn bingo_rules() {
        let rule = parse_bingo_rule("1e-6,500,1000,100");
        let wanted = StopRule::Bingo {
            tolerance: 1e-6,
            min_iterations: 500,
            max_iterations: 1000,
            history: 100,
        };
        assert_eq!(rule, Ok(wanted));
        assert_eq!(parse_bingo_rule(" 1e-6 , 500, 1000,100 "), Ok(wanted));
        for (wrong, why) in [
            ("", "1 values"),
            ("1e-6,500,1000", "3 values"),
            ("1e-6,500,1000,100,1", "5 values"),
            ("x,500,1000,100", "TOL 'x'"),
            ("1e-6,-5,1000,100", "MIN '-5'"),
            ("1e-6,5,1e3,100", "MAX '1e3'"),
            ("1e-6,5,10,", "HIST ''"),
            ("1e-6,5,10,0", "HIST 0"),
            ("1e-6,50,10,1", "MIN 50 is above MAX 10"),
        ] {
            let message = parse_bingo_rule(wrong).unwrap_err();
            assert!(message.contains(why), "{wrong}: {message}");
        }
    }
}
