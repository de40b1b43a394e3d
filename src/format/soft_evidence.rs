//! Soft evidence: a weight per state of a variable, by label or name.

use super::file;
use super::named_graph::{Mention, NamedGraph};
use super::number::parse_f64;
use super::text::{Cursor, show};
use crate::error::{Error, Result};
use crate::memory::{self, Grow};
use crate::model::Evidence;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The soft evidence of one variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Likelihood {
    /// Index of the variable.
    pub variable: usize,
    /// A weight per state: finite, not negative, not all zero; only ratios matter.
    pub weights: Vec<f64>,
    /// Line of the file, counted from 1.
    pub line: u64,
}

/// Soft evidence from a file, which may name variables that the graph does not have.
#[derive(Clone, Debug, PartialEq)]
pub struct SoftEvidence {
    /// The file.
    pub path: PathBuf,
    /// The variables' weights in the order of the file, each variable once.
    pub likelihoods: Vec<Likelihood>,
    /// Label or name, and line, of each variable that the graph does not have, in the file's order.
    pub unknown: Vec<(String, u64)>,
}

impl SoftEvidence {
    /// Adds the likelihoods to evidence for the same graph. A variable about which something is
    /// known already is an error that names file and line, and nothing is added then.
    pub fn add_to<'a>(
        &self, graph: impl Into<NamedGraph<'a>>, evidence: &mut Evidence,
    ) -> Result<()> {
        let graph = graph.into();
        let known = |likelihood: &&Likelihood| evidence.get(likelihood.variable).is_some();
        if let Some(likelihood) = self.likelihoods.iter().find(known) {
            let name = graph.describe(likelihood.variable);
            return Err(Error::parse(
                &self.path,
                likelihood.line,
                format!("variable {name} is observed: it can have soft evidence or be observed"),
            ));
        }
        self.likelihoods.iter().try_for_each(|Likelihood { variable, weights, .. }| {
            evidence.set_likelihood(graph.graph(), *variable, weights)
        })
    }
}

/// Reads soft evidence: lines `label w0 w1 ...`, or `name w0 w1 ...` where variables have names (see
/// [`NamedGraph`]), with a weight per state, in the order of the states; blank lines and '#' comments
/// are allowed, and a name that ends in `.gz` stands for compressed content.
///
/// Errors name the line: weights that are negative or not finite, all zero, or not as many as states,
/// and a variable that has a line already. Variables that the graph does not have are set aside, as
/// by [`super::read_partial_evidence`].
pub fn read_soft_evidence<'a>(
    path: &Path, graph: impl Into<NamedGraph<'a>>,
) -> Result<SoftEvidence> {
    parse(&file::load(path)?, path, graph.into())
}

fn parse(bytes: &[u8], path: &Path, graph: NamedGraph<'_>) -> Result<SoftEvidence> {
    let mut cursor = Cursor::new(path, bytes);
    let path = memory::path(path)?;
    let mut evidence = SoftEvidence { path, likelihoods: Vec::new(), unknown: Vec::new() };
    let mut lines: HashMap<Mention, u64> = HashMap::new();
    while cursor.next_filled_line() {
        let line = cursor.line();
        let mention = graph.read_variable(&mut cursor)?;
        let name = || match &mention {
            Mention::Known(variable) => graph.describe(*variable),
            Mention::Unknown(name) => name.clone(),
        };
        let weights = read_weights(&mut cursor, &name)?;
        if let Mention::Known(variable) = mention {
            let cardinality = graph.graph().cardinality(variable);
            if weights.len() != cardinality {
                return Err(cursor.error(format!(
                    "{} weights for variable {}: it has {cardinality} states, and each needs one",
                    weights.len(),
                    name()
                )));
            }
        }
        if let Some(first) = memory::insert(&mut lines, mention.try_clone()?, line)? {
            return Err(cursor.error(format!(
                "variable {} has its weights already, in line {first}: once is needed",
                name()
            )));
        }
        match mention {
            Mention::Known(variable) => {
                evidence.likelihoods.try_push(Likelihood { variable, weights, line })?;
            }
            Mention::Unknown(name) => evidence.unknown.try_push((name, line))?,
        }
        cursor.end_line("the weights")?;
    }
    Ok(evidence)
}

