//! Arguments of a call: mostly such as should succeed, now and then one or all of them not.

use super::callbacks;
use super::memory::Block;
use super::objects::{Objects, Shape, states_of_label};
use super::table::{Callback, Element, Function, Kind, Length, Values, Wanted};
use super::texts;
use crate::choices::Choices;

/// The most entries that arrays are really given.
const ENTRIES: usize = 1 << 12;

/// Whole numbers at the ends of types and of what fits elsewhere.
const NASTY_NUMBERS: [u64; 14] = [
    0,
    1,
    2,
    7,
    255,
    i32::MAX as u64,
    1 << 31,
    u32::MAX as u64 - 1,
    u32::MAX as u64,
    1 << 32,
    (1 << 53) + 1,
    i64::MAX as u64,
    1 << 63,
    u64::MAX,
];

const NASTY_DOUBLES: [f64; 16] = [
    0.0,
    -0.0,
    5e-324,
    -5e-324,
    1e-310,
    f64::MIN_POSITIVE,
    1.0,
    1.0 + f64::EPSILON,
    1.0 - f64::EPSILON / 2.0,
    -1.0,
    1e308,
    f64::MAX,
    f64::MIN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

/// What is passed for a parameter.
#[derive(Clone, Debug)]
pub enum Argument {
    /// As it is.
    Word(u64),
    /// The address of a copy of an array; of a string with its end.
    Array(Element, Vec<u64>),
    /// The address of so many entries to be written.
    Space(Element, usize),
    /// A length of buffers, which have as many entries.
    Room(usize),
}

#[derive(Clone, Debug)]
pub struct Arguments(Vec<Argument>);

/// Whether a parameter is to be what should succeed.
#[derive(Clone, Copy, PartialEq)]
enum Care {
    All,
    AllBut(usize),
    None,
}

struct Maker<'a, 'b, 'c> {
    function: &'a Function,
    objects: &'a mut Objects,
    choices: &'b mut Choices<'c>,
    care: Care,
    shape: Shape,
    key: usize,
    /// The name and the text of the graph that the call reads, once one is chosen.
    graph: Option<(&'static str, &'static str)>,
    /// Those that are made already.
    made: Vec<Option<Argument>>,
}

impl Arguments {
    pub fn new(function: &Function, objects: &mut Objects, choices: &mut Choices) -> Self {
        let count = function.parameters.len();
        let care = match choices.below(8) {
            _ if count == 0 => Care::All,
            0..=5 => Care::All,
            6 => Care::AllBut(choices.below(count)),
            _ if choices.flag() => Care::None,
            _ => Care::AllBut(choices.below(count)),
        };
        let mut maker = Maker {
            function,
            objects,
            choices,
            care,
            shape: Shape::default(),
            key: 0,
            graph: None,
            made: vec![None; count],
        };
        for index in 0..count {
            maker.make(index);
        }
        maker.pinch();
        let arguments = maker.made.into_iter().map(|argument| argument.expect("all are made"));
        Self(arguments.collect())
    }

    /// The session that the call works on.
    pub fn session(&self) -> Option<u64> {
        match self.0.first() {
            Some(&Argument::Word(handle)) if handle > 0xffff => Some(handle),
            _ => None,
        }
    }

    /// The length of the buffers.
    pub fn room(&self, function: &Function) -> Option<Argument> {
        let place =
            function.parameters.iter().position(|p| matches!(p.kind, Kind::Length(Wanted::Room)));
        place.map(|place| self.0[place].clone())
    }

    /// The number of entries that a call was told of.
    pub fn entries(&self, length: Length) -> usize {
        let word = length.parameter.map_or(0, |parameter| match self.0[parameter] {
            Argument::Word(word) => word as usize,
            _ => 0,
        });
        length.times * word + length.plus
    }

    /// The same with no buffers, but a place for the length that they need.
    pub fn without_room(&self, function: &Function) -> Self {
        let mut asking = self.clone();
        for (argument, parameter) in asking.0.iter_mut().zip(function.parameters) {
            match parameter.kind {
                Kind::Output(..) => *argument = Argument::Word(0),
                Kind::Length(Wanted::Room) => *argument = Argument::Room(0),
                Kind::Needed => *argument = Argument::Space(Element::U64, 1),
                _ => {}
            }
        }
        // An output of another length keeps its place.
        for (argument, (old, parameter)) in
            asking.0.iter_mut().zip(self.0.iter().zip(function.parameters))
        {
            if let Kind::Output(_, Some(_), _) = parameter.kind {
                *argument = old.clone();
            }
        }
        asking
    }

