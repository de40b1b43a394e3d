//! Says whether CUDA is built in: `cfg(cuda)`, and the second line of `fastlbp --version`.

use std::env;

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
}
