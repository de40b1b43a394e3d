//! What a parameter is, by its type and by how the header's comments speak of such parameters.

use super::header::{Function, Header, Parameter};

/// A number of entries: `times * parameter + plus`, or `plus` alone.
pub struct Length {
    times: usize,
    parameter: Option<usize>,
    plus: usize,
}

impl Length {
    fn code(&self) -> Code {
        let Self { times, parameter, plus } = self;
        format!("Length {{ times: {times}, parameter: {parameter:?}, plus: {plus} }}")
    }
}

/// Written into the table as it is: the names are those of `src/c_api/table.rs`.
pub type Code = String;

/// The kind of each parameter.
pub fn parameters(function: &Function, header: &Header) -> Vec<Code> {
    let all = &function.parameters;
    all.iter().map(|parameter| kind(function, parameter, header)).collect()
}

#[track_caller]
fn unknown(function: &Function, parameter: &Parameter, what: &str) -> ! {
    panic!(
        "include/fastlbp.h: {}: parameter {} of type '{}', '{}': {what}; see fuzz/build/classify.rs",
        function.name, parameter.name, parameter.of, parameter.comment
    )
}

fn kind(function: &Function, parameter: &Parameter, header: &Header) -> Code {
    let (of, comment) = (&*parameter.of, &*parameter.comment);
    match of {
        "fastlbp_graph *" => return "Kind::Graph".into(),
        "const fastlbp_graph *" => return "Kind::Graph".into(),
        "fastlbp_bp *" => return "Kind::Session".into(),
        "const fastlbp_bp *" => return "Kind::Session".into(),
        "fastlbp_graph **" => return "Kind::NewGraph".into(),
        "fastlbp_bp **" => return "Kind::NewSession".into(),
        "const char *" => return text(function, parameter),
        "void *" => return "Kind::User".into(),
        _ => {}
    }
    if header.callbacks.iter().any(|name| name == of) {
        return match of {
            "fastlbp_log_callback" => "Kind::Callback(Callback::Log)".into(),
            "fastlbp_progress_callback" => "Kind::Callback(Callback::Progress)".into(),
            _ => unknown(function, parameter, "a callback that src/c_api does not have"),
        };
    }
    if of == "fastlbp_bp *const *" {
        let (length, _) = array(function, parameter)
            .unwrap_or_else(|| unknown(function, parameter, "no length in backticks"));
        return format!("Kind::Sessions({})", length.code());
    }
    if let Some(element) = of.strip_suffix('*') {
        let element = element.trim();
        return match element.strip_prefix("const ") {
            Some(element) => input(function, parameter, element, header),
            None => output(function, parameter, element),
        };
    }
    let element = element(function, parameter, of);
    if is_length(function, parameter) {
        return format!("Kind::Length({})", wanted_length(function, parameter));
    }
    let values = scalar(comment, of, header);
    format!("Kind::Scalar(Element::{element}, {values})")
}

fn text(function: &Function, parameter: &Parameter) -> Code {
    let text = match &*parameter.comment {
        "Name of the file." => "File",
        "The name, a string." => "Schedule",
        "The key, a string." => "Key",
        "The value, a string." => "Value",
        _ => unknown(function, parameter, "a string of an unknown kind"),
    };
    format!("Kind::Text(Text::{text})")
}

fn element(function: &Function, parameter: &Parameter, of: &str) -> &'static str {
    match of {
        "size_t" | "uint64_t" => "U64",
        "uint32_t" => "U32",
        "int32_t" => "I32",
        "fastlbp_status" => "Status",
        "uint8_t" => "U8",
        "char" => "Char",
        "double" => "F64",
        _ => unknown(function, parameter, "an unknown type"),
    }
}

fn position(function: &Function, name: &str) -> Option<usize> {
    function.parameters.iter().position(|parameter| parameter.name == name)
}

/// The length at the beginning of a comment, such as "`4 * count`" or "4 ", and what the entries are.
fn array<'a>(function: &Function, parameter: &'a Parameter) -> Option<(Length, &'a str)> {
    let comment = parameter.comment.strip_prefix("Where ").unwrap_or(&parameter.comment);
    if let Some(rest) = comment.strip_prefix('`') {
        let (text, noun) = rest.split_once("` ")?;
        return expression(function, text).map(|length| (length, noun));
    }
    let (number, noun) = comment.split_once(' ')?;
    let plus = number.parse().ok()?;
    Some((Length { times: 0, parameter: None, plus }, noun))
}

fn expression(function: &Function, text: &str) -> Option<Length> {
    let words: Vec<&str> = text.split(' ').collect();
    let (times, name, plus) = match words[..] {
        [name] => (1, name, 0),
        [name, "+", plus] => (1, name, plus.parse().ok()?),
        [times, "*", name] => (times.parse().ok()?, name, 0),
        _ => return None,
    };
    Some(Length { times, parameter: Some(position(function, name)?), plus })
}

/// What the entries of an array are, by how their description begins: the first that fits.
const ENTRIES: [(&str, &str); 13] = [
    ("bytes", "GraphText"),
    ("indices of variables", "Variable"),
    ("edges", "Edge"),
    ("states or FASTLBP_WILDCARD", "Indicator"),
    ("states", "State"),
    ("numbers of states", "Cardinality"),
    ("signs", "Flag"),
    ("words", "SavedState"),
    ("ranks", "Small"),
    ("probabilities, for each literal that it holds and that it fails", "Pairs"),
    ("probabilities", "Probability"),
    ("values", "Weight"),
    ("weights", "Weight"),
];

