//! The bodies of the functions of the header, in one line each: a pointer goes in, and what it stands for comes
//! out, or the call returns the status that says what was wrong with it.
//!
//! The outer macros ([`read`], [`change`], [`of_graph`], [`call`]) are a whole body: they open the only unsafe
//! block of a function. The inner ones ([`array`], [`text`], [`put`], [`fill`]) stand inside and name each
//! argument once, for its error text too. All rest on the contract of the header: a handle is NULL or live; every
//! other pointer is NULL or what its type and comment say, for as long as the call lasts.
//!
//! Signatures stay outside of macros, since cbindgen reads them; where functions of one line follow each other,
//! [`functions`] writes what is the same in all, and `tests/header.rs` does so for cbindgen.

/// Functions with bodies of one line, each of which is one of the macros below:
///
/// ```text
/// functions! {
///     /// The documentation.
///     fn fastlbp_bp_set_start(bp: *mut fastlbp_bp, start: u32) =>
///         change!(bp, |session| set_start(session, start));
/// }
/// ```
macro_rules! functions {
    ($($(#[$attribute:meta])* fn $name:ident($($parameter:ident: $type:ty),*) => $body:expr;)*) => {$(
        $(#[$attribute])*
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($parameter: $type),*) -> fastlbp_status {
            $body
        }
    )*};
}

/// A call that reads a handle; any number of them run at the same time: `read!(bp, |session| ...)`.
macro_rules! read {
    ($handle:ident, |$state:ident| $body:expr) => {
        // SAFETY: the contract of the header, see the head of this file.
        unsafe { $crate::ffi::guard::read($handle, |$state| Ok($body?)) }
    };
}

/// A call that changes a handle; it excludes all others: `change!(bp, |session| ...)`.
macro_rules! change {
    ($handle:ident, |$state:ident| $body:expr) => {
        // SAFETY: the contract of the header, see the head of this file.
        unsafe { $crate::ffi::guard::write($handle, |$state| Ok($body?)) }
    };
}

/// A call that reads the built graph of a graph handle: `of_graph!(graph, |graph| ...)`.
macro_rules! of_graph {
    ($handle:ident, |$graph:ident| $body:expr) => {
        // SAFETY: the contract of the header, see the head of this file.
        unsafe { $crate::ffi::guard::read($handle, |state| state.read(|$graph| Ok($body?))) }
    };
}

/// A call without a handle: `call!(...)`.
macro_rules! call {
    ($body:expr) => {
        // SAFETY: the contract of the header, see the head of this file.
        $crate::ffi::guard::enter(|| unsafe { Ok($body?) })
    };
}

/// An array to read: `array!(labels, count)` is a slice, empty for NULL with length 0.
macro_rules! array {
    ($pointer:ident, $length:expr) => {
        $crate::ffi::arguments::array(stringify!($pointer), $pointer, $length)?
    };
}

/// Lists of lists: `lists!(count, body_offsets, bodies, bodies_length)`, with an offset for each of `count` lists and for
/// the end. Of no lists, no offset is read.
macro_rules! lists {
    ($count:ident, $offsets:ident, $entries:ident, $length:ident) => {
        $crate::model::Lists {
            offsets: if $count == 0 { &[0] } else { array!($offsets, $count.saturating_add(1)) },
            entries: array!($entries, $length),
        }
    };
}

/// The pairs of the entries of two arrays: `pairs!(variables, states, count)`.
macro_rules! pairs {
    ($first:ident, $second:ident, $count:ident) => {{
        let (first, second) = (array!($first, $count), array!($second, $count));
        first.iter().copied().zip(second.iter().copied())
    }};
}

/// A string to read: `text!(key)`.
macro_rules! text {
    ($pointer:ident) => {
        $crate::ffi::arguments::text(stringify!($pointer), $pointer)?
    };
}

/// Writes one result, which is computed only if there is a place for it: `put!(out, value)`.
macro_rules! put {
    ($out:ident, $value:expr) => {{
        let place = $crate::ffi::arguments::Output::new(stringify!($out), $out)?;
        place.set($value);
        $crate::ffi::status::DONE
    }};
}

/// Writes an array of results, which is computed only if there is a buffer: `fill!(buffer, length, needed,
/// values)`, or `fill!(buffer, length, needed, count, |index| value)` one by one.
macro_rules! fill {
    ($buffer:ident, $length:ident, $needed:ident, $count:expr, |$index:tt| $value:expr) => {{
        let buffer = $crate::ffi::arguments::Buffer::new($buffer, $length, $needed)?;
        buffer.fill_with($count, |$index| $value)
    }};
    ($buffer:ident, $length:ident, $needed:ident, $values:expr) => {{
        let buffer = $crate::ffi::arguments::Buffer::new($buffer, $length, $needed)?;
        buffer.fill($values)
    }};
}

/// Writes a result for each entry of an array, or none if one fails: `each!("indices", labels, count, out, |label|
/// value)`.
macro_rules! each {
    ($what:literal, $array:ident, $count:ident, $out:ident, |$entry:ident| $value:expr) => {{
        let entries = array!($array, $count);
        let out = $crate::ffi::arguments::Buffer::array(stringify!($out), $out, $count)?;
        out.fill_each($what, entries, |$entry| $value)
    }};
}

/// Makes an object of the header of an opaque type: `object!(fastlbp_bp, Session)` for
/// `struct fastlbp_bp(Guarded<Session>)`.
macro_rules! object {
    ($handle:ident, $state:ty) => {
        impl $crate::ffi::guard::Object for $handle {
            type State = $state;
            const NAME: &'static str = stringify!($handle);

            fn wrap(guarded: Guarded<$state>) -> Self {
                Self(guarded)
            }
            fn guarded(&self) -> &Guarded<$state> {
                &self.0
            }
        }
    };
}
