//! Gives the shared library its SONAME; without it a consumer records the build path it was linked from.
//! Says whether CUDA is built in: `cfg(cuda)`. Compresses the kernels that src/engine/cuda/kernels.rs embeds:
//! they are text and tables, five times as large otherwise.

use std::io::Write;
use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rustc-check-cfg=cfg(cuda)");
    println!("cargo::rerun-if-changed=build.rs");
    let target = |name: &str| env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    if env::var_os("CARGO_FEATURE_CUDA").is_some()
        && target("OS") == "linux"
        && matches!(target("ARCH").as_str(), "x86_64" | "aarch64")
    {
        println!("cargo::rustc-cfg=cuda");
        println!("cargo::rerun-if-changed=cuda/ptx");
        compress(Path::new("cuda/ptx"), &["ptx", "cubin"])?;
    }
    if target("OS") == "linux" {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libfastlbp.so.0");
        // Its threads may outlive a dlclose.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
    Ok(())
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
