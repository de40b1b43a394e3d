//! Runs fuzz targets without libFuzzer: the inputs of `seeds`, then random changes of them.
//!
//!     replay [--runs N] [--seed S] [--seconds S] [--corpus] [TARGET|FILE...]
//!     replay --list
//!
//! A FILE, such as one that a fuzzer has left, is run by the target of its folder's name or of
//! `--target NAME`. What ends a run is left in `artifacts/TARGET`, and how to run it again is printed.

use fastlbp_fuzz::{TARGETS, Target, comparisons, report_of_calls};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A single run may take so many seconds, on a loaded machine.
const SLOWEST: u64 = 60;

/// Runs begun, so that one that does not end is noticed.
static BEGUN: AtomicU64 = AtomicU64::new(0);

struct Options {
    runs: Option<u64>,
    seed: u64,
    /// Most seconds for each target.
    seconds: u64,
    target: Option<String>,
    /// Whether the inputs that libFuzzer has found are begun with, too.
    corpus: bool,
    names: Vec<String>,
}

fn main() -> ExitCode {
    if std::env::args().skip(1).eq(["--list"]) {
        TARGETS.iter().for_each(|target| println!("{}", target.name));
        return ExitCode::SUCCESS;
    }
    match parse(std::env::args().skip(1)).and_then(|options| run(&options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("replay: {message}");
            ExitCode::FAILURE
        }
    }
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options {
        runs: None,
        seed: 1,
        seconds: u64::MAX,
        target: None,
        corpus: false,
        names: Vec::new(),
    };
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
        let number = |text: String| {
            text.parse().map_err(|_| format!("'{text}': a whole number is needed after {argument}"))
        };
        match &*argument {
            "--runs" => options.runs = Some(number(value()?)?),
            "--seed" => options.seed = number(value()?)?,
            "--seconds" => options.seconds = number(value()?)?,
            "--corpus" => options.corpus = true,
            "--target" => options.target = Some(value()?),
            _ if argument.starts_with('-') => return Err(format!("there is no option {argument}")),
            _ => options.names.push(argument),
        }
    }
    Ok(options)
}

fn named(name: &str) -> Result<&'static Target, String> {
    let known = || TARGETS.iter().map(|target| target.name).collect::<Vec<_>>().join(", ");
    let found = TARGETS.iter().find(|target| target.name == name);
    found.ok_or_else(|| format!("there is no target '{name}': {}", known()))
}

fn folder(part: &str, target: &Target) -> PathBuf {
    // Where it was built, or for a program that was moved, where it is run.
    let built = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = if built.is_dir() { built } else { Path::new("fuzz") };
    root.join(part).join(target.name)
}

fn run(options: &Options) -> Result<(), String> {
    watch();
    if options.names.is_empty() {
        return TARGETS.iter().try_for_each(|target| run_target(target, options));
    }
    for name in &options.names {
        let path = Path::new(name);
        if !path.is_file() {
            run_target(named(name)?, options)?;
            continue;
        }
        let above = path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
        let target = named(options.target.as_deref().or(above).unwrap_or_default())?;
        let bytes = std::fs::read(path).map_err(|error| format!("{name}: {error}"))?;
        (target.run)(&bytes);
        println!("{}: {name} passed", target.name);
    }
    Ok(())
}

/// Ends the process if a run does not end.
fn watch() {
    std::thread::spawn(|| {
        let mut seen = (0, Instant::now());
        loop {
            std::thread::sleep(Duration::from_secs(1));
            let begun = BEGUN.load(Ordering::Relaxed);
            if begun != seen.0 || begun == 0 {
                seen = (begun, Instant::now());
            } else if seen.1.elapsed() > Duration::from_secs(SLOWEST) {
                eprintln!("replay: a run has not ended after {SLOWEST} s; its input is 'last'");
                std::process::abort();
            }
        }
    });
}

/// The input of the run under way, in a file: a run that takes the process along leaves it behind.
struct Last {
    path: PathBuf,
    file: std::fs::File,
}

impl Last {
    fn new(target: &Target) -> std::io::Result<Self> {
        let folder = folder("artifacts", target);
        std::fs::create_dir_all(&folder)?;
        let path = folder.join(format!("last-{}", std::process::id()));
        Ok(Self { file: std::fs::File::create(&path)?, path })
    }

    fn set(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        use std::io::Seek;
        self.file.rewind()?;
        self.file.set_len(0)?;
        self.file.write_all(bytes)
    }
}

