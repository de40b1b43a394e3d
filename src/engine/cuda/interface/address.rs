//! Addresses of the device's memory, which say what is there.

use crate::engine::cuda::driver::{DeviceBuffer, Element};
use cust::memory::DeviceCopy;
use std::marker::PhantomData;

macro_rules! address {
    ($(#[doc = $doc:literal])* $name:ident) => {
        $(#[doc = $doc])*
        #[repr(transparent)]
        pub(in crate::engine::cuda) struct $name<T>(u64, PhantomData<fn() -> T>);

        impl<T> $name<T> {
            /// Of nothing.
            pub(in crate::engine::cuda) const NULL: Self = Self(0, PhantomData);
        }

        impl<T, E: Element> From<&DeviceBuffer<E>> for $name<T> {
            fn from(buffer: &DeviceBuffer<E>) -> Self {
                (*buffer.address()).into()
            }
        }

        impl<T> From<u64> for $name<T> {
            fn from(address: u64) -> Self {
                Self(address, PhantomData)
            }
        }

        impl<T> Clone for $name<T> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<T> Copy for $name<T> {}

        impl<T> Default for $name<T> {
            fn default() -> Self {
                Self::NULL
            }
        }

        impl<T> PartialEq for $name<T> {
            fn eq(&self, other: &Self) -> bool {
                self.0 == other.0
            }
        }

        impl<T> std::fmt::Debug for $name<T> {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(formatter, "{:#x}", self.0)
            }
        }

        // SAFETY: a number.
        unsafe impl<T> DeviceCopy for $name<T> {}
        // SAFETY: a number.
        unsafe impl<T: 'static> Element for $name<T> {}
    };
}

address! {
    /// Where things are that kernels may write: `T *`.
    Address
}
impl<T> Address<T> {
    pub(in crate::engine::cuda) fn is_null(self) -> bool {
        self.0 == 0
    }
}

address! {
    /// Where things are that kernels only read: `const T *`.
    ReadOnly
}
