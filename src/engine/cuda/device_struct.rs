//! Structs that kernels take.

/// Defines a struct that kernels take, with the fields of the struct in cuda/engine that it names, in the same order: the
/// fields of a type stand behind it. Addresses are numbers. The size, which the kernels assert as well, says that there are
/// no gaps.
macro_rules! device_struct {
    ($(#[$note:meta])* $name:ident, $bytes:literal bytes: $($type:ty { $($field:ident),* })*) => {
        $(#[$note])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug, Default, cust::memory::DeviceCopy)]
        pub(super) struct $name {
            $($(pub $field: $type,)*)*
        }

        // SAFETY: numbers without gaps, as the assertion says.
        unsafe impl $crate::engine::cuda::driver::Element for $name {}

        const _: () = assert!(size_of::<$name>() == $bytes);
    };
}
pub(super) use device_struct;