fn run_target(target: &Target, options: &Options) -> Result<(), String> {
    let started = Instant::now();
    let io = |error: std::io::Error| format!("{}: {error}", target.name);
    let mut seeds = seeds(target, "seeds").map_err(io)?;
    if options.corpus {
        seeds.extend(self::seeds(target, "corpus").map_err(io)?);
    }
    let mut last = Last::new(target).map_err(io)?;
    let mut one = |bytes: &[u8]| {
        last.set(bytes).map_err(io)?;
        BEGUN.fetch_add(1, Ordering::Relaxed);
        std::panic::catch_unwind(|| (target.run)(bytes)).map_err(|_| {
            let path = last.path.with_file_name(format!("crash-{}", std::process::id()));
            let _ = std::fs::rename(&last.path, &path);
            format!(
                "{}: the run above failed; to run it again: scripts/fuzz {} {}",
                target.name,
                target.name,
                path.display()
            )
        })
    };
    for (_, bytes) in &seeds {
        one(bytes)?;
    }
    let mut random = Random(options.seed ^ hash(target.name));
    let words = words();
    let mut done = 0;
    let mut bytes = Vec::new();
    for _ in 0..options.runs.unwrap_or(target.runs) {
        // Not every run: the clock takes longer than some of them.
        if done % 64 == 0 && started.elapsed().as_secs() >= options.seconds {
            break;
        }
        change(&seeds, &words, target.max_length, &mut random, &mut bytes);
        one(&bytes)?;
        done += 1;
    }
    let _ = std::fs::remove_file(&last.path);
    println!(
        "{}: {} inputs of seeds, {done} random changes of them: passed in {:.1} s",
        target.name,
        seeds.len(),
        started.elapsed().as_secs_f64()
    );
    if target.name == "engine" {
        println!("engine: {} comparisons", comparisons());
    }
    if target.name == "c_api" {
        let strict = done >= 1000;
        print!("{}", report_of_calls(strict)?);
        if !strict {
            println!("skipped: c_api: whether every function can succeed: {done} runs are too few");
        }
    }
    Ok(())
}

fn seeds(target: &Target, part: &str) -> std::io::Result<Vec<(PathBuf, Vec<u8>)>> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder(part, target))? {
        paths.push(entry?.path());
    }
    paths.sort();
    let read = |path: PathBuf| std::fs::read(&path).map(|bytes| (path, bytes));
    paths.into_iter().map(read).collect()
}

fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    }

    fn below(&mut self, count: usize) -> usize {
        (self.word() % count as u64) as usize
    }
}

/// What texts of the formats are made of.
fn words() -> Vec<Vec<u8>> {
    let lines = include_str!("../../words.dict").lines();
    let quoted = lines.filter_map(|line| line.strip_prefix('"')?.strip_suffix('"'));
    quoted
        .map(|text| match text.strip_prefix("\\x") {
            // One byte, or two.
            Some(codes) => codes
                .split("\\x")
                .map(|code| u8::from_str_radix(code, 16).expect("a byte in words.dict"))
                .collect(),
            None => text.into(),
        })
        .collect()
}

/// An input: random bytes now and then, else some changes of one of the seeds.
fn change(
    seeds: &[(PathBuf, Vec<u8>)], words: &[Vec<u8>], longest: usize, random: &mut Random,
    bytes: &mut Vec<u8>,
) {
    bytes.clear();
    if seeds.is_empty() || random.below(8) == 0 {
        let length = random.below(longest + 1);
        bytes.extend((0..length).map(|_| random.word() as u8));
        return;
    }
    bytes.extend_from_slice(&seeds[random.below(seeds.len())].1);
    for _ in 0..1 + random.below(4) {
        let at = random.below(bytes.len() + 1);
        let end = at + random.below((bytes.len() - at).min(16) + 1);
        match random.below(8) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            1 if at < bytes.len() => bytes[at] = random.word() as u8,
            2 => bytes.insert(at, random.word() as u8),
            3 => drop(bytes.drain(at..end)),
            4 => drop(bytes.splice(at..end, words[random.below(words.len())].iter().copied())),
            5 => {
                let again = bytes[at..end].to_vec();
                let to = random.below(bytes.len() + 1);
                drop(bytes.splice(to..to, again));
            }
            6 => {
                // The rest of another one.
                let other = &seeds[random.below(seeds.len())].1;
                bytes.truncate(at);
                bytes.extend_from_slice(&other[random.below(other.len() + 1)..]);
            }
            _ => bytes.truncate(at.max(1)),
        }
    }
    bytes.truncate(longest);
}