/// The weights up to the end of the line.
fn read_weights(cursor: &mut Cursor<'_>, variable: &dyn Fn() -> String) -> Result<Vec<f64>> {
    let mut weights = Vec::new();
    while !cursor.at_line_end() {
        let token = cursor.token();
        let weight = parse_f64(token).filter(|weight| weight.is_finite() && *weight >= 0.0);
        weights.try_push(weight.ok_or_else(|| {
            cursor.error(format!(
                "variable {} has the weight {}: a finite number >= 0 is needed",
                variable(),
                show(token)
            ))
        })?)?;
    }
    if weights.iter().all(|&weight| weight == 0.0) {
        let message = if weights.is_empty() {
            format!("variable {} has no weights: one per state is needed", variable())
        } else {
            format!("all weights of variable {} are zero: one must be positive", variable())
        };
        return Err(cursor.error(message));
    }
    Ok(weights)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::testing::{assert_refused, three_variables};
    use crate::model::VariableEvidence;

    fn read(text: &str) -> Result<SoftEvidence> {
        parse(text.as_bytes(), Path::new("s"), (&three_variables()).into())
    }

    #[test]
    fn weights_are_read_and_added() {
        let soft = read("# c\n\n20 0.5 1e300\r\n7 1\n 3 0 2 1").unwrap();
        assert_eq!(soft.unknown, [("7".to_string(), 4)]);
        let mut evidence = Evidence::new();
        evidence.observe(&three_variables(), 1, 0).unwrap();
        soft.add_to(&three_variables(), &mut evidence).unwrap();
        assert_eq!(evidence.len(), 3);
        let weights = |weights: &[f64]| Some(VariableEvidence::Likelihood(weights.to_vec()));
        assert_eq!(evidence.get(2).cloned(), weights(&[0.5, 1e300]));
        assert_eq!(evidence.get(0).cloned(), weights(&[0.0, 2.0, 1.0]));
    }

    #[test]
    fn observed_variables_are_refused() {
        let mut evidence = Evidence::new();
        evidence.observe(&three_variables(), 0, 0).unwrap();
        let soft = read("20 0.5 1\n\n3 1 1 1\n").unwrap();
        let error = soft.add_to(&three_variables(), &mut evidence).unwrap_err().to_string();
        assert!(error.starts_with("s:3: variable 3 is observed"), "{error}");
        assert_eq!(evidence.len(), 1);
    }

    #[test]
    fn errors_name_the_line_the_value_and_what_would_be_right() {
        let cases = [
            ("20 1 1\n20 1 1\n", "2: variable 20 has its weights already, in line 1: once is nee"),
            ("7 1\n7 1\n", "2: variable 7 has its weights already, in line 1: once is needed"),
            ("20 1\n", "1: 1 weights for variable 20: it has 2 states, and each needs one"),
            ("3 1 1 1 1\n", "1: 4 weights for variable 3: it has 3 states, and each needs one"),
            ("\n20\n", "2: variable 20 has no weights: one per state is needed"),
            ("20 0 0.0", "1: all weights of variable 20 are zero: one must be positive"),
            ("20 1 -1\n", "1: variable 20 has the weight '-1': a finite number >= 0 is needed"),
            ("20 1 nan\n", "1: variable 20 has the weight 'nan': a finite number >= 0 is needed"),
            ("20 1 1e999\n", "1: variable 20 has the weight '1e999': a finite number >= 0 is ne"),
            ("7 x\n", "1: variable 7 has the weight 'x': a finite number >= 0 is needed"),
            ("x 1 1\n", "1: 'x' is not the label of a variable: an integer >= 0 in decimal is nee"),
        ];
        assert_refused("s", read, &cases);
    }
}
