//! Brings structured factors into the form of the graph.

use super::factor::{FactorKind, TermLiteral};
use super::graph::FactorGraph;
use super::structured::{SignedTable, Structured, check_sum, set_bit};
use crate::error::{Error, Result};
use crate::memory::{Grow, collected, filled, room};

/// Adds the edges and the parameters of a signed, noisy or term factor: `scope` is its body, or all
/// its variables where it has no head, in the order of its draft.
pub(super) fn add_structured_scope(
    graph: &mut FactorGraph,
    factor: usize,
    head: Option<u32>,
    scope: &[u32],
    drafts: &Structured,
    signed: &mut SignedTable,
) -> Result<()> {
    let draft = graph.parameters[factor] as usize;
    let mut variables: Vec<u32> = collected(scope.iter().copied().chain(head))?;
    variables.sort_unstable();
    variables.dedup();
    let position = |v: u32| variables.partition_point(|&other| other < v);
    if head.is_some()
        && let Some(&v) = variables.iter().find(|&&v| graph.cardinalities[v as usize] != 2)
    {
        return Err(not_binary(graph, factor, v));
    }
    if graph.kinds[factor] != FactorKind::Signed
        && variables.len() < scope.len() + usize::from(head.is_some())
    {
        return Err(duplicate(graph, factor, head, scope));
    }
    graph.parameters[factor] = match graph.kinds[factor] {
        FactorKind::Signed => {
            let view = drafts.signed(draft, 0);
            let mut values = view.values;
            let mut words = [Vec::new(), Vec::new()];
            for (index, &v) in scope.iter().enumerate() {
                let negated = view.is_negated(index);
                if Some(v) == head {
                    // One state of the head fails its own literal.
                    let state = usize::from(!negated);
                    values[state] = values[2 + state];
                } else {
                    set_bit(&mut words[usize::from(negated)], position(v))?;
                }
            }
            let [affirmed, negated] = words;
            if affirmed.iter().zip(&negated).any(|(a, b)| a & b != 0) {
                // A variable with both signs: the body never holds.
                values = [values[2], values[3], values[2], values[3]];
            }
            signed.intern(&mut graph.structured, values, negated)?
        }
        FactorKind::Noisy => {
            let view = drafts.noisy(draft, 0);
            let mut literals = filled(variables.len(), [[1.0, 0.0]; 2])?;
            for (&v, &literal) in scope.iter().zip(view.literals) {
                literals[position(v)] = literal;
            }
            graph.structured.push_noisy(view.values, &literals)?
        }
        _ => {
            let view = drafts.terms(draft);
            let mut term = Vec::new();
            let mut literals = room(view.literals.len())?;
            let mut ends = room(view.weights.len() + 1)?;
            ends.push(0);
            for index in 0..view.weights.len() {
                term.clear();
                for literal in view.term(index) {
                    let v = scope[literal.position as usize];
                    let cardinality = graph.cardinalities[v as usize];
                    if literal.state >= cardinality {
                        return Err(Error::OutOfRange(format!(
                            "factor {factor}: term {index} wants variable {} in state {}: it has \
                             {cardinality} states, numbered from 0",
                            graph.labels[v as usize], literal.state
                        )));
                    }
                    term.try_push(TermLiteral {
                        position: position(v) as u32,
                        state: literal.state,
                    })?;
                }
                term.sort_unstable_by_key(|literal| literal.position);
                literals.extend_from_slice(&term);
                ends.push(literals.len());
            }
            let terms = ends.windows(2).map(|pair| &literals[pair[0]..pair[1]]);
            let number = graph.structured.push_terms(view.weights, terms, view.exclusive)?;
            let cardinalities: Vec<usize> =
                collected(variables.iter().map(|&v| graph.cardinalities[v as usize] as usize))?;
            check_sum(factor, &graph.structured.terms(number as usize), &cardinalities)?;
            number
        }
    };
    graph.heads[factor] = head.map_or(0, |head| position(head) as u32);
    graph.edge_variable.try_append(&variables)
}

/// The error of a factor that needs binary variables and has another one.
pub(super) fn not_binary(graph: &FactorGraph, factor: usize, variable: u32) -> Error {
    Error::InvalidArgument(format!(
        "factor {factor} ({}): variable {} has {} states: such a factor needs binary variables",
        graph.kinds[factor].name(),
        graph.labels[variable as usize],
        graph.cardinalities[variable as usize]
    ))
}

fn duplicate(graph: &FactorGraph, factor: usize, head: Option<u32>, scope: &[u32]) -> Error {
    let mut seen: Vec<u32> = scope.iter().copied().chain(head).collect();
    seen.sort_unstable();
    let twice = seen.windows(2).find(|pair| pair[0] == pair[1]).map_or(0, |pair| pair[0]);
    Error::InvalidArgument(format!(
        "factor {factor} ({}): variable {} occurs twice: it may occur once",
        graph.kinds[factor].name(),
        graph.labels[twice as usize]
    ))
}

