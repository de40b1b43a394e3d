//! How much unit tests do: usually what finds mistakes within minutes; with `FASTLBP_TEST_DEEP`, as `scripts/test-deep`
//! sets it, more.

/// Whether tests do all that they can.
pub(crate) fn is_deep() -> bool {
    std::env::var_os("FASTLBP_TEST_DEEP").is_some()
}

/// A number of random cases.
pub(crate) fn cases(usual: u32, deep: u32) -> u32 {
    if is_deep() { deep } else { usual }
}
