//! Functions that are one jump: how `names` and `forwards` define the driver's names.

/// Defines a hidden function for each name, which jumps to the item of that name in `$targets`. How it jumps is the
/// text of the instructions, cut at each place where it refers to the item.
macro_rules! jumps {
    ($targets:ident, [$($name:ident),*], x86_64: $x86_64:tt, aarch64: $aarch64:tt) => {
        #[cfg(target_arch = "x86_64")]
        jumps!(@ $targets, [$($name),*], ", @function\n", $x86_64);
        #[cfg(target_arch = "aarch64")]
        jumps!(@ $targets, [$($name),*], ", %function\n", $aarch64);
    };
    (@ $targets:ident, [$($name:ident),*], $type:literal, $jump:tt) => {
        std::arch::global_asm!(
            ".text",
            $(concat!(
                ".globl ", stringify!($name), "\n.hidden ", stringify!($name), "\n.type ",
                stringify!($name), $type, stringify!($name), ": ", jumps!(# $name $jump),
            ),)*
            $($name = sym $targets::$name,)*
        );
    };
    (# $name:ident [$start:literal $(, $next:literal)*]) => {
        concat!($start $(, "{", stringify!($name), "}", $next)*)
    };
}