    /// Gives the buffers the length that they need, or nearly.
    pub fn set_room(&mut self, function: &Function, needed: usize, choices: &mut Choices) {
        let room = match choices.below(8) {
            0 => needed.saturating_sub(1),
            1 => needed + 3,
            2 => 0,
            _ => needed,
        };
        let room = room.min(ENTRIES);
        for (argument, parameter) in self.0.iter_mut().zip(function.parameters) {
            match parameter.kind {
                // One that is NULL stays so, with its length: that must be refused.
                Kind::Output(element, None, _) if !matches!(argument, Argument::Word(_)) => {
                    *argument = Argument::Space(element, room);
                }
                Kind::Length(Wanted::Room) if !matches!(argument, Argument::Word(_)) => {
                    *argument = Argument::Room(room);
                }
                _ => {}
            }
        }
    }

    /// Memory for what is passed by address.
    pub fn blocks(&self, _: &Function) -> Vec<Option<Block>> {
        let block = |argument: &Argument| match argument {
            Argument::Array(element, words) => Some(Block::input(*element, words)),
            Argument::Space(element, length) => Some(Block::output(*element, *length)),
            Argument::Word(_) | Argument::Room(_) => None,
        };
        self.0.iter().map(block).collect()
    }

    /// What is passed.
    pub fn words(&self, blocks: &[Option<Block>]) -> Vec<u64> {
        let word = |(argument, block): (&Argument, &Option<Block>)| match (argument, block) {
            (_, Some(block)) => block.address(),
            (Argument::Word(word), None) => *word,
            (Argument::Room(room), None) => *room as u64,
            _ => unreachable!("arrays have blocks"),
        };
        self.0.iter().zip(blocks).map(word).collect()
    }
}

