//! The Bethe approximation of the partition function.

use super::base::BeliefPropagation;
use crate::engine::state_weight;
use crate::error::Result;
use crate::kernel::{Arithmetic, ExtendedFloat, Inference, Real};
use crate::memory::collected;
use crate::model::VariableEvidence;

impl BeliefPropagation {
    /// Natural logarithm of the partition function, by the Bethe approximation: from the current
    /// messages and the beliefs of the last run,
    /// sum_i (1 - d_i) H(b_i) - sum_I KL(b_I || f_I), where d_i is the degree of variable i and b_I
    /// the belief of factor I (libDAI's `logZ`). Exact on trees after a converged run; elsewhere an
    /// approximation.
    ///
    /// With evidence, it is the logarithm of the sum over all joint states that agree with the
    /// observations, each weighted by the likelihoods of soft evidence: minus the value without
    /// evidence, the log-probability of the evidence.
    ///
    /// Minus infinity, the logarithm of zero, where a belief is positive for a state that soft evidence
    /// excludes, as after a run with [`crate::Contradiction::Vote`]; never NaN.
    ///
    /// Errors: no run yet; a factor that the messages contradict. O(edges * states), for tables
    /// O(entries * arity).
    ///
    /// This is the only result that takes logarithms: all that leads to it has the same bits
    /// everywhere, the logarithm itself is the platform's.
    pub fn log_partition(&self) -> Result<f64> {
        let mut sum = Sum::default();
        for v in 0..self.graph().variable_count() {
            let belief = self.marginal(v)?;
            let degree = self.graph().degree(v) as f64;
            sum.add((1.0 - degree) * entropy(belief));
            // Soft evidence is one more factor over the variable: with its belief as its own, its
            // entropy cancels the one that the degree would count.
            if let Some(VariableEvidence::Likelihood(likelihood)) = self.runner.evidence().get(v) {
                for (&p, &weight) in belief.iter().zip(likelihood) {
                    sum.add(if p == 0.0 { 0.0 } else { p * weight.ln() });
                }
            }
        }
        for factor in 0..self.graph().factor_count() {
            sum.add(self.negative_divergence(factor)?);
        }
        Ok(sum.total())
    }

    /// -KL(b_I || f_I), without writing the belief out: b_I is the factor times its inputs over their
    /// total, so the logarithm of b_I / f_I is a sum over the inputs.
    fn negative_divergence(&self, factor: usize) -> Result<f64> {
        let inputs = self.inputs(factor)?;
        let total = inputs.total()?;
        if total.is_zero() {
            return Err(self.contradictory_factor(factor));
        }
        let mut sum = Sum::default();
        sum.add(total.ln());
        for (position, radix) in self.graph().factor_cardinalities(factor).enumerate() {
            let message = inputs
                .message(position, Inference::SumProduct)?
                .ok_or_else(|| self.contradictory_factor(factor))?;
            let weights: Vec<ExtendedFloat> = collected(
                (0..radix).map(|x| state_weight(&message, x).multiply(inputs.weight(position, x))),
            )?;
            let all = weights.iter().fold(ExtendedFloat::ZERO, |sum, &weight| sum.add(weight));
            for (x, weight) in weights.into_iter().enumerate().filter(|(_, w)| !w.is_zero()) {
                let probability = weight.divide(all).to_f64();
                if probability > 0.0 {
                    sum.add(-probability * inputs.weight(position, x).ln());
                }
            }
        }
        Ok(sum.total())
    }
}

fn entropy(belief: &[f64]) -> f64 {
    -belief.iter().map(|&p| if p == 0.0 { 0.0 } else { p * p.ln() }).sum::<f64>()
}

/// A sum that carries its rounding error along (Neumaier): there may be millions of summands. Summands
/// that are minus infinity make the sum that.
#[derive(Default)]
struct Sum {
    sum: f64,
    error: f64,
    infinite: bool,
}

impl Sum {
    fn add(&mut self, value: f64) {
        if value == f64::NEG_INFINITY {
            self.infinite = true;
            return;
        }
        let next = self.sum + value;
        self.error += if self.sum.abs() >= value.abs() {
            (self.sum - next) + value
        } else {
            (value - next) + self.sum
        };
        self.sum = next;
    }

    fn total(&self) -> f64 {
        if self.infinite { f64::NEG_INFINITY } else { self.sum + self.error }
    }
}
