//! The kernels of the engine, as they were compiled ahead.

use super::driver::{Current, Module};
use crate::error::{Error, Result};
use flate2::read::ZlibDecoder;
use std::io::Read;
use std::sync::Arc;

/// A file of cuda/ptx, as the build script has compressed it.
macro_rules! compressed {
    ($name:literal) => {
        include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".zlib"))
    };
}

/// What cuda/build-ptx makes of one source, compressed.
struct Kernels {
    name: &'static str,
    /// PTX and the compute capability from which on it can be used, the lowest first: for every device
    /// there is and will be.
    ptx: &'static [((u32, u32), &'static [u8])],
    /// What devices of compute capability 9.0, and only those, load as it is: the driver would take up to
    /// half a minute to compile the PTX.
    binary: &'static [u8],
}

static BINARY: Kernels = Kernels {
    name: "binary",
    ptx: &[((7, 0), compressed!("binary.sm_70.ptx")), ((9, 0), compressed!("binary.sm_90.ptx"))],
    binary: compressed!("binary.sm_90.cubin"),
};

static GENERAL: Kernels = Kernels {
    name: "general",
    ptx: &[((7, 0), compressed!("general.sm_70.ptx"))],
    binary: compressed!("general.sm_90.cubin"),
};

/// Those of cuda/binary.cu, for the device of a context.
pub(super) fn binary(current: &Current) -> Result<Arc<Module>> {
    BINARY.load(current)
}

/// Those of cuda/general.cu, for the device of a context.
pub(super) fn general(current: &Current) -> Result<Arc<Module>> {
    GENERAL.load(current)
}

impl Kernels {
    /// Loads them, where they are not yet.
    fn load(&self, current: &Current) -> Result<Arc<Module>> {
        let capability = current.device().compute_capability()?;
        Module::load(current, self.name, || {
            if capability == (9, 0) {
                return self.expand(self.binary);
            }
            let usable = self.ptx.partition_point(|&(lowest, _)| lowest <= capability);
            // A device older than the first cannot have a context.
            self.expand(self.ptx[usable.max(1) - 1].1)
        })
    }

    fn expand(&self, compressed: &[u8]) -> Result<Vec<u8>> {
        let mut content = Vec::new();
        ZlibDecoder::new(compressed).read_to_end(&mut content).map_err(|error| {
            Error::Device(format!("CUDA: expanding the kernels '{}': {error}", self.name))
        })?;
        Ok(content)
    }
}