impl Maker<'_, '_, '_> {
    fn careful(&self, index: usize) -> bool {
        match self.care {
            Care::All => true,
            Care::AllBut(other) => index != other,
            Care::None => false,
        }
    }

    /// Makes an argument, and before it those that it depends on.
    fn make(&mut self, index: usize) -> Argument {
        if let Some(made) = &self.made[index] {
            return made.clone();
        }
        let argument = self.argument(index);
        self.made[index] = Some(argument.clone());
        argument
    }

    fn argument(&mut self, index: usize) -> Argument {
        match self.function.parameters[index].kind {
            Kind::Graph | Kind::Session => {
                let session = matches!(self.function.parameters[index].kind, Kind::Session);
                let null = !self.careful(index) && self.choices.flag();
                let (handle, shape) = self.objects.pick(session, null, self.choices);
                self.shape = shape;
                Argument::Word(handle)
            }
            Kind::NewGraph | Kind::NewSession => self.place(index, Element::U64, false),
            Kind::One(element, optional) => self.place(index, element, optional),
            Kind::Needed => self.place(index, Element::U64, true),
            Kind::Sessions(length) => {
                let count = self.entries(length).min(ENTRIES);
                let sessions = self.objects.sessions(count, self.careful(index), self.choices);
                Argument::Array(Element::U64, sessions)
            }
            Kind::Text(text) => {
                let reads_text = |k: &Kind| matches!(k, Kind::Input(_, _, Values::GraphText, _));
                let text = if self.careful(index) && self.first(reads_text).is_some() {
                    self.graph().0.into()
                } else if self.careful(index) {
                    texts::likely(self.function.name, text, &mut self.key, self.choices)
                } else if self.choices.flag() {
                    return Argument::Word(0);
                } else {
                    texts::nasty(self.choices)
                };
                let text = text.iter().chain(&[0]).map(|&byte| u64::from(byte));
                Argument::Array(Element::Char, text.collect())
            }
            Kind::Input(element, length, values, distinct) => {
                self.input(index, element, length, values, distinct)
            }
            Kind::Output(element, Some(length), optional) => {
                let count = self.entries(length);
                if optional && self.choices.flag() || count > ENTRIES {
                    return Argument::Word(0);
                }
                Argument::Space(element, count)
            }
            Kind::Output(element, None, _) => {
                let Argument::Room(room) = self.room() else { return Argument::Word(0) };
                if !self.careful(index) && self.choices.flag() {
                    return Argument::Word(0);
                }
                Argument::Space(element, room)
            }
            Kind::Length(Wanted::Room) => {
                if !self.careful(index) && self.choices.flag() {
                    // More than there can be.
                    return Argument::Word(self.choices.pick(&[u64::MAX, 1 << 63]));
                }
                Argument::Room(self.choices.below(20))
            }
            Kind::Length(wanted) => Argument::Word(self.length(index, wanted)),
            Kind::Scalar(element, values) => Argument::Word(self.scalar(index, element, values)),
            Kind::Callback(callback) => Argument::Word(if self.choices.once_in(4) {
                0
            } else if callback == Callback::Log {
                callbacks::log as *const () as u64
            } else {
                callbacks::progress as *const () as u64
            }),
            // It says what the callback does.
            Kind::User => Argument::Word(u64::from(self.choices.byte() & 7)),
        }
    }

    fn room(&mut self) -> Argument {
        let parameters = self.function.parameters;
        let place = parameters.iter().position(|p| matches!(p.kind, Kind::Length(Wanted::Room)));
        self.make(place.expect("a buffer has a length"))
    }

    fn place(&mut self, index: usize, element: Element, optional: bool) -> Argument {
        let null = if optional { self.choices.once_in(4) } else { !self.careful(index) };
        if null && (optional || self.choices.flag()) {
            return Argument::Word(0);
        }
        Argument::Space(element, 1)
    }

    /// A number of entries; more than there can be if a length is.
    fn entries(&mut self, length: Length) -> usize {
        let Some(parameter) = length.parameter else { return length.plus };
        let Argument::Word(word) = self.make(parameter) else { return length.plus };
        (word as usize).saturating_mul(length.times).saturating_add(length.plus)
    }

    fn graph(&mut self) -> (&'static str, &'static str) {
        *self.graph.get_or_insert_with(|| texts::graph(self.choices))
    }

    fn length(&mut self, index: usize, wanted: Wanted) -> u64 {
        let of = self.function.parameters.iter().find_map(|parameter| match parameter.kind {
            Kind::Input(_, length, values, _) if length.parameter == Some(index) => Some(values),
            _ => None,
        });
        match of {
            Some(Values::SavedState) => {
                return self.objects.saved_state(self.shape.handle).len() as u64;
            }
            Some(Values::GraphText) => return self.graph().1.len() as u64,
            _ => {}
        }
        let length = match wanted {
            Wanted::Any => self.choices.below(5),
            Wanted::Room => unreachable!("made elsewhere"),
            Wanted::AtLeastOne => 1 + self.choices.below(4),
            Wanted::Edges => self.shape.edges,
            Wanted::Variables => self.shape.variables,
            Wanted::Messages => self.shape.messages,
            Wanted::States => {
                let variable = self.first(|kind| matches!(kind, Kind::Scalar(_, Values::Variable)));
                let variable = variable.map(|index| self.make(index));
                match variable {
                    Some(Argument::Word(v)) => {
                        self.shape.cardinalities.get(v as usize).map_or(2, |&r| r as usize)
                    }
                    _ => 2,
                }
            }
            Wanted::Product(one, other) => self.word(one).saturating_mul(self.word(other)) as usize,
            Wanted::JointStates | Wanted::SumOfJointStates => {
                self.table_sizes().iter().sum::<usize>()
            }
            Wanted::SumOfTerms => self.term_sizes(),
        };
        length as u64
    }

    fn word(&mut self, index: usize) -> u64 {
        match self.make(index) {
            Argument::Word(word) => word,
            _ => 0,
        }
    }

    fn first(&self, wanted: impl Fn(&Kind) -> bool) -> Option<usize> {
        self.function.parameters.iter().position(|parameter| wanted(&parameter.kind))
    }

    fn array(&mut self, index: Option<usize>) -> Vec<u64> {
        match index.map(|index| self.make(index)) {
            Some(Argument::Array(_, words)) => words,
            _ => Vec::new(),
        }
    }

    /// The number of joint states of each scope of the call.
    fn table_sizes(&mut self) -> Vec<usize> {
        let labels = self.first(|k| matches!(k, Kind::Input(_, _, Values::AnyLabel, _)));
        let labels = self.array(labels);
        let offsets = self.first(|k| matches!(k, Kind::Input(_, _, Values::Offsets(_), _)));
        let offsets = match offsets {
            Some(index) => self.array(Some(index)),
            None => vec![0, labels.len() as u64],
        };
        let size = |pair: &[u64]| {
            let scope = labels.get(pair[0] as usize..pair[1] as usize).unwrap_or_default();
            scope.iter().map(|&label| states_of_label(label)).product::<usize>().min(ENTRIES)
        };
        offsets.windows(2).map(size).collect()
    }

    /// Terms times variables, summed over all factors of the call.
    fn term_sizes(&mut self) -> usize {
        let is_offsets = |k: &Kind| matches!(k, Kind::Input(_, _, Values::Offsets(_), _));
        let parameters = self.function.parameters.iter().enumerate();
        let places: Vec<usize> =
            parameters.filter(|(_, p)| is_offsets(&p.kind)).map(|(index, _)| index).collect();
        let [scopes, terms] = places[..] else { return 0 };
        let (scopes, terms) = (self.array(Some(scopes)), self.array(Some(terms)));
        let pairs = scopes.windows(2).zip(terms.windows(2));
        let sizes = pairs
            .map(|(s, t)| s[1].wrapping_sub(s[0]).wrapping_mul(t[1].wrapping_sub(t[0])) as usize);
        sizes.fold(0, usize::wrapping_add).min(ENTRIES)
    }

    fn input(
        &mut self, index: usize, element: Element, length: Length, values: Values, distinct: bool,
    ) -> Argument {
        let count = self.entries(length);
        // The library is told of more than there can be, and must say so.
        if count > ENTRIES || !self.careful(index) && self.choices.once_in(3) {
            return Argument::Word(0);
        }
        let mut words = match values {
            Values::Offsets(last) => self.offsets(index, count, last),
            Values::SavedState => self.objects.saved_state(self.shape.handle),
            Values::GraphText => self.graph().1.bytes().map(u64::from).collect(),
            Values::Pairs => self.pairs(count),
            _ => (0..count).map(|at| self.entry(element, values, at)).collect(),
        };
        words.truncate(count);
        words.resize(count, 0);
        if distinct && self.careful(index) {
            make_distinct(&mut words);
        }
        if !self.careful(index) && count > 0 {
            let at = self.choices.below(count);
            words[at] = self.nasty(element, values);
        }
        Argument::Array(element, words)
    }

    fn offsets(&mut self, index: usize, count: usize, last: usize) -> Vec<u64> {
        let wanted = match self.function.parameters[last].kind {
            Kind::Length(wanted) => wanted,
            _ => Wanted::Any,
        };
        let first = self.first(|k| matches!(k, Kind::Input(_, _, Values::Offsets(_), _)));
        if wanted == Wanted::SumOfJointStates && first != Some(index) {
            let sizes = self.table_sizes();
            let mut next = 0;
            return std::iter::once(0)
                .chain(sizes.iter().map(|&size| {
                    next += size as u64;
                    next
                }))
                .collect();
        }
        let end = self.word(last);
        let mut offsets: Vec<u64> =
            (0..count).map(|_| self.choices.below(end.min(16) as usize + 1) as u64).collect();
        offsets.sort_unstable();
        if let Some(first) = offsets.first_mut() {
            *first = 0;
        }
        if let Some(own) = offsets.last_mut().filter(|_| count > 1) {
            *own = end;
        }
        offsets
    }

    fn pairs(&mut self, count: usize) -> Vec<u64> {
        let mut words = Vec::new();
        while words.len() < count {
            let p = self.choices.share();
            words.extend([p.to_bits(), (1.0 - p).to_bits()]);
        }
        words
    }

    fn entry(&mut self, element: Element, values: Values, at: usize) -> u64 {
        let choices = &mut *self.choices;
        let within = |choices: &mut Choices, count: usize| choices.below(count.max(1)) as u64;
        match values {
            Values::AnyLabel => within(choices, 8),
            Values::BinaryLabel => within(choices, 6),
            Values::Variable => within(choices, self.shape.variables),
            Values::Factor => within(choices, self.shape.factors),
            Values::Edge => within(choices, self.shape.edges),
            Values::State => {
                let states = self.shape.cardinalities.get(at).map_or(2, |&r| r as usize);
                within(choices, states)
            }
            Values::Cardinality => {
                let labels = self.first(|k| {
                    let label = |v: &Values| matches!(v, Values::AnyLabel | Values::BinaryLabel);
                    matches!(k, Kind::Input(_, _, v, _) | Kind::Scalar(_, v) if label(v))
                });
                let label = match labels.map(|index| self.make(index)) {
                    Some(Argument::Array(_, labels)) => labels.get(at).copied().unwrap_or(0),
                    Some(Argument::Word(label)) => label,
                    _ => 0,
                };
                states_of_label(label) as u64
            }
            Values::Flag => u64::from(choices.flag()),
            Values::Indicator => (within(choices, 3) as i64 - 1) as u64,
            Values::Small => within(choices, 6),
            Values::Word => choices.word(),
            Values::Constant(constants) => choices.pick(constants) as u64,
            Values::Probability => match choices.below(8) {
                0 => 0.0_f64,
                1 => 1.0,
                _ => choices.share(),
            }
            .to_bits(),
            Values::Weight => match choices.below(8) {
                0 => 0.0_f64,
                1 => 1.0,
                _ => choices.share() + f64::EPSILON,
            }
            .to_bits(),
            Values::Seconds => choices.pick(&[0.0, 0.001, 0.002, 1e9, f64::INFINITY]).to_bits(),
            Values::Pairs | Values::Offsets(_) | Values::SavedState | Values::GraphText => {
                unreachable!("made as a whole, not as {element:?}")
            }
        }
    }

    fn scalar(&mut self, index: usize, element: Element, values: Values) -> u64 {
        if self.careful(index) {
            return self.entry(element, values, usize::MAX);
        }
        self.nasty(element, values)
    }

    fn nasty(&mut self, element: Element, values: Values) -> u64 {
        if element == Element::F64 {
            return self.choices.pick(&NASTY_DOUBLES).to_bits();
        }
        let word = self.choices.pick(&NASTY_NUMBERS);
        // A variable may have billions of states; to go through them takes minutes, and as much memory.
        let many = values == Values::Cardinality && (10_000..1 << 32).contains(&word);
        if many { 0 } else { word }
    }

    /// Makes lengths wrong without making the arrays shorter than they say: less than there is, or more
    /// than any memory has.
    fn pinch(&mut self) {
        for index in 0..self.made.len() {
            let Kind::Length(wanted) = self.function.parameters[index].kind else { continue };
            if self.careful(index) || wanted == Wanted::Room {
                continue;
            }
            let Some(Argument::Word(length)) = self.made[index] else { continue };
            let wrong = match self.choices.below(4) {
                0 => 0,
                1 => length.saturating_sub(1),
                _ => {
                    // Every array of this length must be one that cannot be.
                    let dependent = |p: &super::table::Parameter| match p.kind {
                        Kind::Input(_, l, ..) | Kind::Sessions(l) | Kind::Output(_, Some(l), _) => {
                            l.parameter == Some(index)
                        }
                        _ => false,
                    };
                    for (argument, parameter) in self.made.iter_mut().zip(self.function.parameters)
                    {
                        if dependent(parameter) {
                            *argument = Some(Argument::Word(0));
                        }
                    }
                    self.choices.pick(&[u64::MAX, 1 << 63, 1 << 40, 3])
                }
            };
            self.made[index] = Some(Argument::Word(wrong));
        }
    }
}

/// Makes labels different from each other, as long as there are enough of them.
fn make_distinct(words: &mut [u64]) {
    for index in 1..words.len() {
        let (before, rest) = words.split_at_mut(index);
        for _ in 0..8 {
            if !before.contains(&rest[0]) {
                break;
            }
            rest[0] = (rest[0] + 1) % 8;
        }
    }
}
