//! How the header is written.

use super::address::{Address, ReadOnly};
use super::arithmetic::Uint4;
use super::bits::Bits;
use super::counter::Counter;
use std::fmt::Write;

/// What has a name on the device.
pub(super) trait DeviceType {
    /// Whether it is an array, pointers to which are declared in another way.
    const IS_ARRAY: bool = false;

    /// The declaration of a variable of this type.
    fn declare(variable: &str) -> String;
}

macro_rules! names {
    ($($type:ty => $name:literal),*) => {$(
        impl DeviceType for $type {
            fn declare(variable: &str) -> String {
                format!("{} {variable}", $name)
            }
        }
    )*};
}
names! {
    u8 => "unsigned char", u32 => "uint32_t", u64 => "uint64_t", i64 => "int64_t", f64 => "double", usize => "uint32_t",
    Counter => "unsigned long long", Uint4 => "uint4"
}

impl<T: DeviceType, const N: usize> DeviceType for [T; N] {
    const IS_ARRAY: bool = true;

    fn declare(variable: &str) -> String {
        T::declare(&format!("{variable}[{N}]"))
    }
}

impl<T: DeviceType> DeviceType for Address<T> {
    fn declare(variable: &str) -> String {
        T::declare(&if T::IS_ARRAY { format!("(*{variable})") } else { format!("*{variable}") })
    }
}

impl<T: DeviceType> DeviceType for ReadOnly<T> {
    fn declare(variable: &str) -> String {
        format!("const {}", Address::<T>::declare(variable))
    }
}

/// A field of a struct.
pub(super) struct Field {
    pub docs: &'static [&'static str],
    pub name: &'static str,
    pub declaration: String,
    pub offset: usize,
}

/// Who defines a struct.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum StructKind {
    /// The header.
    Plain,
    /// The header, but for functions.
    Base,
    /// cuda/arithmetic.
    Arithmetic,
}

/// What host and device share.
pub(super) enum Item {
    Struct {
        docs: &'static [&'static str],
        name: &'static str,
        kind: StructKind,
        fields: Vec<Field>,
        size: usize,
    },
    Enum {
        docs: &'static [&'static str],
        name: &'static str,
        values: Vec<(&'static [&'static str], &'static str, u32)>,
    },
    Word {
        docs: &'static [&'static str],
        name: &'static str,
        fields: Vec<(&'static [&'static str], &'static str, Bits)>,
    },
    Constant {
        docs: &'static [&'static str],
        declaration: String,
        value: u64,
    },
    /// A constant of cuda/arithmetic.
    Assertion {
        name: &'static str,
        value: u64,
    },
}

fn comment(header: &mut String, indent: &str, docs: &[&str]) {
    for line in docs {
        writeln!(header, "{indent}///{line}").unwrap();
    }
}

/// As it is read best: numbers of few bits as powers of two are.
fn number(value: u64) -> String {
    if value < 10_000 { value.to_string() } else { format!("{value:#x}") }
}

impl Item {
    fn is_constant(&self) -> bool {
        matches!(self, Self::Constant { .. } | Self::Assertion { .. })
    }

    fn write(&self, header: &mut String) {
        match self {
            Self::Struct { docs, name, kind, fields, size } => {
                let base =
                    if *kind == StructKind::Base { format!("{name}Data") } else { (*name).into() };
                if *kind == StructKind::Base {
                    writeln!(header, "struct {name};\n").unwrap();
                }
                if *kind != StructKind::Arithmetic {
                    comment(header, "", docs);
                    writeln!(header, "struct {base} {{").unwrap();
                    for field in fields {
                        comment(header, "    ", field.docs);
                        writeln!(header, "    {};", field.declaration).unwrap();
                    }
                    writeln!(header, "}};\n").unwrap();
                }
                writeln!(header, "static_assert(sizeof({base}) == {size}, \"{base}\");").unwrap();
                for Field { name, offset, .. } in fields {
                    writeln!(header, "FASTLBP_FIELD({base}, {name}, {offset});").unwrap();
                }
            }
            Self::Enum { docs, name, values } => {
                comment(header, "", docs);
                writeln!(header, "enum {name} : uint32_t {{").unwrap();
                for (docs, name, value) in values {
                    comment(header, "    ", docs);
                    writeln!(header, "    {name} = {value},").unwrap();
                }
                writeln!(header, "}};").unwrap();
            }
            Self::Word { docs, name, fields } => {
                comment(header, "", docs);
                for (docs, field, bits) in fields {
                    comment(header, "", docs);
                    header.push_str(&bits.render(name, field));
                }
            }
            Self::Constant { docs, declaration, value, .. } => {
                comment(header, "", docs);
                writeln!(header, "constexpr {declaration} = {};", number(*value)).unwrap();
            }
            Self::Assertion { name, value } => {
                writeln!(header, "static_assert({name} == {}, \"{name}\");", number(*value))
                    .unwrap();
            }
        }
    }
}

/// The header with these chapters: what is said of each, whether only kernels of a device include it, and what is in it.
pub(super) fn render(chapters: &[(&str, bool, Vec<Item>)]) -> String {
    let mut header = String::from(HEAD);
    for (title, device_only, items) in chapters {
        writeln!(header, "\n// {title}").unwrap();
        if *device_only {
            writeln!(header, "#ifdef __CUDACC__").unwrap();
        }
        let mut was_constant = false;
        for item in items {
            // Constants one behind the other.
            if !(was_constant && item.is_constant()) {
                header.push('\n');
            }
            was_constant = item.is_constant();
            item.write(&mut header);
        }
        if *device_only {
            writeln!(header, "\n#endif").unwrap();
        }
    }
    header + TAIL
}

const HEAD: &str = "\
// Made from src/engine/cuda/interface by FASTLBP_UPDATE_HEADER=1 cargo test --lib interface; not to be edited.
//
// What host and device share, and where each field must be.
#pragma once

#include \"../arithmetic/horn.cuh\"
#include \"../arithmetic/product.cuh\"
#include \"../arithmetic/terms.cuh\"

#ifdef __CUDACC_RTC__
// What the run-time compiler has instead of __builtin_offsetof.
#define FASTLBP_OFFSET(type, field) __INTADDR__(&static_cast<type *>(nullptr)->field)
#else
#define FASTLBP_OFFSET(type, field) __builtin_offsetof(type, field)
#endif
#define FASTLBP_FIELD(type, field, offset) \\
    static_assert(FASTLBP_OFFSET(type, field) == offset, #type \"::\" #field)

namespace fastlbp {
";

const TAIL: &str = "\n#undef FASTLBP_FIELD\n#undef FASTLBP_OFFSET\n\n}  // namespace fastlbp\n";
