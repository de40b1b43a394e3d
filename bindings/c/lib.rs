//! Nothing of its own: the functions of the C interface are in `src/ffi` of the crate that this one links, and a shared or
//! static library exports what its dependencies do.
extern crate fastlbp as _;
