//! Builds a [`FactorGraph`] from factors over labels, one at a time or in bulk.

use super::edges::Edges;
use super::graph::{FactorGraph, Label, all_conjunctions};
use super::labels::{INDEX_LIMIT, LabelIndex, UsedLabels};
use super::lists::Lists;
use super::scopes::{DraftFactors, NOT_ASSEMBLED, Scopes};
use crate::error::{Error, Result};
use crate::factor::{
    FactorKind, HornParameters, NewFactor, NewTable, Scope, Stores, check_weights,
};
use crate::memory::{Grow, copied, filled};
use crate::threads::Gang;

/// Least number of edges that a thread gets when a graph is built: about a millisecond of work, many times what
/// waking the thread takes.
const EDGES_PER_THREAD: usize = 1 << 16;

/// Prior, AND and OR factors as arrays, for [`FactorGraphBuilder::add_horn_factors`].
///
/// Factor i has the kind `kinds[i]`, the head `heads[i]`, the body that is list i of `bodies` (empty for a prior) and the
/// probabilities `p[i]`, `q[i]` (see [`FactorKind`]; q is ignored for a prior).
#[derive(Clone, Copy, Debug)]
pub struct HornArrays<'a> {
    /// Kind of each factor: prior, AND or OR.
    pub kinds: &'a [FactorKind],
    /// Label of each head.
    pub heads: &'a [Label],
    /// Labels of each body.
    pub bodies: Lists<'a, Label>,
    /// Probability p of each factor.
    pub p: &'a [f64],
    /// Probability q of each factor.
    pub q: &'a [f64],
}

/// Collects variables and factors; [`Self::build`] checks and compacts them.
///
/// A variable need not be declared: a label that no [`Self::add_variable`] names is binary. A call
/// that fails adds nothing.
#[derive(Clone, Debug)]
pub struct FactorGraphBuilder {
    pub(super) declared: Vec<(Label, u32)>,
    pub(super) kinds: Vec<FactorKind>,
    /// Head label of a factor that has one, else 0.
    pub(super) heads: Vec<Label>,
    /// Where each factor's members end.
    pub(super) member_ends: Vec<usize>,
    /// Body of a factor with a head, scope of another, in the caller's order.
    pub(super) members: Vec<Label>,
    /// Number in the store of the factor's kind.
    pub(super) parameters: Vec<u32>,
    /// Parameters by kind; what belongs to a variable, by position in `members`.
    pub(super) drafts: Stores,
}

impl Default for FactorGraphBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl FactorGraphBuilder {
    /// An empty graph.
    pub fn new() -> Self {
        Self {
            declared: Vec::new(),
            kinds: Vec::new(),
            heads: Vec::new(),
            member_ends: Vec::new(),
            members: Vec::new(),
            parameters: Vec::new(),
            drafts: Stores::default(),
        }
    }

    /// Number of factors added so far.
    pub fn factor_count(&self) -> usize {
        self.kinds.len()
    }

    /// Declares a variable with `cardinality` >= 1 states; one with a single state is only for tables and
    /// terms. Declaring a label twice with the same
    /// cardinality is harmless; with another one, [`Self::build`] fails.
    pub fn add_variable(&mut self, label: Label, cardinality: usize) -> Result<()> {
        let cardinality = check_cardinality(label, cardinality)?;
        self.declared.try_push((label, cardinality))
    }

