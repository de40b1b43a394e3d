//! Gives the shared library its SONAME; without it a consumer records the build path it was linked from.
//! Says whether CUDA is built in: `cfg(cuda)`, and the second line of `fastlbp --version`.

use std::env;
use std::path::Path;

const SONAME: &str = "libfastlbp.so.0";

fn main() {
    println!("cargo::rustc-check-cfg=cfg(cuda)");
    println!("cargo::rerun-if-changed=build.rs");
    let target = |name: &str| env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    let has_cuda = env::var_os("CARGO_FEATURE_CUDA").is_some()
        && target("OS") == "linux"
        && matches!(target("ARCH").as_str(), "x86_64" | "aarch64");
    let backends = if has_cuda { "cpu, cuda" } else { "cpu" };
    let [triple, profile] = ["TARGET", "PROFILE"].map(|name| env::var(name).unwrap_or_default());
    println!("cargo::rustc-env=FASTLBP_BUILT_IN=built in: {backends} ({triple}, {profile})");
    if has_cuda {
        println!("cargo::rustc-cfg=cuda");
    }
    if target("OS") == "linux" {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,{SONAME}");
        // Its threads may outlive a dlclose.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
        link_soname(Path::new(SONAME));
    }
    if target("OS") == "macos" {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-install_name,@rpath/libfastlbp.0.dylib");
    }
}

/// Makes the link SONAME -> libfastlbp.so in target/PROFILE, where programs find the library that were linked with it there.
/// Only in the tree's own target directory: elsewhere, as in that of a project which depends on the crate, nobody links so.
/// Without the link, only such programs do not start; so it is no error if it cannot be made.
fn link_soname(name: &Path) {
    let (Some(out), Some(tree)) = (env::var_os("OUT_DIR"), env::var_os("CARGO_MANIFEST_DIR"))
    else {
        return;
    };
    // target/PROFILE/build/fastlbp-HASH/out
    let Some(profile) = Path::new(&out).ancestors().nth(3) else { return };
    #[cfg(unix)]
    if profile.starts_with(tree) && !profile.join(name).exists() {
        let _ = std::os::unix::fs::symlink("libfastlbp.so", profile.join(name));
    }
    #[cfg(not(unix))]
    let _ = (profile, tree, name);
}