fn input(function: &Function, parameter: &Parameter, of: &str, header: &Header) -> Code {
    let element = element(function, parameter, of);
    let (length, noun) = array(function, parameter)
        .unwrap_or_else(|| unknown(function, parameter, "no length in backticks at its beginning"));
    let values = if let Some((_, last)) = noun.split_once("offsets, not descending, from 0 to `") {
        let (last, _) = last.split_once('`').expect("the end of a name");
        let last = position(function, last)
            .unwrap_or_else(|| unknown(function, parameter, "offsets of an unknown array"));
        format!("Values::Offsets({last})")
    } else if noun.starts_with("labels") {
        let any = ["scope", "scopes", "labels"].contains(&&*parameter.name);
        if any { "Values::AnyLabel" } else { "Values::BinaryLabel" }.into()
    } else if noun.starts_with("kinds") {
        constants(noun, header).expect("names of kinds")
    } else {
        let known = ENTRIES.iter().find(|(start, _)| noun.starts_with(start));
        known.map_or_else(
            || unknown(function, parameter, "entries of an unknown kind"),
            |(_, values)| format!("Values::{values}"),
        )
    };
    let distinct = noun.contains("all different");
    let length = length.code();
    format!("Kind::Input(Element::{element}, {length}, {values}, {distinct})")
}

fn output(function: &Function, parameter: &Parameter, of: &str) -> Code {
    let element = element(function, parameter, of);
    let comment = &*parameter.comment;
    let optional = comment.contains("or NULL") || comment.contains("NULL to ");
    if !comment.starts_with("Where ") {
        unknown(function, parameter, "an output whose comment does not begin with 'Where'");
    }
    if parameter.name == "needed" {
        return "Kind::Needed".into();
    }
    if let Some((length, _)) = array(function, parameter) {
        let length = length.code();
        return format!("Kind::Output(Element::{element}, Some({length}), {optional})");
    }
    let length = function.parameters.iter().find(|other| other.comment.starts_with("Length of "));
    let many = comment.contains("are written") || of == "char";
    match (many, length.and_then(|length| position(function, &length.name))) {
        (true, Some(_)) => format!("Kind::Output(Element::{element}, None, {optional})"),
        (false, _) if comment.contains("is written") => {
            format!("Kind::One(Element::{element}, {optional})")
        }
        _ => unknown(function, parameter, "an output without a length that is not one value"),
    }
}

/// Whether a number is the length of an array.
fn is_length(function: &Function, parameter: &Parameter) -> bool {
    let index = position(function, &parameter.name);
    let used = |other: &Parameter| {
        other.of.ends_with('*')
            && array(function, other).is_some_and(|(length, _)| length.parameter == index)
    };
    parameter.comment.starts_with("Length of ") || function.parameters.iter().any(used)
}

fn wanted_length(function: &Function, parameter: &Parameter) -> Code {
    let comment = &*parameter.comment;
    let Some(wanted) = comment.strip_prefix("Must be ") else {
        return if comment.starts_with("Length of ") {
            "Wanted::Room"
        } else if comment.contains("at least 1") {
            "Wanted::AtLeastOne"
        } else if comment.starts_with("Number of values: the product of the cardinalities") {
            "Wanted::JointStates"
        } else if comment.starts_with("Number of values in all tables") {
            "Wanted::SumOfJointStates"
        } else {
            "Wanted::Any"
        }
        .into();
    };
    let product =
        wanted.strip_prefix('`').and_then(|rest| rest.split_once("`.")?.0.split_once(" * "));
    if let Some((one, other)) = product {
        let place = |name| position(function, name).expect("a parameter");
        return format!("Wanted::Product({}, {})", place(one), place(other));
    }
    match wanted {
        "the number of edges." => "Wanted::Edges",
        "the number of variables." => "Wanted::Variables",
        "the length that fastlbp_bp_messages needs." => "Wanted::Messages",
        "the variable's number of states." => "Wanted::States",
        "the sum over all factors of terms times variables." => "Wanted::SumOfTerms",
        _ => unknown(function, parameter, "an unknown length"),
    }
    .into()
}

/// The constants that a comment names.
fn constants(comment: &str, header: &Header) -> Option<Code> {
    let words = comment.split(|c: char| !c.is_alphanumeric() && c != '_');
    let numbers: Vec<i64> = words.filter_map(|word| header.constants.get(word).copied()).collect();
    (!numbers.is_empty()).then(|| format!("Values::Constant(&{numbers:?})"))
}

fn scalar(comment: &str, of: &str, header: &Header) -> Code {
    let has = |text: &str| comment.contains(text);
    if of == "double" {
        return if has("robability") {
            "Values::Probability"
        } else if has("econds") || has("infinity") {
            "Values::Seconds"
        } else if has("damping") || has("up to but not including 1") || has("A number from 0") {
            "Values::Probability"
        } else {
            "Values::Weight"
        }
        .into();
    }
    if let Some(constants) = constants(comment, header) {
        return constants;
    }
    if has("Label") || has("label") {
        "Values::BinaryLabel"
    } else if has("Index of the factor") {
        "Values::Factor"
    } else if has("Index of the joint state") {
        "Values::Small"
    } else if has("Index of the variable") {
        "Values::Variable"
    } else if has("Index") || has("index") {
        panic!("include/fastlbp.h: '{comment}': an index of what? See fuzz/build/classify.rs")
    } else if has("state, counted from 0") {
        "Values::State"
    } else if has("Number of states") {
        "Values::Cardinality"
    } else if has("seed") || has("random") {
        "Values::Word"
    } else {
        "Values::Small"
    }
    .into()
}
