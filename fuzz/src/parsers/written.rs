//! Texts that are written only: joint states, which read back as observations, and marginals, whose
//! numbers read back to the same bits.

use super::beside::split;
use super::scratch;
use crate::choices::Choices;
use fastlbp::format::{read_observations, write_marginals_of_to, write_states_to};

pub fn states(bytes: &[u8]) {
    let Some((network, named, rest)) = split(bytes) else { return };
    let graph = &network.graph;
    let mut choices = Choices::new(rest);
    // One state too many now and then, and one entry too many or too few.
    let count = (graph.variable_count() + usize::from(choices.once_in(16)))
        .saturating_sub(usize::from(choices.once_in(16)));
    let states: Vec<usize> = (0..count)
        .map(|v| {
            let states = if v < graph.variable_count() { graph.cardinality(v) } else { 1 };
            let more = usize::from(choices.once_in(16));
            choices.below(states + more)
        })
        .collect();
    let chosen: Option<Vec<usize>> = choices.flag().then(|| {
        let many = choices.below(4);
        (0..many).map(|_| choices.below(graph.variable_count() + 1)).collect()
    });
    let all = 0..graph.variable_count();
    let wanted = chosen.clone().unwrap_or_else(|| all.collect());
    let valid = count == graph.variable_count()
        && wanted.iter().all(|&v| v < count && states[v] < graph.cardinality(v));
    let mut text = Vec::new();
    let result = write_states_to(named, &states, chosen.as_deref(), &mut text);
    assert_eq!(result.is_ok(), valid, "{result:?}");
    if !valid {
        return;
    }
    let path = scratch("written.obs");
    std::fs::write(&path, &text).expect("a file");
    let read = read_observations(&path, named).expect("states are read as observations");
    let mut once: Vec<(usize, usize)> = Vec::new();
    for variable in wanted {
        if once.iter().all(|&(other, _)| other != variable) {
            once.push((variable, states[variable]));
        }
    }
    assert_eq!(read, once);
}

pub fn marginals(bytes: &[u8]) {
    let Some((network, named, rest)) = split(bytes) else { return };
    let graph = &network.graph;
    let mut choices = Choices::new(rest);
    let marginals: Vec<f64> =
        (0..graph.state_count()).map(|_| f64::from_bits(choices.word())).collect();
    let chosen: Vec<usize> = if graph.variable_count() == 0 {
        Vec::new()
    } else {
        (0..choices.below(5)).map(|_| choices.below(graph.variable_count())).collect()
    };
    let mut text = Vec::new();
    write_marginals_of_to(named, &marginals, &chosen, &mut text).expect("values for all states");
    let text = String::from_utf8(text).expect("UTF-8");
    let mut lines = text.lines();
    assert!(lines.next().is_some_and(|head| head.starts_with('#')), "{text}");
    for &variable in &chosen {
        let start: usize = (0..variable).map(|v| graph.cardinality(v)).sum();
        let mut wanted = &marginals[start..start + graph.cardinality(variable)];
        if network.names.is_none() && wanted.len() == 2 {
            wanted = &wanted[1..];
        }
        let line = lines.next().expect("a line per variable");
        let rest = line.strip_prefix(&named.describe(variable)).expect("a name or label");
        // From the end: a name may have blanks, and a '=', but a number has none.
        let mut rest = rest.to_string();
        for &value in wanted.iter().rev() {
            let at = rest.rfind([' ', '=']).expect("a number after a blank or '='");
            let number: f64 = rest[at + 1..].parse().expect("a number");
            assert!(
                number.to_bits() == value.to_bits() || number.is_nan() && value.is_nan(),
                "{value:e} became {number:e}"
            );
            rest.truncate(at);
            if let Some(names) = &network.names {
                let states = names.states(variable);
                let name = states.filter(|&name| rest.trim_end_matches('"').ends_with(name));
                let shortest = name.map(|name| name.len() + 1).max().expect("a state's name");
                let quotes = if rest.ends_with('"') { 2 } else { 0 };
                rest.truncate(rest.len() - shortest - quotes);
            }
        }
        assert!(rest.is_empty(), "{line:?} has {rest:?} left");
    }
    assert_eq!(lines.next(), None);
}
