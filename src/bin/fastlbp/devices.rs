//! `fastlbp devices`: the CUDA devices, or why there are none.

use crate::failure::{Failure, Outcome};
use crate::standard_streams::print;
use fastlbp::Error;
use fastlbp::engine::device::{
    DeviceInfo, DeviceMemory, DeviceTimes, check_device, device_count, device_info, device_memory,
    driver_version,
};
use serde::Serialize;
use std::fmt::Write;

/// List the CUDA devices, or say why there are none
///
/// Their numbers are those of --device and of the environment variable FASTLBP_DEVICE.
#[derive(clap::Args)]
pub struct Arguments {
    /// Try on each device what iterations need of it, and show what that takes
    #[arg(long)]
    check: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Listing {
    /// The CUDA version that the driver supports.
    cuda: Option<String>,
    /// Why there are no devices.
    reason: Option<String>,
    devices: Vec<Device>,
}

#[derive(Serialize)]
struct Device {
    index: u32,
    name: String,
    compute_capability: String,
    multiprocessors: u32,
    total_memory: u64,
    /// `null` where the device cannot be used.
    free_memory: Option<u64>,
    /// Why it cannot be used.
    reason: Option<String>,
    /// `null` without `--check` and where it fails.
    check: Option<Times>,
}

#[derive(Serialize)]
struct Times {
    kernel: f64,
    barrier: f64,
    cluster_barrier: Option<f64>,
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> Outcome {
    let listing = match list(arguments.check) {
        Ok(listing) => listing,
        // Not a failure: this is what was asked.
        Err(error @ Error::NoDevice(_)) => {
            Listing { cuda: None, reason: Some(error.to_string()), devices: Vec::new() }
        }
        Err(error) => return Err(error.into()),
    };
    if !arguments.json {
        return print(&table(&listing));
    }
    let json = serde_json::to_string_pretty(&listing)
        .map_err(|error| Failure::other(format!("the list of devices: {error}")))?;
    print(&format!("{json}\n"))
}

fn list(check: bool) -> Result<Listing, Error> {
    let version = driver_version()?;
    let devices = (0..device_count()?).map(|index| Ok(describe(device_info(index)?, check)));
    let devices = devices.collect::<Result<_, Error>>()?;
    Ok(Listing { cuda: Some(version.to_string()), reason: None, devices })
}

fn describe(info: DeviceInfo, check: bool) -> Device {
    let attempt = || -> Result<(DeviceMemory, Option<DeviceTimes>), Error> {
        let memory = device_memory(info.index)?;
        Ok((memory, if check { Some(check_device(info.index)?) } else { None }))
    };
    let (usable, reason) = match attempt() {
        Ok(usable) => (Some(usable), None),
        Err(error) => (None, Some(error.to_string())),
    };
    let (major, minor) = info.compute_capability;
    Device {
        index: info.index,
        name: info.name,
        compute_capability: format!("{major}.{minor}"),
        multiprocessors: info.multiprocessors,
        total_memory: info.total_memory,
        free_memory: usable.map(|(memory, _)| memory.free),
        reason,
        check: usable.and_then(|(_, times)| times).map(|times| Times {
            kernel: times.kernel,
            barrier: times.barrier,
            cluster_barrier: times.cluster_barrier,
        }),
    }
}

fn table(listing: &Listing) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    if let Some(reason) = &listing.reason {
        let _ = writeln!(text, "no CUDA devices: {reason}");
    }
    if let Some(version) = &listing.cuda {
        let _ = writeln!(text, "driver: CUDA {version}");
    }
    let gibibytes = |bytes: u64| bytes as f64 / f64::from(1 << 30);
    for device in &listing.devices {
        let _ = write!(
            text,
            "{}: {}, compute capability {}, {} multiprocessors, {:.1} GiB",
            device.index,
            device.name,
            device.compute_capability,
            device.multiprocessors,
            gibibytes(device.total_memory)
        );
        if let Some(free) = device.free_memory {
            let _ = write!(text, ", {:.1} GiB free", gibibytes(free));
        }
        text.push('\n');
        if let Some(reason) = &device.reason {
            let _ = writeln!(text, "   cannot be used: {reason}");
        }
        if let Some(times) = &device.check {
            let microseconds = |seconds: f64| format!("{:.2} us", seconds * 1e6);
            let _ = write!(
                text,
                "   check passed: kernel in a graph {}, barrier over all multiprocessors {}",
                microseconds(times.kernel),
                microseconds(times.barrier)
            );
            if let Some(time) = times.cluster_barrier {
                let _ = write!(text, ", over a cluster {}", microseconds(time));
            }
            text.push('\n');
        }
    }
    text
}