    /// Declares many variables; see [`Self::add_variable`].
    pub fn add_variables(&mut self, labels: &[Label], cardinalities: &[usize]) -> Result<()> {
        if labels.len() != cardinalities.len() {
            return Err(Error::InvalidArgument(format!(
                "{} labels but {} cardinalities: one cardinality per label is needed",
                labels.len(),
                cardinalities.len()
            )));
        }
        let before = self.declared.len();
        for (&label, &cardinality) in labels.iter().zip(cardinalities) {
            if let Err(error) = self.add_variable(label, cardinality) {
                self.declared.truncate(before);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Adds a prior f(1) = p, f(0) = 1 - p of a binary variable; p in [0, 1].
    pub fn add_prior(&mut self, label: Label, p: f64) -> Result<()> {
        self.add_horn(FactorKind::Prior, label, &[], p, 0.0)
    }

    /// Adds a noisy conjunction: P(head = 1) = p if all of `body` is true, q otherwise; p and q in
    /// [0, 1]. Duplicates in the body merge.
    pub fn add_and(&mut self, head: Label, body: &[Label], p: f64, q: f64) -> Result<()> {
        self.add_horn(FactorKind::And, head, body, p, q)
    }

    /// Adds a noisy disjunction: P(head = 0) = p if all of `body` is false, q otherwise; p and q in
    /// [0, 1]. Duplicates in the body merge.
    pub fn add_or(&mut self, head: Label, body: &[Label], p: f64, q: f64) -> Result<()> {
        self.add_horn(FactorKind::Or, head, body, p, q)
    }

    /// Adds a prior, AND or OR factor by its kind; see [`FactorKind`].
    pub fn add_horn(
        &mut self, kind: FactorKind, head: Label, body: &[Label], p: f64, q: f64,
    ) -> Result<()> {
        self.add_factor(Some(head), body, &HornParameters { kind, p, q, head_in_body: false })
    }

    /// Adds a factor of any kind from its parameters. A kind with a head takes its label, and the body as
    /// `members`; another takes all its variables as `members`.
    ///
    /// Errors: what the kind says of its parameters; a head where the kind has none, or none where it has one.
    pub fn add_factor(
        &mut self, head: Option<Label>, members: &[Label], parameters: &impl NewFactor,
    ) -> Result<()> {
        let (factor, kind) = (self.kinds.len(), parameters.kind());
        parameters.check(factor, members.len())?;
        if kind.has_head() != head.is_some() {
            let wanted = if kind.has_head() { "a head: one is needed" } else { "no head" };
            return Err(Error::InvalidArgument(format!(
                "factor {factor} ({}): factors of its kind have {wanted}",
                kind.name()
            )));
        }
        self.make_room(1, members.len())?;
        let number = parameters.push(&mut self.drafts)?;
        self.push_factor(kind, head.unwrap_or_default(), members, number);
        Ok(())
    }

    /// Adds many prior, AND and OR factors in one call. O(total size of the arrays).
    pub fn add_horn_factors(&mut self, arrays: HornArrays<'_>) -> Result<()> {
        let HornArrays { kinds, heads, bodies, p, q } = arrays;
        let count = kinds.len();
        for (name, length, wanted) in [
            ("heads", heads.len(), count),
            ("p", p.len(), count),
            ("q", q.len(), count),
            ("body_offsets", bodies.offsets.len(), count + 1),
        ] {
            if length != wanted {
                return Err(Error::InvalidArgument(format!(
                    "{name} has {length} entries: {count} factors need {wanted}"
                )));
            }
        }
        bodies.check("body_offsets")?;
        for i in 0..count {
            let (kind, p, q) = (kinds[i], p[i], q[i]);
            let parameters = HornParameters { kind, p, q, head_in_body: false };
            parameters.check(self.kinds.len() + i, bodies.list(i).len())?;
        }
        self.make_room(count, bodies.entries.len())?;
        self.all_or_none(|builder| {
            (0..count)
                .try_for_each(|i| builder.add_horn(kinds[i], heads[i], bodies.list(i), p[i], q[i]))
        })
    }

    /// Makes several calls of which none has added anything if one fails.
    pub(crate) fn all_or_none(&mut self, add: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let (factors, members) = (self.kinds.len(), self.members.len());
        add(self).inspect_err(|_| {
            // What they added to the stores of parameters is unused.
            self.kinds.truncate(factors);
            self.heads.truncate(factors);
            self.parameters.truncate(factors);
            self.member_ends.truncate(factors);
            self.members.truncate(members);
        })
    }

    /// Adds a dense table over `scope`, the first variable of which varies fastest; one value per
    /// joint state, finite, not negative, not all zero. The scope must not name a variable twice.
    pub fn add_table(&mut self, scope: &[Label], values: &[f64]) -> Result<()> {
        self.add_factor(None, scope, &NewTable(values))
    }

    /// Adds many dense tables in one call, each over a list of `scopes` with the values of the same list of `values`; see
    /// [`Self::add_table`]. O(total size of the lists).
    pub fn add_tables(&mut self, scopes: Lists<'_, Label>, values: Lists<'_, f64>) -> Result<()> {
        scopes.check("scope_offsets")?;
        values.check("value_offsets")?;
        let count = scopes.count();
        if values.count() != count {
            return Err(Error::InvalidArgument(format!(
                "value_offsets has {} entries: {count} tables need {}",
                values.offsets.len(),
                count + 1
            )));
        }
        for index in 0..count {
            check_weights(values.list(index), || format!("table {index}"))?;
        }
        self.all_or_none(|builder| {
            (0..count)
                .try_for_each(|index| builder.add_table(scopes.list(index), values.list(index)))
        })
    }

    /// Gives the prior `p` to every variable that occurs but heads no factor, in ascending order of
    /// the labels. Tables and terms head no variable. O(variables + edges) for labels without large gaps.
    pub fn add_missing_priors(&mut self, p: f64) -> Result<()> {
        let index = self.label_index(&self.gang())?;
        self.add_priors_to_headless(&index, p)
    }

    fn add_priors_to_headless(&mut self, index: &LabelIndex, p: f64) -> Result<()> {
        let labels = index.labels_without(self.used_labels().headed())?;
        self.make_room(labels.len(), 0)?;
        self.all_or_none(|builder| {
            labels.into_iter().try_for_each(|label| builder.add_prior(label, p))
        })
    }

    /// Checks everything and builds the graph, large ones on several threads. O(variables log variables + edges log
    /// arity + table entries).
    ///
    /// Errors: a cardinality below 1 or declared in two ways; a table with a duplicate variable or
    /// of the wrong size; a factor with a head over a variable that is not binary; terms that name a
    /// state that a variable does not have, or whose sum is seen to be negative somewhere or zero
    /// everywhere; more edges, variables or factors than 32-bit indices can name.
    pub fn build(&self) -> Result<FactorGraph> {
        self.build_on(&self.gang())
    }

    /// [`Self::build`] on some threads.
    pub(super) fn build_on(&self, gang: &Gang) -> Result<FactorGraph> {
        self.check_size()?;
        let mut graph = self.assemble(self.label_index(gang)?, gang)?;
        graph.edges.connect(graph.labels.len(), gang)?;
        Ok(graph)
    }

    /// As [`Self::add_missing_priors`] and [`Self::build`], in less time and memory: labels are indexed once, and the
    /// drafts go before the edges are connected.
    pub(crate) fn build_with_missing_priors(mut self, p: f64) -> Result<FactorGraph> {
        let gang = self.gang();
        let index = self.label_index(&gang)?;
        self.add_priors_to_headless(&index, p)?;
        self.check_size()?;
        let mut graph = self.assemble(index, &gang)?;
        drop(self);
        graph.edges.connect(graph.labels.len(), &gang)?;
        Ok(graph)
    }

    /// The threads that build the graph.
    fn gang(&self) -> Gang {
        Gang::for_work(self.members.len() + self.kinds.len(), EDGES_PER_THREAD)
    }

    /// Errors: more edges than can be indexed.
    fn check_size(&self) -> Result<()> {
        // A horn factor has one edge more than its body, at most.
        let edge_bound = self.members.len() + self.kinds.len();
        if edge_bound > INDEX_LIMIT {
            return Err(Error::LimitExceeded(format!(
                "{edge_bound} edges: at most {INDEX_LIMIT} can be indexed"
            )));
        }
        Ok(())
    }

    /// The graph without the directions of its edges that [`Edges::connect`] fills in.
    fn assemble(&self, index: LabelIndex, gang: &Gang) -> Result<FactorGraph> {
        let cardinalities = self.cardinalities(&index)?;
        let all_binary = cardinalities.iter().all(|&r| r == 2);
        let drafts = DraftFactors {
            kinds: &self.kinds,
            heads: &self.heads,
            member_ends: &self.member_ends,
            members: &self.members,
            parameters: &self.parameters,
        };
        let Scopes { factor_offsets, edge_variable, heads, mut parameters } =
            drafts.scopes(&index, all_binary, gang)?;
        let mut stores = Stores::begin(&self.drafts)?;
        let mut members = Vec::new();
        for (factor, &kind) in self.kinds.iter().enumerate() {
            if parameters[factor] != NOT_ASSEMBLED {
                continue;
            }
            members.clear();
            members.try_extend(drafts.members(factor).iter().map(|&label| index.of(label)))?;
            let edges = factor_offsets[factor] as usize..factor_offsets[factor + 1] as usize;
            let scope = Scope {
                factor,
                kind,
                head: kind.has_head().then(|| index.of(self.heads[factor])),
                members: &members,
                variables: &edge_variable[edges],
                labels: &index.labels,
                cardinalities: &cardinalities,
                all_binary,
            };
            parameters[factor] = stores.assemble(&self.drafts, self.parameters[factor], &scope)?;
        }
        stores.finish();
        let arities = factor_offsets.windows(2).map(|ends| ends[1] - ends[0]);
        let largest_arity = arities.max().unwrap_or(0);
        Ok(FactorGraph {
            cardinalities,
            labels: index.labels,
            edges: Edges::of_scopes(factor_offsets, edge_variable),
            kinds: copied(&self.kinds)?,
            heads,
            parameters,
            stores,
            all_binary,
            all_conjunctions: all_conjunctions(&self.kinds),
            largest_arity,
        })
    }

    /// The index of all labels that occur.
    fn label_index(&self, gang: &Gang) -> Result<LabelIndex> {
        LabelIndex::new(&self.used_labels(), gang)
    }

    fn used_labels(&self) -> UsedLabels<'_> {
        UsedLabels {
            members: &self.members,
            heads: &self.heads,
            kinds: &self.kinds,
            declared: &self.declared,
        }
    }

    /// Makes room for so many more factors with so many members together, so that
    /// [`Self::push_factor`] cannot fail.
    pub(super) fn make_room(&mut self, factors: usize, members: usize) -> Result<()> {
        self.kinds.try_room(factors)?;
        self.heads.try_room(factors)?;
        self.parameters.try_room(factors)?;
        self.member_ends.try_room(factors)?;
        self.members.try_room(members)
    }

    /// Adds a factor, for which there is room.
    pub(super) fn push_factor(
        &mut self, kind: FactorKind, head: Label, members: &[Label], parameter: u32,
    ) {
        self.members.extend_from_slice(members);
        self.kinds.push(kind);
        self.heads.push(head);
        self.parameters.push(parameter);
        self.member_ends.push(self.members.len());
    }

    fn cardinalities(&self, index: &LabelIndex) -> Result<Vec<u32>> {
        let mut cardinalities = filled(index.labels.len(), 0)?;
        for &(label, cardinality) in &self.declared {
            let slot: &mut u32 = &mut cardinalities[index.of(label) as usize];
            if *slot != 0 && *slot != cardinality {
                return Err(Error::InvalidArgument(format!(
                    "variable {label}: declared with cardinality {slot} and with {cardinality}: \
                     all its declarations must agree"
                )));
            }
            *slot = cardinality;
        }
        for slot in &mut cardinalities {
            if *slot == 0 {
                *slot = 2;
            }
        }
        Ok(cardinalities)
    }
}

/// Checks a cardinality; also used where one is read from a file.
pub(crate) fn check_cardinality(label: Label, cardinality: usize) -> Result<u32> {
    if cardinality < 1 {
        return Err(Error::InvalidArgument(format!(
            "variable {label}: cardinality {cardinality}: at least 1 state is needed"
        )));
    }
    u32::try_from(cardinality).map_err(|_| {
        Error::LimitExceeded(format!(
            "variable {label}: cardinality {cardinality}: at most {} states are possible",
            u32::MAX
        ))
    })
}
