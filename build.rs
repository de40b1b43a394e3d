//! Gives the shared library its SONAME; without it a consumer records the build path it was linked from.
//! Says whether CUDA is built in: `cfg(cuda)`, and the second line of `fastlbp --version`. Compresses the kernels that src/engine/cuda/kernels.rs embeds:
//! they are text and tables, five times as large otherwise.

use std::io::Write;
use std::path::Path;
use std::{env, fs, io};

const SONAME: &str = "libfastlbp.so.0";

fn main() -> io::Result<()> {
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
        println!("cargo::rerun-if-changed=cuda/ptx");
        compress(Path::new("cuda/ptx"), &["ptx", "cubin"])?;
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
    Ok(())
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

/// Writes each file of a directory that has one of these endings to OUT_DIR, as NAME.zlib.
fn compress(directory: &Path, endings: &[&str]) -> io::Result<()> {
    let out = env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?;
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let wanted = |found: &std::ffi::OsStr| endings.iter().any(|ending| found == *ending);
        let Some(name) = path.file_name().filter(|_| path.extension().is_some_and(wanted)) else {
            continue;
        };
        let mut to = Path::new(&out).join(name).into_os_string();
        to.push(".zlib");
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(&fs::read(&path)?)?;
        fs::write(to, encoder.finish()?)?;
    }
    Ok(())
}
