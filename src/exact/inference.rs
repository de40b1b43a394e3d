//! The tables of the cliques, the way to the roots and back, and the results.

use super::elimination::{Cliques, NOT_ELIMINATED};
use super::walk::Walk;
use crate::error::{Error, Result};
use crate::kernel::{Arithmetic, ExtendedFloat, Inference, Real};
use crate::memory::{collected, filled, room};
use crate::model::{Evidence, FactorGraph, VariableEvidence, check_variable, next_joint_state};
use std::sync::Arc;

/// Most entries of all tables together that [`ExactInference::new`] is usually given: 2^24, of which each takes
/// 16 bytes in a table and at most 8 in what goes to the next one.
pub const DEFAULT_TABLE_LIMIT: usize = 1 << 24;

/// What a larger limit is taken for, so that sizes in bytes fit in an index.
const LARGEST_TABLE_LIMIT: usize = 1 << 40;

/// Exact results of a graph with evidence, by a junction tree.
pub struct ExactInference {
    graph: Arc<FactorGraph>,
    inference: Inference,
    /// The state of each variable that is observed or has one state only.
    fixed: Vec<Option<u32>>,
    cliques: Cliques,
    /// Tables of all cliques: products of all factors, summed (or maximised) over all other variables.
    tables: Vec<ExtendedFloat>,
    /// Where each clique's table begins, and the end.
    offsets: Vec<usize>,
    marginals: Vec<f64>,
    /// Where each variable's begin in `marginals`, and the end.
    marginal_offsets: Vec<usize>,
    log_partition: f64,
}

impl ExactInference {
    /// Computes everything. The results are those of the product of all factors, the likelihoods of soft evidence, and
    /// the observations; with [`Inference::MaxProduct`], of maxima in place of sums.
    ///
    /// Time and memory are linear in the number of entries of the tables, which grows exponentially with the treewidth of
    /// the graph without the observed variables.
    ///
    /// Errors: the tables would have more than `table_limit` entries ([`Error::LimitExceeded`]); no joint state is possible
    /// ([`Error::Contradiction`]).
    pub fn new(
        graph: Arc<FactorGraph>, evidence: &Evidence, inference: Inference, table_limit: usize,
    ) -> Result<Self> {
        let mut fixed = filled(graph.variable_count(), None)?;
        for (v, state) in fixed.iter_mut().enumerate() {
            *state = match evidence.get(v) {
                Some(VariableEvidence::Observed(state)) => Some(*state),
                // One state: as if it were observed.
                _ if graph.cardinality(v) == 1 => Some(0),
                _ => None,
            };
        }
        let is_fixed: Vec<bool> = collected(fixed.iter().map(Option::is_some))?;
        let limit = table_limit.min(LARGEST_TABLE_LIMIT);
        let cliques = Cliques::new(&graph, &is_fixed, limit)?;
        let mut offsets = room(cliques.len() + 1)?;
        offsets.push(0);
        let mut end = 0;
        for clique in 0..cliques.len() {
            let states = cliques.members(clique).iter().map(|&v| graph.cardinality(v as usize));
            end += states.product::<usize>();
            offsets.push(end);
        }
        let tables = filled(end, ExtendedFloat::ONE)?;
        let mut exact = Self {
            graph,
            inference,
            fixed,
            cliques,
            tables,
            offsets,
            marginals: Vec::new(),
            marginal_offsets: Vec::new(),
            log_partition: 0.0,
        };
        let constant = exact.multiply_factors(evidence)?;
        exact.propagate(constant)?;
        exact.make_marginals()?;
        Ok(exact)
    }

    /// The graph.
    pub fn graph(&self) -> &Arc<FactorGraph> {
        &self.graph
    }

    /// Variables of the largest clique, less one: the treewidth of the graph without the observed variables, or an upper
    /// bound of it. 0 if there are none.
    pub fn width(&self) -> usize {
        let sizes = (0..self.cliques.len()).map(|clique| self.cliques.members(clique).len());
        sizes.max().map_or(0, |size| size - 1)
    }

    /// Entries of all tables.
    pub fn table_entries(&self) -> usize {
        self.cliques.entries
    }

    /// Marginals of all variables: the probabilities of the states of variable 0, then those of variable 1, and so on.
    /// With maxima, the values of the best joint states with each state, divided by their sum.
    pub fn marginals(&self) -> &[f64] {
        &self.marginals
    }