#[cfg(test)]
mod tests {
    use crate::model::{Factor, FactorGraph, FactorGraphBuilder};

    const VALUES: [f64; 4] = [0.1, 0.2, 0.3, 0.4];

    fn graph(add: impl Fn(&mut FactorGraphBuilder)) -> FactorGraph {
        let mut builder = FactorGraphBuilder::new();
        add(&mut builder);
        let graph = builder.build().unwrap();
        assert_eq!(FactorGraphBuilder::from_graph(&graph).unwrap().build().unwrap(), graph);
        graph
    }

    /// The values over all joint states, the lowest label fastest.
    fn values(graph: &FactorGraph) -> Vec<f64> {
        graph.factor_table(0, 1 << 10).unwrap()
    }

    #[test]
    fn equal_literals_merge() {
        let twice = graph(|b| b.add_signed(2, &[1, 3, 1], &[true, false, true], VALUES).unwrap());
        let once = graph(|b| b.add_signed(2, &[3, 1], &[false, true], VALUES).unwrap());
        assert_eq!(twice, once);
        // It holds for x1 = 0 and x3 = 1 alone.
        assert_eq!(values(&once), [0.4, 0.4, 0.3, 0.3, 0.2, 0.4, 0.1, 0.3]);
    }

    #[test]
    fn a_body_with_both_signs_of_a_variable_never_holds() {
        let graph = graph(|b| b.add_signed(1, &[2, 2], &[true, false], VALUES).unwrap());
        assert_eq!(values(&graph), [0.4, 0.3, 0.4, 0.3]);
    }

    #[test]
    fn a_head_in_its_own_body_fails_its_literal_in_one_state() {
        let own = graph(|b| b.add_signed(1, &[1, 2], &[false, false], VALUES).unwrap());
        assert_eq!(values(&own), [0.4, 0.3, 0.4, 0.1]);
        let negated = graph(|b| b.add_signed(1, &[1, 2], &[true, false], VALUES).unwrap());
        assert_eq!(values(&negated), [0.4, 0.3, 0.2, 0.3]);
        let both = graph(|b| b.add_signed(1, &[1, 2, 1], &[true, false, false], VALUES).unwrap());
        assert_eq!(values(&both), [0.4, 0.3, 0.4, 0.3]);
        let alone = graph(|b| b.add_signed(1, &[1], &[true], VALUES).unwrap());
        assert_eq!(values(&alone), [0.2, 0.3]);
    }

    #[test]
    fn clauses_with_repeated_and_opposite_literals() {
        let clause = |variables: &[u64], negated: &[bool]| {
            values(&graph(|b| b.add_clause(variables, negated, 2.0, 0.5).unwrap()))
        };
        assert_eq!(clause(&[1], &[false]), [0.5, 2.0]);
        assert_eq!(clause(&[1], &[true]), [2.0, 0.5]);
        assert_eq!(clause(&[1, 2], &[false, true]), [2.0, 2.0, 0.5, 2.0]);
        assert_eq!(clause(&[1, 1], &[false, false]), [0.5, 2.0]);
        assert_eq!(clause(&[1, 1], &[false, true]), [2.0, 2.0]);
        assert_eq!(clause(&[2, 1, 1], &[false, true, false]), [2.0; 4]);
        assert_eq!(clause(&[2, 1, 1], &[false, true, true]), [2.0, 0.5, 2.0, 2.0]);
    }

    /// Merged literals may leave a factor without a positive value, as with AND: it is kept, and goes
    /// through a builder again.
    #[test]
    fn a_factor_without_a_positive_value_is_kept() {
        let graph =
            graph(|b| b.add_signed(1, &[2, 2], &[true, false], [1.0, 1.0, 0.0, 0.0]).unwrap());
        assert_eq!(values(&graph), [0.0; 4]);
    }

    #[test]
    fn literals_and_terms_follow_their_variables() {
        let literal = |p: f64| [[p, 1.0 - p], [1.0, 0.0]];
        let noisy = graph(|b| {
            b.add_noisy(5, &[7, 3], &[literal(0.75), literal(0.5)], VALUES).unwrap();
        });
        let Factor::Noisy(view) = noisy.factor(0) else { panic!("not noisy") };
        assert_eq!(
            (view.head, view.literals),
            (1, &[literal(0.5), literal(1.0), literal(0.75)][..])
        );
        let terms = graph(|b| {
            b.add_variable(3, 4).unwrap();
            b.add_terms(&[7, 3], &[2.0, 1.0], &[1, 3, -1, 0]).unwrap();
        });
        assert_eq!(values(&terms), [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 2.0]);
        let Factor::Terms(view) = terms.factor(0) else { panic!("no terms") };
        assert!(view.exclusive);
    }
}
