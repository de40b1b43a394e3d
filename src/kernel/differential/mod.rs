//! Differential tests: the arithmetic of `cuda/arithmetic`, compiled by C++ compilers, gives the bits of `kernel`.
//!
//! Every function runs on many random cases here and in a program of `cuda/arithmetic` (see [`Build::compile`]), which
//! reads cases as words and writes results as words.

mod conjunctions;
mod means;
mod numbers;
mod products;
mod tables;

use super::number::ExtendedFloat;
use super::packed::EncodedMessage;
use super::product::Product;
use crate::testing::is_deep;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Random cases per group of functions.
const CASES: usize = 20_000;

/// The functions of the program, by their numbers there.
#[derive(Clone, Copy, Debug)]
enum Function {
    Number,
    EncodedMessage,
    FewProducts,
    ManyProducts,
    States,
    Sum,
    Horn,
    Noisy,
    Table,
    Terms,
    Mean,
    Damping,
    Threshold,
}

/// Words, for inputs and for results.
#[derive(Clone, Debug, Default, PartialEq)]
struct Words(Vec<u64>);

impl Words {
    fn word(&mut self, word: impl Into<u64>) -> &mut Self {
        self.0.push(word.into());
        self
    }

    fn count(&mut self, count: usize) -> &mut Self {
        self.word(count as u64)
    }

    fn number(&mut self, number: f64) -> &mut Self {
        self.word(number.to_bits())
    }

    fn numbers(&mut self, numbers: &[f64]) -> &mut Self {
        numbers.iter().for_each(|&number| self.0.push(number.to_bits()));
        self
    }

    fn encoded(&mut self, value: EncodedMessage) -> &mut Self {
        self.word(value.0)
    }

    /// Counts after their number.
    fn counts(&mut self, counts: impl ExactSizeIterator<Item = usize>) -> &mut Self {
        self.count(counts.len());
        counts.for_each(|count| self.0.push(count as u64));
        self
    }

    /// Values without their number.
    fn all(&mut self, values: &[EncodedMessage]) -> &mut Self {
        self.0.extend(values.iter().map(|value| value.0));
        self
    }

    /// Values after their number.
    fn list(&mut self, values: &[EncodedMessage]) -> &mut Self {
        self.count(values.len()).all(values)
    }

    fn extended(&mut self, value: ExtendedFloat) -> &mut Self {
        self.number(value.significand()).word(value.exponent() as u64)
    }

    fn product(&mut self, product: Product) -> &mut Self {
        self.0.extend(product.to_words());
        self
    }
}

/// Cases and the results of this module.
#[derive(Default)]
struct Cases(Vec<(Function, Words, Words)>);

impl Cases {
    /// Draws random values; `case` writes the inputs and the results of each.
    fn draw<S: Strategy>(
        &mut self, function: Function, strategy: S, case: impl Fn(S::Value, &mut Words, &mut Words),
    ) {
        // The same cases in every run: a failure can be looked at again.
        let mut runner = TestRunner::deterministic();
        for _ in 0..CASES {
            let value = strategy.new_tree(&mut runner).expect("no filter rejects").current();
            let (mut inputs, mut results) = (Words::default(), Words::default());
            case(value, &mut inputs, &mut results);
            self.0.push((function, inputs, results));
        }
    }

    fn input_bytes(&self) -> Vec<u8> {
        let mut words = Vec::new();
        for (function, inputs, _) in &self.0 {
            words.extend([*function as u64, inputs.0.len() as u64]);
            words.extend(&inputs.0);
        }
        words.into_iter().flat_map(u64::to_ne_bytes).collect()
    }

    /// Compares what a program wrote with the results of this module.
    fn compare(&self, output: &[u8], program: &str) {
        let mut words =
            output.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().unwrap()));
        for (index, (function, inputs, expected)) in self.0.iter().enumerate() {
            let length = words.next().expect("a result for every case") as usize;
            let found: Vec<u64> = words.by_ref().take(length).collect();
            if found != expected.0 {
                let place = found.iter().zip(&expected.0).position(|(a, b)| a != b);
                panic!(
                    "{program}: case {index}, {function:?}: result {place:?} of {length} differs\n\
                     inputs   {:x?}\nC++      {found:x?}\nRust     {:x?}",
                    inputs.0, expected.0
                );
            }
        }
        assert_eq!(words.next(), None, "{program}: more results than cases");
    }
}