    /// Marginal of a variable (by index).
    pub fn marginal(&self, variable: usize) -> Result<&[f64]> {
        check_variable(&self.graph, variable)?;
        let offsets = &self.marginal_offsets;
        Ok(&self.marginals[offsets[variable]..offsets[variable + 1]])
    }

    /// P(x = 1) of a variable (by index). Errors: it has one state only.
    pub fn probability(&self, variable: usize) -> Result<f64> {
        self.marginal(variable)?.get(1).copied().ok_or_else(|| {
            let label = self.graph.label(variable);
            Error::OutOfRange(format!("P(x = 1) of variable {label}: it has no state 1"))
        })
    }

    /// Natural logarithm of the sum (or maximum) over all joint states.
    pub fn log_partition(&self) -> f64 {
        self.log_partition
    }

    /// Joint probabilities of some variables (by index, all different), the first given one fastest. Those that are not
    /// observed must be in one clique, as the variables of a factor are. None at all gives the number 1.
    ///
    /// Errors: no such variable; one that is given twice; no clique contains all of them ([`Error::InvalidArgument`]);
    /// more entries than the largest table has times the states of the observed ones can be.
    pub fn belief(&self, variables: &[usize]) -> Result<Vec<f64>> {
        for (position, &variable) in variables.iter().enumerate() {
            check_variable(&self.graph, variable)?;
            if variables[..position].contains(&variable) {
                return Err(Error::InvalidArgument(format!(
                    "variable {} is asked for twice: once is enough",
                    self.graph.label(variable)
                )));
            }
        }
        let open: Vec<usize> =
            collected(variables.iter().copied().filter(|&v| self.fixed[v].is_none()))?;
        let weights = match self.cliques.clique_of(open.iter().map(|&v| v as u32)) {
            Some(clique) => self.project(clique, &self.places(clique, &open)?)?,
            None => filled(1, ExtendedFloat::ONE)?,
        };
        let total = weights.iter().fold(ExtendedFloat::ZERO, |sum, &weight| sum.add(weight));
        let radices: Vec<usize> = collected(variables.iter().map(|&v| self.graph.cardinality(v)))?;
        let too_many = || {
            let text = format!("joint belief of {} variables: too many entries", variables.len());
            Error::LimitExceeded(text)
        };
        let size = radices.iter().try_fold(1_usize, |size, &r| size.checked_mul(r));
        let mut belief = filled(size.ok_or_else(too_many)?, 0.0)?;
        // Only joint states in which fixed variables have their states are possible.
        let at_fixed = variables.iter().zip(strides(&radices)?);
        let first = at_fixed
            .map(|(&v, stride)| self.fixed[v].map_or(0, |state| state as usize * stride))
            .sum::<usize>();
        let mut walk = self.walk_of_open(variables, &radices)?;
        for weight in weights {
            belief[first + walk.step()] = weight.divide(total).to_f64();
        }
        Ok(belief)
    }

    /// A most probable joint state, one state per variable; of several that are equally probable, any one.
    ///
    /// Errors: the results are sums ([`Error::NoResult`]).
    pub fn find_maximum(&self) -> Result<Vec<usize>> {
        if self.inference != Inference::MaxProduct {
            return Err(Error::NoResult(
                "the most probable joint state needs exact inference with maxima (max-product), and this is one with sums"
                    .into(),
            ));
        }
        let mut states = collected(self.fixed.iter().map(|state| state.unwrap_or(0) as usize))?;
        // Back from the roots: each clique's own variable, given the others.
        for clique in (0..self.cliques.len()).rev() {
            let members = self.cliques.members(clique);
            let (mut place, mut stride) = (self.offsets[clique], 1);
            for &v in members {
                let cardinality = self.graph.cardinality(v as usize);
                place += if v == members[0] { 0 } else { states[v as usize] * stride };
                stride *= cardinality;
            }
            let own = members[0] as usize;
            let row = &self.tables[place..place + self.graph.cardinality(own)];
            states[own] = (1..row.len())
                .fold(0, |best, x| if row[x].minus(row[best]).is_zero() { best } else { x });
        }
        Ok(states)
    }

