//! Beliefs of factors, of pairs of variables and of other sets of variables that share a factor.

use super::base::BeliefPropagation;
use crate::engine::Inputs;
use crate::error::{Error, Result};
use crate::kernel::{Arithmetic, ExtendedFloat, Real};
use crate::memory::{all_collected, collected, copied, filled, room};
use crate::model::{check_factor, check_variable, next_joint_state};

/// Largest number of entries of a belief that is written out in full.
const BELIEF_LIMIT: usize = 1 << 26;

impl BeliefPropagation {
    /// Belief of a factor from the current messages and evidence: one probability per joint state of
    /// its variables, the first (lowest label) fastest. O(entries * arity).
    ///
    /// Errors: more than 2^26 entries; a belief that would be 0/0.
    pub fn factor_belief(&self, factor: usize) -> Result<Vec<f64>> {
        check_factor(self.graph(), factor)?;
        let size = self.graph().joint_states(factor).filter(|&size| size <= BELIEF_LIMIT);
        let mut belief = filled(size.ok_or_else(|| self.too_large(factor))?, 0.0)?;
        if self.inputs(factor)?.belief(&mut belief)? {
            Ok(belief)
        } else {
            Err(self.contradictory_factor(factor))
        }
    }

    /// One entry of [`Self::factor_belief`]. O(arity) for factors with a head, of any arity up to 63;
    /// O(entries) for tables.
    pub fn factor_belief_at(&self, factor: usize, index: u64) -> Result<f64> {
        check_factor(self.graph(), factor)?;
        let size = self.graph().joint_states(factor);
        if size.is_some_and(|size| index >= size as u64) {
            return Err(Error::OutOfRange(format!(
                "index {index} into the belief of factor {factor}: it has {} entries",
                size.unwrap_or_default()
            )));
        }
        if self.graph().factor(factor).as_table().is_some() {
            return Ok(self.factor_belief(factor)?[index as usize]);
        }
        let mut rest = index;
        let states: Vec<usize> =
            collected(self.graph().factor_cardinalities(factor).map(|cardinality| {
                let state = rest % cardinality as u64;
                rest /= cardinality as u64;
                state as usize
            }))?;
        let inputs = self.inputs(factor)?;
        self.share(factor, inputs.weight_of(&states), inputs.total()?)
    }

    /// Belief of a set of variables (by index, all different) that some factor contains: one
    /// probability per joint state, the first given variable fastest, from the first such factor and
    /// the current messages and evidence. One variable alone gives its marginal from the last run,
    /// none at all the number 1.
    ///
    /// O(factor + joint states * arity) for factors with a head and for terms, O(entries * arity) for
    /// tables.
    ///
    /// Errors: no factor contains all of them; a variable given twice; more than 2^26 entries; a
    /// belief that would be 0/0.
    pub fn joint_belief(&self, variables: &[usize]) -> Result<Vec<f64>> {
        for (position, &variable) in variables.iter().enumerate() {
            check_variable(self.graph(), variable)?;
            if variables[..position].contains(&variable) {
                return Err(Error::InvalidArgument(format!(
                    "variable {} is asked for twice: once is enough",
                    self.graph().label(variable)
                )));
            }
        }
        let (Some(&first), true) = (variables.first(), variables.len() > 1) else {
            return variables
                .first()
                .map_or_else(|| filled(1, 1.0), |&v| copied(self.marginal(v)?));
        };
        let factors = self.graph().edge_factors();
        let candidates = self.graph().variable_edges(first).iter().map(|&e| factors[e as usize]);
        let common = candidates.map(|factor| factor as usize).find(|&factor| {
            variables.iter().all(|&variable| self.graph().edge(factor, variable).is_some())
        });
        let factor = common.ok_or_else(|| {
            let labels: Vec<String> =
                variables.iter().map(|&v| self.graph().label(v).to_string()).collect();
            Error::InvalidArgument(format!(
                "joint belief of the variables {}: no factor contains all of them",
                labels.join(", ")
            ))
        })?;
        self.belief_within(factor, variables)
    }

