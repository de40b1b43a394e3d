//! The table as Rust code: declarations as the header has them, a function per call that takes its
//! arguments as words, and what each parameter is.

use super::classify;
use super::header::{Function, Header, Parameter};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Statuses that the header leaves out of the lists of single functions.
const UNIVERSAL: [&str; 5] = ["NULL_POINTER", "BUSY", "POISONED", "PANIC", "OUT_OF_MEMORY"];

pub fn table(header: &Header) -> String {
    let mut code = String::from("unsafe extern \"C\" {\n");
    for function in &header.functions {
        let parameters: Vec<String> = function
            .parameters
            .iter()
            .map(|parameter| format!("{}: {}", raw(&parameter.name), rust_type(&parameter.of)))
            .collect();
        let returns = match &*function.returns {
            "void" => String::new(),
            of => format!(" -> {}", rust_type(of)),
        };
        writeln!(code, "    fn {}({}){returns};", function.name, parameters.join(", ")).unwrap();
    }
    code += "}\n\n/// All functions of the header.\npub static FUNCTIONS: &[Function] = &[\n";
    let statuses = statuses(header);
    for function in &header.functions {
        push_function(&mut code, function, header, &statuses[&*function.name]);
    }
    code += "];\n";
    code
}

fn raw(name: &str) -> String {
    format!("p_{name}")
}

fn push_function(
    code: &mut String, function: &Function, header: &Header, statuses: &BTreeSet<i64>,
) {
    let kinds = classify::parameters(function, header);
    let parameters: String = function
        .parameters
        .iter()
        .zip(kinds)
        .map(|(parameter, kind)| {
            format!("Parameter {{ name: {:?}, kind: {kind} }}, ", parameter.name)
        })
        .collect();
    let arguments: Vec<String> = (0..)
        .zip(&function.parameters)
        .map(|(index, parameter)| argument(index, parameter))
        .collect();
    let call = format!("{}({})", function.name, arguments.join(", "));
    let (returns, body) = match &*function.returns {
        "fastlbp_status" => ("Status", format!("{call} as i64")),
        "void" => ("Nothing", format!("{{ {call}; 0 }}")),
        "const char *" => ("Text", format!("{call} as usize as i64")),
        other => panic!("{}: the return type {other} is unknown", function.name),
    };
    let statuses: Vec<i64> = statuses.iter().copied().collect();
    writeln!(
        code,
        "    Function {{ name: {:?}, returns: Returns::{returns}, statuses: &{statuses:?}, \
         parameters: &[{parameters}],\n        \
         // SAFETY: as whoever calls it promises.\n        \
         call: |a| unsafe {{ let _ = a; {body} }} }},",
        function.name
    )
    .unwrap();
}

fn argument(index: usize, parameter: &Parameter) -> String {
    let of = rust_type(&parameter.of);
    match &*parameter.of {
        "double" => format!("f64::from_bits(a[{index}])"),
        name if name.ends_with("_callback") => {
            format!("std::mem::transmute::<usize, {of}>(a[{index}] as usize)")
        }
        _ if of.starts_with('*') => format!("a[{index}] as usize as {of}"),
        _ => format!("a[{index}] as {of}"),
    }
}

fn rust_type(of: &str) -> String {
    let of = of.trim();
    if let Some(inner) = of.strip_suffix("*const *") {
        return format!("*const *mut {}", rust_type(inner));
    }
    if let Some(inner) = of.strip_suffix('*') {
        let inner = inner.trim();
        return match inner.strip_prefix("const ") {
            Some(inner) => format!("*const {}", rust_type(inner)),
            None => format!("*mut {}", rust_type(inner)),
        };
    }
    match of {
        "size_t" => "usize",
        "uint64_t" => "u64",
        "uint32_t" => "u32",
        "int32_t" | "fastlbp_status" => "i32",
        "uint8_t" | "bool" => "u8",
        "char" => "std::ffi::c_char",
        "double" => "f64",
        "void" | "fastlbp_graph" | "fastlbp_bp" => "std::ffi::c_void",
        "fastlbp_log_callback" => "Option<LogCallback>",
        "fastlbp_progress_callback" => "Option<ProgressCallback>",
        _ => panic!("include/fastlbp.h: the type '{of}' is unknown; see fuzz/build/emit.rs"),
    }
    .into()
}

/// The statuses that the comments allow each function: those they name, those of functions that they
/// refer to, and those that any function can return.
fn statuses(header: &Header) -> BTreeMap<&str, BTreeSet<i64>> {
    // Comments leave the prefix out.
    let number = |name: &str| header.constants.get(&format!("FASTLBP_STATUS_{name}")).copied();
    let words = |text: &str| -> Vec<String> {
        let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.map(str::to_string).collect()
    };
    let mut found: BTreeMap<&str, BTreeSet<i64>> = BTreeMap::new();
    for function in &header.functions {
        let own = words(&function.outcome);
        let mut statuses: BTreeSet<i64> = own.iter().filter_map(|word| number(word)).collect();
        statuses.extend(["OK"].iter().chain(&UNIVERSAL).filter_map(|name| number(name)));
        if function.parameters.iter().any(|parameter| parameter.name == "needed") {
            statuses.extend(number("BUFFER_TOO_SMALL"));
        }
        found.insert(&function.name, statuses);
    }
    // Until nothing is added: references go on from one to the next.
    loop {
        let mut grown = false;
        for function in &header.functions {
            for (place, _) in function.outcome.match_indices("fastlbp_") {
                let before = function.outcome[..place].trim_end();
                if !before.ends_with("as in")
                    && !before.ends_with("As")
                    && !before.ends_with("(see")
                {
                    continue;
                }
                let other = words(&function.outcome[place..]).swap_remove(0);
                let Some(more) = found.get(&*other).cloned() else { continue };
                let own = found.get_mut(&*function.name).expect("all functions");
                let before = own.len();
                own.extend(more);
                grown |= own.len() > before;
            }
        }
        if !grown {
            return found;
        }
    }
}
