//! Where iterations run, and with what.

use crate::error::{Error, Result};
use crate::threads::physical_cores;

/// Where iterations run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Backend {
    /// Each run where it is expected to end first, by a model of the costs that earlier runs correct;
    /// what a place needs is made when the first run there is, or is prepared. On the CPU where there is
    /// no device; also where one fails, which [`crate::BeliefPropagation::take_notes`] then says.
    #[default]
    Auto,
    /// The processor.
    Cpu,
    /// A CUDA device. The first session on one retains its primary context, which other users of CUDA in
    /// the process share; it stays, with the kernels in it, to the end of the process, unless it fails.
    Cuda,
}

impl Backend {
    /// `auto`, `cpu` or `cuda`.
    pub fn name(self) -> &'static str {
        match self {
            Backend::Auto => "auto",
            Backend::Cpu => "cpu",
            Backend::Cuda => "cuda",
        }
    }
}

/// Some CUDA devices, by their numbers, of which the largest is [`DeviceSet::LARGEST`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceSet(u64);

impl DeviceSet {
    /// The empty set.
    pub const NONE: Self = Self(0);

    /// The largest number of a device that can be in a set.
    pub const LARGEST: u32 = u64::BITS - 1;

    /// The set of some devices. Errors: a number that is too large, or that is there twice.
    pub fn of(numbers: &[u32]) -> Result<Self> {
        let mut set = Self::default();
        for &number in numbers {
            if number > Self::LARGEST {
                return Err(Error::OutOfRange(format!(
                    "device {number}: with several devices, numbers from 0 to {} are possible",
                    Self::LARGEST
                )));
            }
            if set.contains(number) {
                return Err(Error::InvalidArgument(format!(
                    "device {number} is listed twice, and once is enough"
                )));
            }
            set.0 |= 1 << number;
        }
        Ok(set)
    }

    /// The set with more devices in it, of which those that are too large are left out.
    pub(crate) fn with(self, numbers: &[u32]) -> Self {
        let possible = numbers.iter().filter(|&&number| number <= Self::LARGEST);
        Self(possible.fold(self.0, |bits, number| bits | 1 << number))
    }

    /// Whether a device is in the set.
    pub fn contains(self, number: u32) -> bool {
        number <= Self::LARGEST && self.0 >> number & 1 == 1
    }

    /// Whether there is none in it.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The numbers, ascending.
    pub fn iter(self) -> impl Iterator<Item = u32> {
        (0..=Self::LARGEST).filter(move |&number| self.contains(number))
    }
}

/// What to run iterations with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineOptions {
    /// Where iterations run.
    pub backend: Backend,
    /// Number of CPU threads, at least 1; `None` for one per physical core.
    pub threads: Option<usize>,
    /// Number of the CUDA device; `None` for that of the environment variable `FASTLBP_DEVICE`, and 0
    /// where it is not set (see [`crate::engine::device::choose_device`]).
    pub device: Option<u32>,
    /// The CUDA devices that batches and [`crate::run_all`] are spread over, while one run is made on `device`. Where
    /// the set is empty: on `device`, if that is given, or those of `FASTLBP_DEVICE`, or else all that there are.
    pub devices: DeviceSet,
    /// Whether tables with local structure run as what they are (see [`crate::structure`]) instead
    /// of entry by entry; results differ by rounding only. True unless changed.
    pub compile_tables: bool,
}

impl EngineOptions {
    /// The number of CPU threads that may be used: `threads`, or one per physical core that the process may use.
    pub fn thread_limit(&self) -> usize {
        self.threads.unwrap_or_else(physical_cores).max(1)
    }
}

impl Default for EngineOptions {
    fn default() -> Self {
        Self {
            backend: Backend::Auto,
            threads: None,
            device: None,
            devices: DeviceSet::NONE,
            compile_tables: true,
        }
    }
}