    /// Belief of two variables that share a factor: entry `x + y * cardinality(first)` is the
    /// probability of the states x and y. See [`Self::joint_belief`].
    pub fn pair_belief(&self, first: usize, second: usize) -> Result<Vec<f64>> {
        self.joint_belief(&[first, second])
    }

    /// The belief of some variables of a factor.
    fn belief_within(&self, factor: usize, variables: &[usize]) -> Result<Vec<f64>> {
        let cardinalities: Vec<usize> =
            collected(variables.iter().map(|&v| self.graph().cardinality(v)))?;
        let size = cardinalities.iter().try_fold(1_usize, |size, &r| size.checked_mul(r));
        let size = size.filter(|&size| size <= BELIEF_LIMIT);
        let size = size.ok_or_else(|| self.too_large(factor))?;
        let scope = self.graph().factor_variables(factor);
        let position = |&variable: &usize| scope.partition_point(|&v| (v as usize) < variable);
        let positions: Vec<usize> = collected(variables.iter().map(position))?;
        if self.graph().factor(factor).as_table().is_some() {
            return self.marginalise_table(factor, &positions, &cardinalities, size);
        }
        // The factor's total with the variables fixed, for each of their joint states.
        let inputs = self.inputs(factor)?;
        let mut weights = room(size)?;
        let mut states = filled(variables.len(), 0)?;
        loop {
            let mut fixed = inputs.try_clone()?;
            let mut weight = ExtendedFloat::ONE;
            for (&position, &state) in positions.iter().zip(&states) {
                weight = weight.multiply(inputs.weight(position, state));
                fixed.fix(position, state);
            }
            weights.push(if weight.is_zero() { weight } else { weight.multiply(fixed.total()?) });
            if !next_joint_state(&mut states, &cardinalities) {
                break;
            }
        }
        let total = weights.iter().fold(ExtendedFloat::ZERO, |sum, &weight| sum.add(weight));
        all_collected(weights.into_iter().map(|weight| self.share(factor, weight, total)))
    }

    /// Sums a table's belief over all variables but those at some positions.
    fn marginalise_table(
        &self, factor: usize, positions: &[usize], cardinalities: &[usize], size: usize,
    ) -> Result<Vec<f64>> {
        let belief = self.factor_belief(factor)?;
        let all: Vec<usize> = collected(self.graph().factor_cardinalities(factor))?;
        let mut states = filled(all.len(), 0)?;
        let mut out = filled(size, 0.0)?;
        for probability in belief {
            let (mut index, mut stride) = (0, 1);
            for (&position, &cardinality) in positions.iter().zip(cardinalities) {
                index += states[position] * stride;
                stride *= cardinality;
            }
            out[index] += probability;
            next_joint_state(&mut states, &all);
        }
        Ok(out)
    }

    /// The messages to a factor as they are now.
    pub(super) fn inputs(&self, factor: usize) -> Result<Inputs<'_>> {
        let mut messages = Vec::new();
        self.runner.factor_inputs(factor, &mut messages)?;
        Inputs::new(self.graph(), factor, messages)
    }

    fn share(&self, factor: usize, weight: ExtendedFloat, total: ExtendedFloat) -> Result<f64> {
        if total.is_zero() {
            return Err(self.contradictory_factor(factor));
        }
        // The total is a sum in another order, and may round to less than one of its terms.
        Ok(if weight.is_zero() { 0.0 } else { weight.divide(total).to_f64().min(1.0) })
    }

    fn too_large(&self, factor: usize) -> Error {
        Error::LimitExceeded(format!(
            "belief of factor {factor}: over {} variables it has more than {BELIEF_LIMIT} entries; \
             ask for single ones",
            self.graph().arity(factor)
        ))
    }

    /// The error of a factor that its inputs contradict.
    pub(super) fn contradictory_factor(&self, factor: usize) -> Error {
        let variable = self.graph().factor_variables(factor).first().map_or(0, |&v| v as usize);
        Error::Contradiction {
            label: self.graph().labels().get(variable).copied().unwrap_or_default(),
            variable,
            factor: None,
            iteration: self.report().map_or(0, |report| report.total_iterations),
            count: 1,
        }
    }
}
