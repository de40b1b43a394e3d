//! What the driver of devices is told by variables of the environment, which it reads when it starts.
//!
//! Both settings are for this process alone, and what its user has set is not taken back: devices that a list does not show stay
//! hidden.

use fastlbp::EngineOptions;
use fastlbp::engine::device::choose_device;
use std::env;
use std::ffi::OsString;

/// Says how many channels to a device the driver makes.
const CHANNELS: &str = "CUDA_DEVICE_MAX_CONNECTIONS";

/// Lists the devices that the driver shows, and starts.
const VISIBLE: &str = "CUDA_VISIBLE_DEVICES";

/// Devices of one host, as far as is known.
const MOST_DEVICES: u32 = 64;

/// Has the driver make one channel to a device: each run has the device for itself, and a channel takes some 16 ms to make, and 9 at
/// the end of the process (H200, driver 580).
pub fn ask_for_one_channel() {
    if env::var_os(CHANNELS).is_none() {
        set(CHANNELS, "1".into());
    }
}

/// Has the driver start no devices behind the one that runs with such options are made on: each takes 0.2 s, and 40 ms at the end of the
/// process. Those before it stay, as devices are numbered by their places in the list.
pub fn ask_for_one_device(options: &EngineOptions) {
    // What is wrong with the number, the engine says.
    let Ok(device @ ..MOST_DEVICES) = choose_device(options.device) else { return };
    let shown = env::var_os(VISIBLE);
    if let Some(list) = list_up_to(device, shown) {
        set(VISIBLE, list);
    }
}

/// The first devices of a list, or of all, up to one with a number; `None` where the list is no text.
fn list_up_to(device: u32, shown: Option<OsString>) -> Option<OsString> {
    let numbers = || (0..=device).map(|number| number.to_string());
    let Some(shown) = shown else { return Some(joined(numbers()).into()) };
    let shown = shown.to_str()?.split(',').take(device as usize + 1);
    Some(joined(shown.map(str::to_owned)).into())
}

fn joined(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join(",")
}

fn set(name: &str, value: OsString) {
    // SAFETY: at the beginning of the program and of a command, there is no other thread but the one that waits for signals, which
    // reads no environment but by the standard library.
    unsafe { env::set_var(name, value) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_keep_their_numbers() {
        for (device, shown, expected) in [
            (0, None, "0"),
            (2, None, "0,1,2"),
            (0, Some("5,3,7"), "5"),
            (1, Some("5,3,7"), "5,3"),
            (4, Some("5,3,7"), "5,3,7"),
            (0, Some("GPU-8a,GPU-9b"), "GPU-8a"),
            (0, Some(""), ""),
        ] {
            let list = list_up_to(device, shown.map(OsString::from));
            assert_eq!(list, Some(expected.into()), "{device} of {shown:?}");
        }
    }
}
