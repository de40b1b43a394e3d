//! What cuda/arithmetic defines, which is `src/kernel` once more; and a type of CUDA.

use super::declare::device_interface;
use crate::engine::cuda::driver::Element;
use crate::kernel::DeviceHorn;
use cust::memory::DeviceCopy;

/// Four words that are loaded at once: `uint4`.
pub(in crate::engine::cuda) struct Uint4;

// SAFETY: numbers without gaps, as the assertion about its fields in the header says: 48 bytes in all.
unsafe impl Element for DeviceHorn {}
// SAFETY: numbers.
unsafe impl DeviceCopy for DeviceHorn {}

device_interface! {
    arithmetic type crate::kernel::EncodedMessage as Packed { 0 as bits, }

    /// An extended float.
    arithmetic struct ExtendedFloat as Wide {
        significand: f64,
        exponent: i64,
    }

    /// A product of messages.
    arithmetic struct Product {
        significand: f64,
        exponent: i64,
        infinities: u32,
        zeros: u32,
    }

    /// The values of a conjunction: f(h=1), f(h=0) if the body holds, and if it fails.
    arithmetic struct HeadValues {
        values: [[f64; 2]; 2],
    }

    arithmetic type DeviceHorn as HornCoefficients {
        values as head,
        negated as negated,
        flags as flags,
        words as words,
    }

    arithmetic number DeviceHorn::IN_F64_RANGE, is HORN_PLAIN;
    arithmetic number DeviceHorn::LISTED, is HORN_LISTED;

    /// One condition of a term: the variable at a position of the factor is in a state.
    arithmetic struct TermLiteral {
        position: u32,
        state: u32,
    }

    /// Messages of a binary variable that a lane of a warp takes.
    arithmetic const LEAVES_OF_LANE: u32 = 8, is BLOCK;
}