    /// Multiplies each factor, and the likelihoods, into the table of a clique that has all its variables; returns the
    /// product of the factors of no other than fixed variables.
    fn multiply_factors(&mut self, evidence: &Evidence) -> Result<ExtendedFloat> {
        let mut constant = ExtendedFloat::ONE;
        for factor in 0..self.graph.factor_count() {
            let graph = self.graph.clone();
            let scope = graph.factor_variables(factor);
            let mut states: Vec<usize> =
                collected(scope.iter().map(|&v| self.fixed[v as usize].unwrap_or(0) as usize))?;
            let is_open = |place: &usize| self.fixed[scope[*place] as usize].is_none();
            let places: Vec<usize> = collected((0..scope.len()).filter(is_open))?;
            let open: Vec<usize> = collected(places.iter().map(|&place| scope[place] as usize))?;
            let radices: Vec<usize> = collected(open.iter().map(|&v| graph.cardinality(v)))?;
            let view = graph.factor(factor);
            let mut values = room(radices.iter().product())?;
            let mut current = filled(places.len(), 0)?;
            loop {
                for (&place, &state) in places.iter().zip(&current) {
                    states[place] = state;
                }
                values.push(view.extended_value(&states, graph.factor_cardinalities(factor)));
                if !next_joint_state(&mut current, &radices) {
                    break;
                }
            }
            match self.cliques.clique_of(open.iter().map(|&v| v as u32)) {
                Some(clique) => {
                    let places = self.places(clique, &open)?;
                    self.multiply(clique, &places, &values)?;
                }
                None if values[0].is_zero() => return Err(self.impossible_factor(factor)),
                None => constant = constant.multiply(values[0]),
            }
        }
        for (v, evidence) in evidence.iter() {
            let VariableEvidence::Likelihood(likelihood) = evidence else { continue };
            let values = collected(likelihood.iter().map(|&x| ExtendedFloat::from_f64(x)))?;
            match self.cliques.positions[v] {
                NOT_ELIMINATED => constant = constant.multiply(values[0]),
                clique => self.multiply(clique as usize, &[0], &values)?,
            }
        }
        Ok(constant)
    }

    /// Sums (or maximises) from the leaves to the roots, then back, after which all tables are results.
    fn propagate(&mut self, constant: ExtendedFloat) -> Result<()> {
        let mut partition = constant;
        let mut up: Vec<Vec<ExtendedFloat>> = room(self.cliques.len())?;
        for clique in 0..self.cliques.len() {
            let sums = self.over_own_variable(clique)?;
            if sums.iter().all(|sum| sum.is_zero()) {
                return Err(self.impossible_variable(clique));
            }
            match self.cliques.parent(clique) {
                None => partition = partition.multiply(sums[0]),
                Some(parent) => {
                    let places = self.places_of_separator(clique, parent)?;
                    self.multiply(parent, &places, &sums)?;
                }
            }
            up.push(sums);
        }
        self.log_partition = partition.ln();
        for clique in (0..self.cliques.len()).rev() {
            let Some(parent) = self.cliques.parent(clique) else { continue };
            // What the parent knows from all others: its table has what came from here, too. Where that is 0, all is.
            let places = self.places_of_separator(clique, parent)?;
            let mut down = self.project(parent, &places)?;
            for (all, &own) in down.iter_mut().zip(&up[clique]) {
                *all = if own.is_zero() { ExtendedFloat::ZERO } else { all.divide(own) };
            }
            let own = self.graph.cardinality(self.cliques.order[clique] as usize);
            let table = &mut self.tables[self.offsets[clique]..self.offsets[clique + 1]];
            for (row, &factor) in table.chunks_exact_mut(own).zip(&down) {
                row.iter_mut().for_each(|entry| *entry = entry.multiply(factor));
            }
            up[clique] = Vec::new();
        }
        Ok(())
    }

    fn make_marginals(&mut self) -> Result<()> {
        self.marginals = room(self.graph.state_count())?;
        self.marginal_offsets = room(self.graph.variable_count() + 1)?;
        self.marginal_offsets.push(0);
        for v in 0..self.graph.variable_count() {
            match self.fixed[v] {
                Some(state) => {
                    let states = 0..self.graph.cardinality(v) as u32;
                    let one_hot = states.map(|x| if x == state { 1.0 } else { 0.0 });
                    self.marginals.extend(one_hot);
                }
                None => {
                    let weights = self.project(self.cliques.positions[v] as usize, &[0])?;
                    let total = weights.iter().fold(ExtendedFloat::ZERO, |sum, &w| sum.add(w));
                    self.marginals.extend(weights.iter().map(|w| w.divide(total).to_f64()));
                }
            }
            self.marginal_offsets.push(self.marginals.len());
        }
        Ok(())
    }

