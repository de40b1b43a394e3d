//! The kernels of the engine, as they were compiled ahead.

use super::driver::{Current, Device, Module};
use super::lzma2;
use crate::error::{Error, Result};
use std::sync::Arc;

/// A file of cuda/ptx.
macro_rules! compressed {
    ($name:literal) => {
        include_bytes!(concat!("../../../cuda/ptx/", $name))
    };
}

/// What cuda/build-ptx makes of one source, compressed as LZMA2.
pub(super) struct Kernels {
    name: &'static str,
    /// For every device from some compute capability on that there is and will be.
    ptx: &'static [u8],
    /// What devices of compute capability 9.0, and only those, load as it is: the driver would take up to
    /// half a minute to compile the PTX.
    binary: Option<&'static [u8]>,
}

/// Those of cuda/binary.cu.
pub(super) static BINARY: Kernels = Kernels {
    name: "binary",
    ptx: compressed!("binary.sm_70.ptx.lzma2"),
    binary: Some(compressed!("binary.sm_90.cubin.lzma2")),
};

/// Those of cuda/general.cu.
pub(super) static GENERAL: Kernels = Kernels {
    name: "general",
    ptx: compressed!("general.sm_70.ptx.lzma2"),
    binary: Some(compressed!("general.sm_90.cubin.lzma2")),
};

/// Those of cuda/probe.cu.
pub(super) static PROBE: Kernels =
    Kernels { name: "probe", ptx: compressed!("probe.sm_70.ptx.lzma2"), binary: None };

/// Those of cuda/probe_cluster.cu, for devices of compute capability 9.0 and more.
pub(super) static PROBE_CLUSTER: Kernels = Kernels {
    name: "probe_cluster",
    ptx: compressed!("probe_cluster.sm_90.ptx.lzma2"),
    binary: None,
};

impl Kernels {
    /// Loads them for the device of a context, where they are not yet.
    pub(super) fn load(&self, current: &Current) -> Result<Arc<Module>> {
        Module::load(current, self.name, || self.image(current.device()))
    }

    /// As [`Self::load`], from what [`Self::image`] has made.
    pub(super) fn load_image(&self, current: &Current, image: Vec<u8>) -> Result<Arc<Module>> {
        Module::load(current, self.name, || Ok(image))
    }

    /// What the driver loads on a device. Takes tens of milliseconds on all threads.
    pub(super) fn image(&self, device: Device) -> Result<Vec<u8>> {
        let capability = device.compute_capability()?;
        let compressed = self.binary.filter(|_| capability == (9, 0)).unwrap_or(self.ptx);
        lzma2::expanded(compressed)?.map_err(|error| {
            Error::Device(format!("CUDA: expanding the kernels '{}': {error}", self.name))
        })
    }
}
