//! The results of a session, of whichever kind its last run was.

use super::session::Session;
use crate::error::{Error, Result};
use crate::memory::collected;
use crate::model::check_factor;

/// What the last run left: results of the exact one, or those of belief propagation.
macro_rules! of_last_run {
    ($session:ident, $exact:ident => $value:expr, $bp:ident => $other:expr) => {
        match &$session.exact {
            Some($exact) => $value,
            None => {
                let $bp = &$session.bp;
                $other
            }
        }
    };
}

impl Session {
    pub fn marginals(&self) -> Result<&[f64]> {
        of_last_run!(self, exact => Ok(exact.marginals()), bp => bp.marginals())
    }

    pub fn marginal(&self, variable: usize) -> Result<&[f64]> {
        of_last_run!(self, exact => exact.marginal(variable), bp => bp.marginal(variable))
    }

    pub fn probability(&self, variable: usize) -> Result<f64> {
        of_last_run!(self, exact => exact.probability(variable), bp => bp.probability(variable))
    }

    pub fn joint_belief(&self, variables: &[usize]) -> Result<Vec<f64>> {
        of_last_run!(self, exact => exact.belief(variables), bp => bp.joint_belief(variables))
    }

    pub fn factor_belief(&self, factor: usize) -> Result<Vec<f64>> {
        let Some(exact) = &self.exact else { return self.bp.factor_belief(factor) };
        check_factor(self.graph(), factor)?;
        let scope = self.graph().factor_variables(factor).iter();
        let variables: Vec<usize> = collected(scope.map(|&v| v as usize))?;
        exact.belief(&variables)
    }

    pub fn factor_belief_at(&self, factor: usize, index: u64) -> Result<f64> {
        if self.exact.is_none() {
            return self.bp.factor_belief_at(factor, index);
        }
        let belief = self.factor_belief(factor)?;
        let entry = usize::try_from(index).ok().and_then(|index| belief.get(index));
        entry.copied().ok_or_else(|| {
            Error::OutOfRange(format!(
                "index {index} into the belief of factor {factor}: it has {} entries",
                belief.len()
            ))
        })
    }

    pub fn log_partition(&self) -> super::status::Outcome<f64> {
        self.check_results("the log-partition")?;
        Ok(of_last_run!(self, exact => exact.log_partition(), bp => bp.log_partition()?))
    }

    pub fn find_maximum(&self) -> Result<Vec<usize>> {
        of_last_run!(self, exact => exact.find_maximum(), bp => bp.find_maximum())
    }
}
