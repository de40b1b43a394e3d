//! Options of generated graphs, as `generate` and `bench` have them.

use crate::failure::{Failure, Outcome};
use clap::ValueEnum;
use fastlbp::generate::{Extremes, Plan, Shape};

/// Names of the shapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ShapeName {
    /// Executions of a program with loops: statements are high-degree variables, values form chains
    Smartfl,
    /// A derivation graph: conjunctive clauses, tuples as disjunctions of clauses, cycles
    Bingo,
    /// Noisy conjunctions and disjunctions in layers, of which SEQFIX has exactly --levels levels
    Layers,
    /// A grid of binary variables with a prior each, and random tables over neighbours
    Ising,
    /// A grid of variables with --states states, and random tables over variables and over neighbours
    Potts,
    /// A restricted Boltzmann machine: tables over each pair of a visible and a hidden variable
    Rbm,
}

/// Options that belong to single shapes, and additions to all of them.
#[derive(clap::Args)]
#[group(requires = "shape")]
pub struct ShapeOptions {
    /// Seed of the random choices
    #[arg(long, allow_negative_numbers = true, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Levels of SEQFIX, for layers [default: the square root of the number of variables]
    #[arg(long, allow_negative_numbers = true, value_name = "N")]
    levels: Option<usize>,
    /// States of each variable, for potts, up to 256 [default: 4]
    #[arg(long, allow_negative_numbers = true, value_name = "N")]
    states: Option<usize>,
    /// Hidden variables, for rbm [default: two of five]
    #[arg(long, allow_negative_numbers = true, value_name = "N")]
    hidden: Option<usize>,
    /// Add so many AND and OR factors over so many random variables each; variables must be binary
    #[arg(long, allow_hyphen_values = true, value_name = "COUNT,ARITY", value_parser = parse_extremes)]
    high_arity: Option<Extremes>,
    /// Make so many random variables members of so many more factors each, of two variables; these must be binary
    #[arg(long, allow_hyphen_values = true, value_name = "COUNT,DEGREE", value_parser = parse_extremes)]
    high_degree: Option<Extremes>,
}

fn parse_extremes(text: &str) -> Result<Extremes, String> {
    let number = |text: &str| text.trim().parse::<usize>().ok();
    let numbers = text.split_once(',').and_then(|(count, size)| number(count).zip(number(size)));
    let (count, size) =
        numbers.ok_or("two numbers with a comma in between, such as 3,100, are needed")?;
    Ok(Extremes { count, size })
}

impl ShapeOptions {
    /// Refuses options that belong to none of the shapes.
    pub fn check(&self, shapes: &[ShapeName]) -> Outcome {
        for (option, is_given, shape) in [
            ("--levels", self.levels.is_some(), ShapeName::Layers),
            ("--states", self.states.is_some(), ShapeName::Potts),
            ("--hidden", self.hidden.is_some(), ShapeName::Rbm),
        ] {
            if is_given && !shapes.contains(&shape) {
                let shape = shape
                    .to_possible_value()
                    .map_or_else(String::new, |value| value.get_name().into());
                return Err(Failure::input(format!(
                    "{option}: only graphs of the shape {shape} have it"
                )));
            }
        }
        Ok(())
    }

    /// The graph of a shape with so many variables.
    pub fn plan(&self, shape: ShapeName, variables: usize) -> Plan {
        let shape = match shape {
            ShapeName::Smartfl => Shape::Smartfl,
            ShapeName::Bingo => Shape::Bingo,
            ShapeName::Layers => {
                Shape::Layers { levels: self.levels.unwrap_or_else(|| variables.isqrt()) }
            }
            ShapeName::Ising => Shape::Ising,
            ShapeName::Potts => Shape::Potts { states: self.states.unwrap_or(4) },
            ShapeName::Rbm => {
                let hidden = self.hidden.unwrap_or(variables / 5 * 2);
                Shape::Rbm { hidden }
            }
        };
        let &Self { seed, high_arity, high_degree, .. } = self;
        Plan { shape, variables, seed, high_arity, high_degree }
    }
}

/// A plan as the options of `fastlbp generate` that give it.
pub fn describe(plan: &Plan) -> String {
    let shape = match plan.shape {
        Shape::Smartfl => "smartfl".into(),
        Shape::Bingo => "bingo".into(),
        Shape::Layers { levels } => format!("layers --levels {levels}"),
        Shape::Ising => "ising".into(),
        Shape::Potts { states } => format!("potts --states {states}"),
        Shape::Rbm { hidden } => format!("rbm --hidden {hidden}"),
    };
    let mut text = format!("{shape} --variables {} --seed {}", plan.variables, plan.seed);
    for (option, extremes) in
        [("--high-arity", plan.high_arity), ("--high-degree", plan.high_degree)]
    {
        if let Some(Extremes { count, size }) = extremes {
            text += &format!(" {option} {count},{size}");
        }
    }
    text
}
