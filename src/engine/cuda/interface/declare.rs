//! The macro by which files of this folder say what host and device share.

/// Defines what host and device share, and `items`, which describes it for the header, in the order in which it stands. Comments
/// go to both sides. What can be in it:
///
/// * `struct Name { field: Type, ... }`, with fields of types that have a name on the device (`header::DeviceType`) and no gaps
///   between them. `struct Name as Other` has the name `Other` on the device.
/// * `base struct Name { ... }`: the device adds functions, in a struct `Name` that is derived from the one of the header, which is
///   `NameData` there.
/// * `arithmetic struct Name { ... }` or `arithmetic type path as Name { field as field, ... }`: cuda/arithmetic has a struct with these
///   fields; the header says only where they must be.
/// * `enum Name { Variant = NAME = number, ... }`: the device's name of each value stands before it.
/// * `word name { FIELD: first..end, ... }`: a word with a number in the bits from `first` on, up to before `end`, or with a flag in one
///   bit. The host has `name::FIELD`, of type `Bits`; the device the macro `name_field(word)`, and the constants `NAME_FIELD` of a
///   flag, else `NAME_FIELD_SHIFT` and `NAME_FIELD_MASK`.
/// * `const NAME: type = value;`, where `usize` is `uint32_t` of the device; `arithmetic const NAME: type = value, is NAME;`, of which
///   cuda/arithmetic has the same under the other name; `arithmetic number value, is NAME;`, if the host has it elsewhere, too.
macro_rules! device_interface {
    (@ [$($done:tt)*]) => {
        /// What this file defines.
        #[cfg(test)]
        pub(super) fn items() -> Vec<super::header::Item> {
            vec![$($done)*]
        }
    };

    (@ [$($done:tt)*] $(#[doc = $doc:literal])* struct $name:ident { $($fields:tt)* } $($rest:tt)*) => {
        device_interface! {
            @struct [$($done)*] Plain $(#[doc = $doc])* $name ($name) { $($fields)* } $($rest)*
        }
    };
    (@ [$($done:tt)*] $(#[doc = $doc:literal])* struct $name:ident as $there:ident { $($fields:tt)* } $($rest:tt)*) => {
        device_interface! {
            @struct [$($done)*] Plain $(#[doc = $doc])* $name ($there) { $($fields)* } $($rest)*
        }
    };
    (@ [$($done:tt)*] $(#[doc = $doc:literal])* base struct $name:ident { $($fields:tt)* } $($rest:tt)*) => {
        device_interface! {
            @struct [$($done)*] Base $(#[doc = $doc])* $name ($name) { $($fields)* } $($rest)*
        }
    };
    (@ [$($done:tt)*] $(#[doc = $doc:literal])* base struct $name:ident as $there:ident { $($fields:tt)* } $($rest:tt)*) => {
        device_interface! {
            @struct [$($done)*] Base $(#[doc = $doc])* $name ($there) { $($fields)* } $($rest)*
        }
    };
    (@ [$($done:tt)*] $(#[doc = $doc:literal])* arithmetic struct $name:ident { $($fields:tt)* } $($rest:tt)*) => {
        device_interface! {
            @struct [$($done)*] Arithmetic $(#[doc = $doc])* $name ($name) { $($fields)* } $($rest)*
        }
    };
    (
        @ [$($done:tt)*] $(#[doc = $doc:literal])* arithmetic struct $name:ident as $there:ident { $($fields:tt)* }
        $($rest:tt)*
    ) => {
        device_interface! {
            @struct [$($done)*] Arithmetic $(#[doc = $doc])* $name ($there) { $($fields)* } $($rest)*
        }
    };
    (
        @struct [$($done:tt)*] $kind:ident $(#[doc = $doc:literal])* $name:ident ($there:ident) {
            $($(#[doc = $field_doc:literal])* $field:ident: $type:ty,)*
        }
        $($rest:tt)*
    ) => {
        $(#[doc = $doc])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug, Default, PartialEq, cust::memory::DeviceCopy)]
        pub(in crate::engine::cuda) struct $name {
            $($(#[doc = $field_doc])* pub $field: $type,)*
        }

        // SAFETY: numbers without gaps, as the assertion says.
        unsafe impl crate::engine::cuda::driver::Element for $name {}
        // SAFETY: numbers.
        unsafe impl crate::memory::AllZero for $name {}

        const _: () = assert!(size_of::<$name>() == 0 $(+ size_of::<$type>())*, "a gap between fields");

        #[cfg(test)]
        impl super::header::DeviceType for $name {
            fn declare(variable: &str) -> String {
                format!("{} {variable}", stringify!($there))
            }
        }

        device_interface! {
            @ [$($done)* super::header::Item::Struct {
                docs: &[$($doc),*],
                name: stringify!($there),
                kind: super::header::StructKind::$kind,
                fields: vec![$(super::header::Field {
                    docs: &[$($field_doc),*],
                    name: stringify!($field),
                    declaration: <$type as super::header::DeviceType>::declare(stringify!($field)),
                    offset: std::mem::offset_of!($name, $field),
                }),*],
                size: size_of::<$name>(),
            },]
            $($rest)*
        }
    };

    (
        @ [$($done:tt)*] arithmetic type $path:path as $there:ident { $($field:tt as $field_there:ident,)* }
        $($rest:tt)*
    ) => {
        #[cfg(test)]
        impl super::header::DeviceType for $path {
            fn declare(variable: &str) -> String {
                format!("{} {variable}", stringify!($there))
            }
        }

        device_interface! {
            @ [$($done)* super::header::Item::Struct {
                docs: &[],
                name: stringify!($there),
                kind: super::header::StructKind::Arithmetic,
                fields: vec![$(super::header::Field {
                    docs: &[],
                    name: stringify!($field_there),
                    declaration: String::new(),
                    offset: std::mem::offset_of!($path, $field),
                }),*],
                size: size_of::<$path>(),
            },]
            $($rest)*
        }
    };

    (
        @ [$($done:tt)*] $(#[doc = $doc:literal])* enum $name:ident {
            $($(#[doc = $value_doc:literal])* $value:ident = $there:ident = $number:literal,)*
        }
        $($rest:tt)*
    ) => {
        $(#[doc = $doc])*
        #[repr(u32)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(dead_code, reason = "some values are the device's only")]
        pub(in crate::engine::cuda) enum $name {
            $($(#[doc = $value_doc])* $value = $number,)*
        }

        device_interface! {
            @ [$($done)* super::header::Item::Enum {
                docs: &[$($doc),*],
                name: stringify!($name),
                values: vec![$((&[$($value_doc),*], stringify!($there), $number)),*],
            },]
            $($rest)*
        }
    };

    (
        @ [$($done:tt)*] $(#[doc = $doc:literal])* word $name:ident {
            $($(#[doc = $field_doc:literal])* $field:ident: $first:literal..$end:literal,)*
        }
        $($rest:tt)*
    ) => {
        $(#[doc = $doc])*
        #[allow(dead_code, reason = "the device sets some bits itself")]
        pub(in crate::engine::cuda) mod $name {
            use crate::engine::cuda::interface::Bits;

            $($(#[doc = $field_doc])* pub(in crate::engine::cuda) const $field: Bits = Bits::new($first, $end);)*
        }

        device_interface! {
            @ [$($done)* super::header::Item::Word {
                docs: &[$($doc),*],
                name: stringify!($name),
                fields: vec![$((&[$($field_doc),*], stringify!($field), $name::$field)),*],
            },]
            $($rest)*
        }
    };

    (@ [$($done:tt)*] $(#[doc = $doc:literal])* const $name:ident: $type:ty = $value:expr; $($rest:tt)*) => {
        $(#[doc = $doc])*
        pub(in crate::engine::cuda) const $name: $type = $value;

        device_interface! {
            @ [$($done)* super::header::Item::Constant {
                docs: &[$($doc),*],
                declaration: <$type as super::header::DeviceType>::declare(stringify!($name)),
                value: $name as u64,
            },]
            $($rest)*
        }
    };
    (
        @ [$($done:tt)*] $(#[doc = $doc:literal])* arithmetic const $name:ident: $type:ty = $value:expr, is $there:ident;
        $($rest:tt)*
    ) => {
        $(#[doc = $doc])*
        pub(in crate::engine::cuda) const $name: $type = $value;

        device_interface! {
            @ [$($done)* super::header::Item::Assertion { name: stringify!($there), value: $name as u64 },]
            $($rest)*
        }
    };

    (@ [$($done:tt)*] arithmetic number $value:expr, is $there:ident; $($rest:tt)*) => {
        device_interface! {
            @ [$($done)* super::header::Item::Assertion { name: stringify!($there), value: u64::from($value) },]
            $($rest)*
        }
    };

    ($($items:tt)*) => {
        device_interface! { @ [] $($items)* }
    };
}
pub(super) use device_interface;
