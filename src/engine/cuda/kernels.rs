//! The kernels of the engine, as they were compiled ahead.

use super::driver::{Current, Module};
use crate::error::Result;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

/// What cuda/build-ptx makes of one source.
struct Kernels {
    name: &'static str,
    /// PTX and the compute capability from which on it can be used, the lowest first.
    ptx: &'static [((u32, u32), &'static str)],
    /// What devices of compute capability 9.0 load as it is: the driver would take up to half a minute to
    /// compile the PTX.
    binary: &'static [u8],
}

static BINARY: Kernels = Kernels {
    name: "binary",
    ptx: &[
        ((7, 0), include_str!("../../../cuda/ptx/binary.sm_70.ptx")),
        ((9, 0), include_str!("../../../cuda/ptx/binary.sm_90.ptx")),
    ],
    binary: include_bytes!("../../../cuda/ptx/binary.sm_90.cubin"),
};

static GENERAL: Kernels = Kernels {
    name: "general",
    ptx: &[((7, 0), include_str!("../../../cuda/ptx/general.sm_70.ptx"))],
    binary: include_bytes!("../../../cuda/ptx/general.sm_90.cubin"),
};

/// The modules that are in use, by device and name: each is loaded once, however many engines there are.
static LOADED: Mutex<BTreeMap<(u32, &'static str), Weak<Module>>> = Mutex::new(BTreeMap::new());

/// Those of cuda/binary.cu, for the device of a context.
pub(super) fn binary(current: &Current) -> Result<Arc<Module>> {
    BINARY.load(current)
}

/// Those of cuda/general.cu, for the device of a context.
pub(super) fn general(current: &Current) -> Result<Arc<Module>> {
    GENERAL.load(current)
}

impl Kernels {
    fn load(&self, current: &Current) -> Result<Arc<Module>> {
        // Others that need the same wait here instead of loading it as well.
        let mut loaded = LOADED.lock();
        let key = (current.device().index(), self.name);
        if let Some(module) = loaded.get(&key).and_then(Weak::upgrade) {
            return Ok(module);
        }
        let capability = current.device().compute_capability()?;
        let module = if capability == (9, 0) {
            Module::load_binary(current, self.binary, self.name)?
        } else {
            let usable = self.ptx.partition_point(|&(lowest, _)| lowest <= capability);
            // A device older than the first cannot have a context.
            Module::load(current, self.ptx[usable.max(1) - 1].1, self.name)?
        };
        loaded.insert(key, Arc::downgrade(&module));
        Ok(module)
    }
}