/// Values of messages: near one and far from it, certain ones, and ones that no `f64` holds.
fn message() -> impl Strategy<Value = EncodedMessage> {
    prop_oneof![
        12 => (1e-3_f64..1e3).prop_map(EncodedMessage::from_f64),
        4 => (1.0_f64..2.0, -300_i64..300).prop_map(|(s, e)| EncodedMessage::pack(ExtendedFloat::from_parts(s, e))),
        2 => (1.0_f64..2.0, -1_000_i64..=1_000).prop_map(|(s, e)| EncodedMessage::pack(ExtendedFloat::from_parts(s, e))),
        1 => (1.0_f64..2.0, -17_000_i64..17_000)
            .prop_map(|(s, e)| EncodedMessage::pack(ExtendedFloat::from_parts(s, e))),
        1 => (1.0_f64..2.0, -3_000_000_i64..3_000_000)
            .prop_map(|(s, e)| EncodedMessage::pack(ExtendedFloat::from_parts(s, e))),
        2 => Just(EncodedMessage::ZERO),
        2 => Just(EncodedMessage::INFINITY),
        1 => Just(EncodedMessage::ONE),
    ]
}

/// Messages of one node: all near one in half of the cases, so that each path is taken often.
fn messages(
    count: impl Into<prop::collection::SizeRange>,
) -> impl Strategy<Value = Vec<EncodedMessage>> {
    let count = count.into();
    let near = (1e-6_f64..1e6).prop_map(EncodedMessage::from_f64);
    prop_oneof![prop::collection::vec(near, count.clone()), prop::collection::vec(message(), count),]
}

/// How the program is compiled.
#[derive(Clone, Debug)]
struct Build {
    compiler: PathBuf,
    flags: &'static [&'static str],
}

/// Without optimisation; as usual; with fused multiply-adds at hand, which the compiler must not use; with
/// a trap wherever behaviour is undefined.
const FLAGS: [&[&str]; 4] = [
    &["-O0"],
    &["-O2"],
    &["-O3", "-march=native"],
    &["-O1", "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error"],
];

impl Build {
    /// All compilers that are there, each once, with all flags; but in tests that are not deep, with two of them,
    /// the second compiler with those that the first has not.
    fn all() -> Vec<Self> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut compilers = Vec::new();
        let mut known = Vec::new();
        for name in ["c++", "g++", "clang++"] {
            let mut found = std::env::split_paths(&path).map(|folder| folder.join(name));
            let Some(file) = found.find(|file| file.exists()) else { continue };
            // By its own name: clang++ is clang by another one.
            let Ok(program) = file.canonicalize() else { continue };
            if !known.contains(&program) {
                known.push(program);
                compilers.push(file);
            }
        }
        let pairs = (0..compilers.len()).flat_map(|i| (0..FLAGS.len()).map(move |j| (i, j)));
        let pairs = pairs.filter(|&(i, j)| is_deep() || (i + j) % 2 == 1);
        let build =
            |(i, j): (usize, usize)| Self { compiler: compilers[i].clone(), flags: FLAGS[j] };
        pairs.map(build).collect()
    }

    fn name(&self) -> String {
        format!("{} {}", self.compiler.display(), self.flags.join(" "))
    }

    fn compile(&self, program: &Path) {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("cuda/arithmetic/differential.cpp");
        let mut command = Command::new(&self.compiler);
        command.args(["-std=c++14", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror"]);
        // That is meant: no branches.
        command.arg("-Wno-bitwise-instead-of-logical");
        command.args(self.flags).arg(source).arg("-o").arg(program);
        let output = command.output().expect("the compiler starts");
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {text}", self.name());
    }

    fn run(&self, program: &Path, input: &[u8]) -> Vec<u8> {
        let mut command = Command::new(program);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        let output = std::thread::scope(|scope| {
            // A program that stops early closes the pipe; its status tells.
            scope.spawn(move || drop(stdin.write_all(input)));
            child.wait_with_output().expect("the program ends")
        });
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {}: {text}", self.name(), output.status);
        output.stdout
    }
}

#[test]
fn the_arithmetic_of_gpus_has_the_same_bits() {
    let builds = Build::all();
    if builds.is_empty() {
        // Past the capture of what passing tests print, for scripts/test.
        let why = "no C++ compiler (c++, g++, clang++) is in PATH";
        let test = std::thread::current();
        let name = test.name().unwrap_or("a test");
        let _ = writeln!(std::io::stderr(), "skipped: {name}: {why}");
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary directory");
    let program = &|index: usize| folder.path().join(format!("program{index}"));
    let next = AtomicUsize::new(0);
    let cases = std::thread::scope(|scope| {
        // No more at a time than there are processors: other tests have threads that wait for each other.
        for _ in 0..num_cpus::get().min(builds.len()) {
            scope.spawn(|| {
                let indices = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
                for index in indices.take_while(|&index| index < builds.len()) {
                    builds[index].compile(&program(index));
                }
            });
        }
        let mut cases = Cases::default();
        numbers::draw(&mut cases);
        products::draw(&mut cases);
        conjunctions::draw(&mut cases);
        tables::draw(&mut cases);
        means::draw(&mut cases);
        cases
    });
    let input = cases.input_bytes();
    for (index, build) in builds.iter().enumerate() {
        cases.compare(&build.run(&program(index), &input), &build.name());
    }
}
