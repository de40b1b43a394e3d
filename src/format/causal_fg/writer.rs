//! Writing `.causal_fg`.

use super::chunks::IMPLICIT_PRIOR;
use crate::error::{Error, Result};
use crate::factor::CausalBlock;
use crate::format::output::Output;
use crate::memory;
use crate::model::{FactorGraph, Label};

pub(in crate::format) fn write(graph: &FactorGraph, output: &mut Output<'_>) -> Result<()> {
    check_expressible(graph)?;
    let written = graph.factor_count() - implicit_priors_at_the_end(graph)?;
    // A variable without factors would be lost: it gets the prior that changes nothing.
    let isolated = || (0..graph.variable_count()).filter(|&variable| graph.degree(variable) == 0);
    output.integer((written + isolated().count()) as u64);
    output.end_line()?;
    for factor in 0..written {
        write_factor(graph, factor, output)?;
    }
    for variable in isolated() {
        write_prior(graph.label(variable), IMPLICIT_PRIOR, output)?;
    }
    Ok(())
}

fn check_expressible(graph: &FactorGraph) -> Result<()> {
    let other = (0..graph.factor_count()).find(|&f| graph.factor(f).causal_block().is_none());
    if let Some(factor) = other {
        return Err(not_causal(graph, factor));
    }
    if let Some(variable) = (0..graph.variable_count()).find(|&v| graph.cardinality(v) != 2) {
        return Err(Error::Unsupported(format!(
            "variable {} has {} states: .causal_fg holds binary variables only; \
             write .fg or .uai instead",
            graph.label(variable),
            graph.cardinality(variable)
        )));
    }
    Ok(())
}

fn not_causal(graph: &FactorGraph, factor: usize) -> Error {
    Error::Unsupported(format!(
        "factor {factor} is of the kind '{}': .causal_fg holds prior, AND and OR factors only; \
         write .fg or .uai instead",
        graph.kind(factor).name()
    ))
}

/// Number of factors at the end of the graph that are left out, since reading adds the same ones as implicit priors.
fn implicit_priors_at_the_end(graph: &FactorGraph) -> Result<usize> {
    let mut headed = memory::filled(graph.variable_count(), 0_u32)?;
    for factor in 0..graph.factor_count() {
        if let Some(position) = graph.head_position(factor) {
            headed[graph.factor_variables(factor)[position] as usize] += 1;
        }
    }
    // Reading would insert the implicit priors of other variables between those that are left out.
    if headed.contains(&0) {
        return Ok(0);
    }
    let mut next = usize::MAX;
    let mut count = 0;
    for factor in (0..graph.factor_count()).rev() {
        let variable = graph.factor_variables(factor)[0] as usize;
        let block = graph.factor(factor).causal_block();
        let implied = matches!(block, Some(CausalBlock::Prior { p }) if p == IMPLICIT_PRIOR)
            && variable < next
            && headed[variable] == 1
            && graph.degree(variable) > 1;
        if !implied {
            break;
        }
        next = variable;
        count += 1;
    }
    Ok(count)
}

fn write_prior(label: Label, p: f64, output: &mut Output<'_>) -> Result<()> {
    output.end_line()?;
    output.integer(label);
    output.text("\nI\n");
    output.float(p);
    output.end_line()
}

fn write_factor(graph: &FactorGraph, factor: usize, output: &mut Output<'_>) -> Result<()> {
    let variables = graph.factor_variables(factor);
    let (sign, horn) = match graph.factor(factor).causal_block() {
        Some(CausalBlock::Prior { p }) => {
            return write_prior(graph.label(variables[0] as usize), p, output);
        }
        Some(CausalBlock::Rule { sign, horn }) => (sign, horn),
        None => return Err(not_causal(graph, factor)),
    };
    output.end_line()?;
    output.integer(graph.label(variables[horn.head] as usize));
    output.end_line()?;
    output.text(sign);
    output.float(horn.p);
    output.text(";");
    output.float(horn.q);
    output.end_line()?;
    output.integer((variables.len() - usize::from(!horn.head_in_body)) as u64);
    output.end_line()?;
    let body = variables
        .iter()
        .enumerate()
        .filter(|&(position, _)| position != horn.head || horn.head_in_body);
    output.integer_line(body.map(|(_, &variable)| graph.label(variable as usize)))
}
