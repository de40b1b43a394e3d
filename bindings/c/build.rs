//! Gives the shared library its SONAME; without it a consumer records the build path it was linked from.

use std::env;
use std::path::Path;

const SONAME: &str = "libfastlbp.so.0";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    match env::var("CARGO_CFG_TARGET_OS").unwrap_or_default().as_str() {
        "linux" => {
            println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,{SONAME}");
            // Its threads may outlive a dlclose.
            println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
            link_soname(Path::new(SONAME));
        }
        "macos" => {
            println!("cargo::rustc-cdylib-link-arg=-Wl,-install_name,@rpath/libfastlbp.0.dylib");
        }
        _ => {}
    }
}

/// Makes the link SONAME -> libfastlbp.so in target/PROFILE, where programs find the library that were linked with it there.
/// Without it, only such programs do not start; so it is no error if it cannot be made.
fn link_soname(name: &Path) {
    let Some(out) = env::var_os("OUT_DIR") else { return };
    // target/PROFILE/build/fastlbp-c-HASH/out
    let Some(profile) = Path::new(&out).ancestors().nth(3) else { return };
    #[cfg(unix)]
    if !profile.join(name).exists() {
        let _ = std::os::unix::fs::symlink("libfastlbp.so", profile.join(name));
    }
    #[cfg(not(unix))]
    let _ = (profile, name);
}
