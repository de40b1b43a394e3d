//! What host and device share, each struct and each number once: `cuda/engine/interface.cuh` is made from these files, and says
//! where each field must be.
//!
//! To add a field or a constant, write it here and run `FASTLBP_UPDATE_HEADER=1 cargo test --lib interface`, then `cuda/build-ptx`;
//! `declare` tells what can be said. Nothing here decides anything: what a field means to one side only is told where that side
//! uses it.

mod address;
pub(super) mod arithmetic;
pub(super) mod binary;
mod bits;
mod counter;
mod declare;
pub(super) mod factors;
pub(super) mod general;
#[cfg(test)]
mod header;
pub(super) mod run;
pub(super) mod words;

pub(super) use address::{Address, ReadOnly};
pub(super) use bits::Bits;

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn the_header_is_up_to_date() {
        let header = header::render(&[
            ("Of cuda/arithmetic: where the host expects fields.", false, arithmetic::items()),
            ("Runs.", false, run::items()),
            ("Factors of any kind.", false, factors::items()),
            ("Words of the binary program.", false, words::items()),
            ("The binary program.", true, binary::items()),
            ("The general program.", false, general::items()),
        ]);
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("cuda/engine/interface.cuh");
        if std::env::var_os("FASTLBP_UPDATE_HEADER").is_some_and(|value| value == "1") {
            std::fs::write(&path, &header).expect("cuda/engine/interface.cuh can be written");
            return;
        }
        let checked_in = std::fs::read_to_string(&path).unwrap_or_default();
        let differing = header.lines().zip(checked_in.lines()).position(|(new, old)| new != old);
        assert!(
            header == checked_in,
            "cuda/engine/interface.cuh, line {}, differs from src/engine/cuda/interface; run \
             FASTLBP_UPDATE_HEADER=1 cargo test --lib interface, and cuda/build-ptx",
            differing.unwrap_or_else(|| header.lines().count().min(checked_in.lines().count())) + 1
        );
    }
}