    fn radices(&self, clique: usize) -> impl Iterator<Item = usize> + '_ {
        self.cliques.members(clique).iter().map(|&v| self.graph.cardinality(v as usize))
    }

    /// The positions of variables in a clique. Errors: one is not there.
    fn places(&self, clique: usize, variables: &[usize]) -> Result<Vec<usize>> {
        let mut places = room(variables.len())?;
        for &variable in variables {
            let members = self.cliques.members(clique);
            let place = members.iter().position(|&v| v as usize == variable);
            places.push(place.ok_or_else(|| {
                let labels: Vec<String> =
                    variables.iter().map(|&v| self.graph.label(v).to_string()).collect();
                Error::InvalidArgument(format!(
                    "joint belief of the variables {}: no clique of the junction tree contains all of them (a factor over \
                     them, such as one that is 1 everywhere, makes one)",
                    labels.join(", ")
                ))
            })?);
        }
        Ok(places)
    }

    /// The positions, in its parent, of the variables of a clique but its own.
    fn places_of_separator(&self, clique: usize, parent: usize) -> Result<Vec<usize>> {
        let mut parents = self.cliques.members(parent).iter().enumerate();
        let separator = self.cliques.members(clique)[1..].iter();
        // Both are in the order of elimination.
        collected(separator.filter_map(|v| parents.find(|(_, w)| *w == v).map(|(place, _)| place)))
    }

    /// Multiplies a table over some members of a clique into that of the clique.
    fn multiply(
        &mut self, clique: usize, places: &[usize], values: &[ExtendedFloat],
    ) -> Result<()> {
        let mut walk = Walk::new(self.radices(clique), places.iter().copied())?;
        for entry in &mut self.tables[self.offsets[clique]..self.offsets[clique + 1]] {
            *entry = entry.multiply(values[walk.step()]);
        }
        Ok(())
    }

    /// The table of a clique summed (or maximised) over all but some members.
    fn project(&self, clique: usize, places: &[usize]) -> Result<Vec<ExtendedFloat>> {
        let members = self.cliques.members(clique);
        let states = places.iter().map(|&place| self.graph.cardinality(members[place] as usize));
        let mut sums = filled(states.product(), ExtendedFloat::ZERO)?;
        let mut walk = Walk::new(self.radices(clique), places.iter().copied())?;
        for &entry in &self.tables[self.offsets[clique]..self.offsets[clique + 1]] {
            let sum = &mut sums[walk.step()];
            *sum = self.join(*sum, entry);
        }
        Ok(sums)
    }

    /// The table of a clique summed (or maximised) over its own variable.
    fn over_own_variable(&self, clique: usize) -> Result<Vec<ExtendedFloat>> {
        let own = self.graph.cardinality(self.cliques.order[clique] as usize);
        let table = &self.tables[self.offsets[clique]..self.offsets[clique + 1]];
        collected(
            table.chunks_exact(own).map(|row| {
                row.iter().fold(ExtendedFloat::ZERO, |sum, &entry| self.join(sum, entry))
            }),
        )
    }

    fn join(&self, a: ExtendedFloat, b: ExtendedFloat) -> ExtendedFloat {
        match self.inference {
            Inference::SumProduct => a.add(b),
            Inference::MaxProduct => a.larger(b),
        }
    }

    /// A walk through the states of those of some variables that are not fixed, in a table over all of them.
    fn walk_of_open(&self, variables: &[usize], radices: &[usize]) -> Result<Walk> {
        let strides = strides(radices)?;
        let is_open = |place: &usize| self.fixed[variables[*place]].is_none();
        let open: Vec<usize> = collected((0..variables.len()).filter(is_open))?;
        Walk::with_strides(open.iter().map(|&place| (radices[place], strides[place])))
    }

    #[cold]
    fn impossible_factor(&self, factor: usize) -> Error {
        let variable = self.graph.factor_variables(factor).first().map_or(0, |&v| v as usize);
        let label = self.graph.labels().get(variable).copied().unwrap_or(0);
        Error::Contradiction { label, variable, factor: Some(factor), iteration: 0, count: 1 }
    }

    #[cold]
    fn impossible_variable(&self, clique: usize) -> Error {
        let variable = self.cliques.order[clique] as usize;
        let label = self.graph.label(variable);
        Error::Contradiction { label, variable, factor: None, iteration: 0, count: 1 }
    }
}

/// By how much an index changes with the state of each variable, the first one fastest.
fn strides(radices: &[usize]) -> Result<Vec<usize>> {
    collected(radices.iter().scan(1, |next, &radix| {
        let stride = *next;
        *next *= radix;
        Some(stride)
    }))
}
