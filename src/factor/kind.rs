//! What a file of this folder says of its kinds: the traits [`Kind`], [`Store`] and [`NewFactor`].

use super::{FactorKind, Horn, Noisy, Scope, Stores, Terms};
use crate::error::Result;
use crate::kernel::{Arithmetic, EncodedMessage, ExtendedFloat, Inference, Real};
use crate::memory::NoMemory;

/// An update of messages of a factor: all of them, or the one to its target.
pub(crate) struct Update<'a> {
    /// Numbers of states of the factor's variables.
    pub(crate) radices: &'a [u32],
    /// Stored messages from the variables, one after the other: one value, the odds, from a binary variable, else
    /// one per state. The message from the target is not read and may be overwritten.
    pub(crate) incoming: &'a mut [EncodedMessage],
    /// Sums or maxima.
    pub(crate) inference: Inference,
    /// Position of the variable that the message goes to; `None` for all messages.
    pub(crate) target: Option<usize>,
    /// Where the messages are stored, in the layout of the incoming ones, or of the one from the target. All ones.
    pub(crate) out: &'a mut [EncodedMessage],
}

/// What a kind is, implemented by the view of one factor of it.
///
/// A kind that defines `view` and `value` alone is complete: it runs as a dense table, on every engine, and costs
/// what the table costs. All else makes it faster or says more of it. Values and messages may use the operations
/// of `kernel` only, so that their bits are the same everywhere.
pub(crate) trait Kind<'a>: Copy {
    /// Where graphs keep the parameters of the kind.
    type Store: Store;

    /// The factor with these parameters and its head at this position among its variables.
    fn view(store: &'a Self::Store, number: usize, head: usize) -> Self;

    /// The definition; see [`Factor::value`](super::Factor::value).
    fn value(&self, states: &[usize], cardinalities: impl Iterator<Item = usize>) -> f64;

    /// The same without rounding beyond that of [`ExtendedFloat`], where the value is computed and may leave the range
    /// of `f64`.
    fn extended_value(
        &self, states: &[usize], cardinalities: impl Iterator<Item = usize>,
    ) -> ExtendedFloat {
        ExtendedFloat::from_f64(self.value(states, cardinalities))
    }

    /// Whether the value at a joint state, which [`Self::value`] gives as `value`, is a product of
    /// probabilities that is too small for a normal `f64`.
    fn underflows(&self, _states: &[usize], _value: f64) -> bool {
        false
    }

    /// Whether the factor excludes every joint state. `false` for kinds whose checks refuse such factors.
    /// O(arity).
    fn is_zero_everywhere(&self, _arity: usize) -> bool {
        false
    }

    /// Whether the factor runs as a dense table, since [`Self::messages`] does not serve it for this inference.
    fn needs_table(&self, _inference: Inference) -> bool {
        true
    }

    /// Computes messages. One that would be 0/0 is [`EncodedMessage::CONTRADICTION`] in its first value. Not called
    /// where [`Self::needs_table`]. Errors: no memory for the scratch space.
    fn messages(
        &self, _update: Update<'_>, _scratch: &mut <Self::Store as Store>::Scratch,
    ) -> Result<(), NoMemory> {
        debug_assert!(false, "a kind that runs as a table was asked for messages");
        Ok(())
    }

    /// The factor times the incoming messages, summed over all joint states. Not called where
    /// [`Self::needs_table`] for sums. Errors: no memory.
    fn total(&self, _radices: &[u32], _messages: &[EncodedMessage]) -> Result<ExtendedFloat> {
        debug_assert!(false, "a kind that runs as a table was asked for its total");
        Ok(ExtendedFloat::ONE)
    }

    /// Table entries that all messages of the factor together read for each of its variables, by the number of
    /// its joint states, if that can be counted; 0 where messages take time linear in the arity. For estimates
    /// of costs.
    fn table_entries(&self, joint_states: Option<usize>) -> f64 {
        if self.needs_table(Inference::SumProduct) {
            joint_states.map_or(f64::INFINITY, |count| count as f64)
        } else {
            0.0
        }
    }

    /// What the general program of devices runs the factor as, where it does not need a table.
    fn device_form(&self) -> DeviceForm<'a> {
        DeviceForm::None
    }

    /// The factor as a block of `.causal_fg`, the only format that holds other factors than tables; `None` if
    /// it cannot be one.
    fn causal_block(&self) -> Option<CausalBlock> {
        None
    }
}

