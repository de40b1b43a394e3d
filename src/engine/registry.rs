//! The backends of this build. A new backend is a module with a [`Provider`], a name in
//! [`super::Backend`], and a line here.

use super::interface::Provider;
use super::{cpu, cuda};

/// The processor, which serves every request, and then the devices.
pub(super) const BACKENDS: &[&dyn Provider] = &[&cpu::Cpu, &cuda::Cuda];
