//! `fastlbp.devices` and `fastlbp.start_device`.

use crate::errors::raise;
use fastlbp::Error;
use fastlbp::engine::device::{choose_device, device_count, device_info, start_device as start};
use pyo3::prelude::*;

/// Number, name, memory in bytes, compute capability and multiprocessors of each CUDA device, or why there is none.
#[pyfunction]
#[allow(clippy::type_complexity)]
pub fn devices(
    py: Python<'_>,
) -> PyResult<(Vec<(u32, String, u64, (u32, u32), u32)>, Option<String>)> {
    let count = match py.detach(device_count) {
        Err(Error::NoDevice(why)) => return Ok((Vec::new(), Some(why))),
        count => count.map_err(raise)?,
    };
    let describe = |index| {
        let info = device_info(index).map_err(raise)?;
        Ok((
            info.index,
            info.name,
            info.total_memory,
            info.compute_capability,
            info.multiprocessors,
        ))
    };
    Ok(((0..count).map(describe).collect::<PyResult<_>>()?, None))
}

/// Starts the driver on a device.
#[pyfunction]
pub fn start_device(py: Python<'_>, device: Option<u32>) -> PyResult<()> {
    py.detach(|| start(choose_device(device)?)).map_err(raise)
}
