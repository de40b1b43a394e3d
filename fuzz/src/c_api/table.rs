//! What the generated table of functions is made of, and that table.

/// Type of an entry of an array, or of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    U64,
    U32,
    I32,
    Status,
    U8,
    Char,
    F64,
}

impl Element {
    pub fn bytes(self) -> usize {
        match self {
            Element::U64 | Element::F64 => 8,
            Element::U32 | Element::I32 | Element::Status => 4,
            Element::U8 | Element::Char => 1,
        }
    }
}

/// Number of entries of an array: `times` that of a parameter, and `plus`.
#[derive(Clone, Copy, Debug)]
pub struct Length {
    pub times: usize,
    pub parameter: Option<usize>,
    pub plus: usize,
}

/// What a length is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    Any,
    AtLeastOne,
    /// Of a buffer that is filled.
    Room,
    Edges,
    Variables,
    Messages,
    /// States of the variable of the call.
    States,
    /// The product of two other lengths.
    Product(usize, usize),
    /// One value for each joint state of the scope.
    JointStates,
    SumOfJointStates,
    SumOfTerms,
}

/// What numbers mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Values {
    AnyLabel,
    BinaryLabel,
    Variable,
    Factor,
    Edge,
    State,
    Cardinality,
    Flag,
    /// States of terms, or the wildcard.
    Indicator,
    Small,
    Word,
    Constant(&'static [i64]),
    Probability,
    /// Probabilities and their complements.
    Pairs,
    Weight,
    Seconds,
    /// Offsets, up to the length that is this parameter.
    Offsets(usize),
    SavedState,
    /// The bytes of a graph's file.
    GraphText,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text {
    File,
    Schedule,
    Key,
    Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Callback {
    Log,
    Progress,
}

/// What a parameter is.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Graph,
    Session,
    NewGraph,
    NewSession,
    Sessions(Length),
    Text(Text),
    /// An array that is read; whether its entries are all different.
    Input(Element, Length, Values, bool),
    /// An array that is written, of a length that a parameter of kind `Wanted::Room` gives, or this one;
    /// whether it may be NULL.
    Output(Element, Option<Length>, bool),
    /// One value that is written; whether it may be NULL.
    One(Element, bool),
    /// Where the length of an output that is needed is written.
    Needed,
    Length(Wanted),
    Scalar(Element, Values),
    Callback(Callback),
    User,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returns {
    Status,
    Text,
    Nothing,
}

pub struct Parameter {
    pub name: &'static str,
    pub kind: Kind,
}

pub struct Function {
    pub name: &'static str,
    pub returns: Returns,
    /// Those that its comment names.
    pub statuses: &'static [i64],
    pub parameters: &'static [Parameter],
    /// Calls it with one word per parameter: pointers as addresses, `double` by its bits.
    pub call: fn(&[u64]) -> i64,
}

pub type LogCallback = extern "C" fn(*mut std::ffi::c_void, u32, *const std::ffi::c_char);
pub type ProgressCallback = extern "C" fn(*mut std::ffi::c_void, u64, u64, f64, f64) -> i32;

include!(concat!(env!("OUT_DIR"), "/functions.rs"));

/// A function by its name, for the calls that the target itself makes.
pub fn named(name: &str) -> &'static Function {
    static BY_NAME: std::sync::OnceLock<std::collections::HashMap<&str, &Function>> =
        std::sync::OnceLock::new();
    let all = BY_NAME.get_or_init(|| FUNCTIONS.iter().map(|f| (f.name, f)).collect());
    all.get(name).unwrap_or_else(|| panic!("fastlbp.h has no function {name}"))
}
