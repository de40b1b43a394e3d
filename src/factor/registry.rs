//! The macro that makes all lists of kinds of factors from one table.

/// Makes, from the table in `factor/mod.rs`, the enum [`FactorKind`](super::FactorKind), the enum of views
/// [`Factor`](super::Factor), the stores of parameters, the scratch space of messages, and the calls of the
/// traits [`Kind`](super::kind::Kind) and [`Store`](super::kind::Store), each one `match`.
///
/// A group of lines names the store that its kinds share; a line is a kind: its number, which the C interface
/// shows, its name in files and errors, and the type of its view, which implements `Kind`. `($)` stands in front
/// of the table because a macro that defines a macro cannot write `$` otherwise.
macro_rules! kinds {
    (
        ($d:tt)
        $($store:ident: $Store:ty {
            $($(#[$doc:meta])* $Kind:ident = $number:literal, $name:literal, $View:ty;)+
        })+
    ) => {
        /// Kind of a factor (`semantics.md` section 1; paper section 3).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum FactorKind {
            $($($(#[$doc])* $Kind = $number,)+)+
        }

        impl FactorKind {
            /// All kinds, in the order of their numbers.
            pub const ALL: [Self; [$($(Self::$Kind,)+)+].len()] = [$($(Self::$Kind,)+)+];

            /// The field's name of the kind, in lower case.
            pub fn name(self) -> &'static str {
                match self {
                    $($(Self::$Kind => $name,)+)+
                }
            }

            /// See [`Store::HAS_HEAD`].
            pub(crate) fn has_head(self) -> bool {
                match self {
                    $($(Self::$Kind)|+ => <$Store as Store>::HAS_HEAD,)+
                }
            }

            /// See [`Store::CONJUNCTION`].
            #[inline(always)]
            pub(crate) fn conjunction(self) -> Option<Conjunction> {
                match self {
                    $($(Self::$Kind)|+ => <$Store as Store>::CONJUNCTION,)+
                }
            }
        }

        // Numbers count the kinds, so that they can be indices.
        const _: () = {
            let mut number = 0;
            while number < FactorKind::ALL.len() {
                assert!(FactorKind::ALL[number] as usize == number);
                number += 1;
            }
        };

        /// A view of one factor of a graph.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum Factor<'a> {
            $($($(#[$doc])* $Kind($View),)+)+
        }

        /// Runs an expression on the view of a factor, whatever its kind.
        macro_rules! for_view {
            ($d factor:expr, $d view:ident => $d call:expr) => {
                match $d factor {
                    $($(Factor::$Kind($d view) => $d call,)+)+
                }
            };
        }

        /// Scratch space of the messages of all kinds, kept between calls.
        #[derive(Default)]
        pub(crate) struct Scratch {
            $(pub(crate) $store: <$Store as Store>::Scratch,)+
        }

        impl Factor<'_> {
            /// See [`Kind::messages`].
            #[inline]
            pub(crate) fn messages(
                &self,
                update: Update<'_>,
                scratch: &mut Scratch,
            ) -> Result<(), NoMemory> {
                match self {
                    $($(Factor::$Kind(view) => view.messages(update, &mut scratch.$store),)+)+
                }
            }
        }

        /// The parameters of all factors of a graph, or of a builder, by kind. Where a function takes the
        /// number of a factor's parameters, it counts those in the store of the factor's kind.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct Stores {
            $(pub(crate) $store: $Store,)+
        }

        impl Stores {
            /// A view of a factor, from its head's position among its variables (0 for a kind without a head).
            #[inline]
            pub(crate) fn factor<'a>(&'a self, kind: FactorKind, number: u32, head: u32) -> Factor<'a> {
                let (number, head) = (number as usize, head as usize);
                match kind {
                    $($(FactorKind::$Kind => {
                        Factor::$Kind(<$View as Kind<'a>>::view(&self.$store, number, head))
                    })+)+
                }
            }

            /// See [`Store::begin`].
            pub(crate) fn begin(drafts: &Self) -> Result<Self> {
                Ok(Self { $($store: Store::begin(&drafts.$store)?,)+ })
            }

            /// See [`Store::assemble`].
            pub(crate) fn assemble(
                &mut self,
                drafts: &Self,
                number: u32,
                scope: &Scope<'_>,
            ) -> Result<u32> {
                match scope.kind {
                    $($(FactorKind::$Kind)|+ => {
                        self.$store.assemble(&drafts.$store, number as usize, scope)
                    })+
                }
            }

            /// See [`Store::finish`].
            pub(crate) fn finish(&mut self) {
                $(self.$store.finish();)+
            }

            /// See [`Store::restore`].
            pub(crate) fn restore(
                &mut self,
                graph: &Self,
                kind: FactorKind,
                number: u32,
                head: usize,
            ) -> Result<u32> {
                match kind {
                    $($(FactorKind::$Kind)|+ => {
                        self.$store.restore(&graph.$store, number as usize, head)
                    })+
                }
            }

            /// See [`Store::has_head_in_body`].
            pub(crate) fn has_head_in_body(&self, kind: FactorKind, number: u32) -> bool {
                match kind {
                    $($(FactorKind::$Kind)|+ => self.$store.has_head_in_body(number as usize),)+
                }
            }

            /// See [`Store::copy_without_tables`].
            pub(crate) fn copy_without_tables(&self, dropped: &[bool]) -> Result<Self> {
                Ok(Self { $($store: self.$store.copy_without_tables(dropped)?,)+ })
            }

            /// Bytes held by the lists.
            pub(crate) fn memory_bytes(&self) -> usize {
                0 $(+ self.$store.memory_bytes())+
            }
        }
    };
}
