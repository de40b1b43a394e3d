//! Gives the shared library its SONAME; without it a consumer records the build path it was linked from.
//! Says whether CUDA is built in: `cfg(cuda)`.
fn main() {
    println!("cargo::rustc-check-cfg=cfg(cuda)");
    let target = |name: &str| std::env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    if std::env::var_os("CARGO_FEATURE_CUDA").is_some()
        && target("OS") == "linux"
        && matches!(target("ARCH").as_str(), "x86_64" | "aarch64")
    {
        println!("cargo::rustc-cfg=cuda");
    }
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libfastlbp.so.0");
        // Its threads may outlive a dlclose.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