/// What the kernels of the general program, `cuda/engine/general*.cuh`, have code for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum DeviceForm<'a> {
    /// A conjunction of literals, by the number of its coefficients.
    Conjunction,
    /// A conjunction of noisy literals.
    Noisy(Noisy<'a>),
    /// A dense table.
    Table(&'a [f64]),
    /// A sum of weighted terms.
    Terms(Terms<'a>),
    /// None of these: graphs with such a factor run on the CPU.
    None,
}

/// How a factor is written in `.causal_fg`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CausalBlock {
    /// A block of type `I`.
    Prior {
        /// Its probability.
        p: f64,
    },
    /// A block with a body.
    Rule {
        /// The first character of its type.
        sign: &'static str,
        /// Its head and probabilities.
        horn: Horn,
    },
}

/// Which list has the parameters of a conjunction of literals, on which all engines have paths of their own; see
/// [`FactorGraph::conjunction_parameter`](crate::model::FactorGraph::conjunction_parameter).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conjunction {
    /// Those of prior, AND and OR factors.
    Horn,
    /// Those of signed factors.
    Signed,
}

/// How a graph or a builder keeps the parameters of all factors of some kinds.
///
/// A builder's store holds drafts, in the order of variables in which a factor was added; a graph's store holds
/// the same parameters for variables that ascend, each once.
pub(crate) trait Store: Default {
    /// Whether its factors have a head, a variable that the others decide.
    const HAS_HEAD: bool;
    /// For conjunctions of literals, which list has their coefficients.
    const CONJUNCTION: Option<Conjunction> = None;
    /// Memory of the messages of its factors, kept between calls.
    type Scratch: Default;

    /// The store of a graph that is to be built from a builder's drafts.
    fn begin(_drafts: &Self) -> Result<Self> {
        Ok(Self::default())
    }

    /// Adds the factor of a draft; returns its number. Errors: the kind does not take these variables.
    fn assemble(&mut self, drafts: &Self, number: usize, scope: &Scope<'_>) -> Result<u32>;

    /// Forgets what only [`Self::assemble`] needs: of two equal graphs the stores are equal.
    fn finish(&mut self) {}

    /// Adds, to a builder's store, the draft of a factor of a graph, whose members are the factor's variables in
    /// their order, without the head unless [`Self::has_head_in_body`]; returns its number. The draft is not
    /// checked: it may be one that a user could not add.
    fn restore(&mut self, graph: &Self, number: usize, head: usize) -> Result<u32>;

    /// Whether the head of a graph's factor occurs among its members, too.
    fn has_head_in_body(&self, _number: usize) -> bool {
        false
    }

    /// A copy.
    fn try_clone(&self) -> Result<Self>;

    /// A copy; that of the store of tables has no entries for those of its numbers that are `dropped`.
    fn copy_without_tables(&self, _dropped: &[bool]) -> Result<Self> {
        self.try_clone()
    }

    /// Bytes held by its lists.
    fn memory_bytes(&self) -> usize;
}

/// The parameters of one factor, as [`FactorGraphBuilder::add_factor`] takes them.
///
/// [`FactorGraphBuilder::add_factor`]: crate::FactorGraphBuilder::add_factor
pub trait NewFactor {
    /// The factor's kind.
    fn kind(&self) -> FactorKind;

    /// Checks the parameters for so many members: the body of a kind with a head, all variables of another.
    /// `factor` is the factor's number, for errors.
    fn check(&self, factor: usize, members: usize) -> Result<()>;

    /// Adds the parameters, which are valid, to the store of their kind; returns their number there.
    fn push(&self, drafts: &mut Stores) -> Result<u32>;
}
