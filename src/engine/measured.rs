//! Structs of measured numbers: each with its value next to it.

/// Makes a struct of numbers for the files around, and its constant `MEASURED` with these values.
macro_rules! measured {
    ($(#[$attribute:meta])* struct $name:ident {
        $($(#[$documentation:meta])* $field:ident: $type:ty = $value:expr,)*
    }) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug)]
        pub(super) struct $name {
            $($(#[$documentation])* pub(super) $field: $type,)*
        }

        impl $name {
            pub(super) const MEASURED: Self = Self { $($field: $value,)* };
        }
    };
}
