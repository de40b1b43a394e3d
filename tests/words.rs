//! One word per thing: the glossary of the book defines each term once, and the words that its terms have
//! replaced occur nowhere else in the tree.
//!
//! Files that still have old words are listed in `tests/words/pending.txt`. The list only gets shorter: a file
//! on it without an old word fails the test, too. `FASTLBP_UPDATE_WORDS=1` takes such files off the list.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// What must not occur any more.
enum Old {
    /// An identifier, exactly.
    Name(&'static str),
    /// A type of this name, where it is declared: the name is an ordinary word at the beginning of a sentence.
    Type(&'static str),
    /// Words that follow each other, in any case. Identifiers count as their words: `maxPasses` and
    /// `max_passes` are both "max passes".
    Words(&'static str),
}

use Old::{Name, Type, Words};

/// The terms that have replaced others, with these. What is ordinary English as a word is listed as a name, or as
/// part of a phrase.
const TERMS: &[(&str, &[Old])] = &[
    (
        "iteration",
        &[
            Words("passes"),
            Words("a pass"),
            Words("per pass"),
            Words("each pass"),
            Words("every pass"),
            Words("this pass"),
            Words("last pass"),
            Words("first pass"),
            Words("next pass"),
            Words("in pass"),
            Words("one pass"),
            Words("pass by pass"),
        ],
    ),
    ("`ExtendedFloat`", &[Name("Wide"), Words("from wide")]),
    ("`ExtendedFloat32`", &[Type("Far"), Words("far message"), Words("far messages")]),
    (
        "`EncodedMessage`",
        &[Name("Packed"), Words("from packed"), Words("packed message"), Words("packed messages")],
    ),
    (
        "in f64 range",
        &[
            Type("Plain"),
            Name("PLAIN"),
            Name("PLAIN_EXPONENT"),
            Name("is_plain"),
            Words("plain f64"),
            Words("plain number"),
            Words("plain numbers"),
            Words("plain value"),
            Words("plain values"),
            Words("plain odds"),
            Words("plain and wide"),
        ],
    ),
    (
        "deterministic message",
        &[
            Words("certain message"),
            Words("certain messages"),
            Name("is_certain"),
            Name("may_be_certain"),
        ],
    ),
    (
        "synchronous",
        &[
            Name("Flood"),
            Words("flooding"),
            Words("super flood"),
            Words("mod flood"),
            Words("flood rs"),
            Words("all messages at once"),
        ],
    ),
    ("high-degree variable", &[Words("hub"), Words("hubs")]),
    (
        "high-arity factor",
        &[Words("giant"), Words("giants"), Words("wide factor"), Words("wide factors")],
    ),
    ("tile", &[Type("Piece"), Type("Pieces")]),
    (
        "block-resident",
        &[Type("Home"), Type("Homes"), Words("fn home"), Words("at home"), Words("homes")],
    ),
    ("boundary edge", &[Type("Joined")]),
    ("work item", &[Type("Unit"), Type("Units"), Type("Work")]),
    ("descriptor", &[Words("bit words"), Words("bitwords")]),
    ("message index in variable-major order", &[Type("Slot"), Type("Slots")]),
    ("convergence scan", &[Name("Look")]),
    ("reduction counters", &[Words("tally"), Words("tallies")]),
    (
        "iterations without a grid barrier",
        &[Words("run ahead"), Words("runs ahead"), Words("running ahead"), Words("ran ahead")],
    ),
    ("epoch", &[Type("Turn"), Type("Turns"), Words("fn turn")]),
    (
        "publish",
        &[
            Words("hand over"),
            Words("hands over"),
            Words("handed over"),
            Words("handing over"),
            Words("handover"),
            Words("handovers"),
            Words("hand overs"),
        ],
    ),
    ("`NOT_YET_WRITTEN`", &[Words("unsent")]),
    (
        "barrier",
        &[
            Words("blocks meet"),
            Words("threads meet"),
            Words("blocks have met"),
            Words("threads have met"),
            Words("meet other blocks"),
        ],
    ),
    ("owner", &[Type("Place"), Type("Sides"), Type("Holder"), Type("Mirrored")]),
    ("differential test", &[Words("twin"), Words("twins")]),
    ("prior", &[Words("singleton"), Words("singletons")]),
    ("active fraction", &[Words("frac")]),
    (
        "update",
        &[
            Words("send a message"),
            Words("sends a message"),
            Words("sent a message"),
            Words("send messages"),
            Words("sends messages"),
            Words("variables send"),
            Words("factors send"),
        ],
    ),
];

/// Terms that have replaced nothing in particular.
const OTHER_TERMS: &[&str] = &[
    "factor graph",
    "variable",
    "label",
    "index",
    "kind",
    "state",
    "factor",
    "edge",
    "evidence",
    "message",
    "belief",
    "marginal",
    "schedule",
    "preorder",
    "level",
    "wavefront",
    "pass",
    "residual",
    "damping",
    "active set",
    "contradiction",
    "segmented leave-one-out product",
    "task list",
    "poll",
    "session",
    "handle",
    "engine",
    "router",
    "snapshot",
];

/// Where old words mean something else: these words, in any file, are not looked at. Most are of one traversal
/// inside an algorithm, which is a pass, or of the verb.
const ELSEWHERE: &[&str] = &[
    "pass over",
    "passes over",
    "a second pass",
    "in one pass from",
    "passes on",
    "passes its value on",
    "which passes scripts",
    "lea and flood",
];

/// Files, or folders (with a slash at the end), that keep old words: with the reason.
const EXEMPT: &[(&str, &str)] = &[
    ("CHANGELOG.md", "says what was before"),
    ("cuda/", "the kernels, which are about to be written anew"),
    ("src/engine/cuda/binary/", "the host's part of these kernels"),
    (
        "src/engine/cuda/interface/",
        "what the host and these kernels share, by the names that they have there",
    ),
    ("tests/words.rs", "this list"),
    ("tests/words/", "the list of pending files"),
    ("tests/data/", "data of others"),
    ("fuzz/seeds/", "inputs"),
    ("proptest-regressions/", "inputs"),
    ("Cargo.lock", "made by cargo"),
    ("fuzz/Cargo.lock", "made by cargo"),
];

/// Old words that are the right ones in some files, or folders.
const ALLOWED: &[(&str, &[&str])] = &[
    // BINGO's name, where its protocol and its rule are spoken.
    (
        "frac",
        &[
            "docs/src/reference/contract.md",
            "docs/src/reference/glossary.md",
            "bindings/cpp/include/dai/",
            "bindings/cpp/include/dai_ext/",
            "src/bin/fastlbp/bingo.rs",
            "tests/common/golden.rs",
        ],
    ),
    // libDAI's name, where its interface is spoken.
    ("singleton", &["bindings/cpp/include/dai_ext/causal_fg.h", "tests/libdai/"]),
    // Where a file is, or is to be.
    ("Place", &["src/format/save/"]),
    ("Slot", &["src/format/save/", "src/threads.rs"]),
    ("Holder", &["bindings/cpp/include/dai/properties.h"]),
    // What each of some threads does in its turn.
    ("Turn", &["bindings/java/src/test/"]),
];

/// What stands before the name of a type where it is declared.
const DECLARATIONS: &[&str] = &["struct", "enum", "trait", "type", "class", "interface", "union"];

const PENDING: &str = "tests/words/pending.txt";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The text files of the tree, by their paths from its root; without what is built or fetched.
fn files() -> Vec<String> {
    fn collect(directory: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            let is_built = name == "target" || name == "build" || name.starts_with("build-");
            if path.is_dir() {
                let is_git = name == ".git" || name == "artifacts" || name == "corpus";
                // (`fuzz/build` is a source; `build` at the root and `target` anywhere are not.)
                if !is_git && (!is_built || path.ends_with("fuzz/build")) {
                    collect(&path, found);
                }
            } else if name != ".git" {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    collect(root(), &mut found);
    let names = found.iter().map(|path| path.strip_prefix(root()).unwrap().to_str().unwrap());
    let mut names: Vec<String> = names.map(String::from).collect();
    names.sort();
    names
}

fn is_below(path: &str, places: &[&str]) -> bool {
    places.iter().any(|place| path == *place || (place.ends_with('/') && path.starts_with(place)))
}

/// A word of a text in small letters, the line that it is in, and the identifier that it is a part of.
struct Word<'a> {
    word: String,
    line: usize,
    identifier: &'a str,
    /// Whether it is the first word of its identifier.
    begins: bool,
}

/// The words of a text: identifiers at their underscores and humps, without marks of comments between them.
fn words(text: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let identifiers = line.split(|c: char| !c.is_alphanumeric() && c != '_');
        for identifier in identifiers.filter(|identifier| !identifier.is_empty()) {
            let mut begins = true;
            let mut push = |word: String| {
                if !word.is_empty() {
                    words.push(Word {
                        word: word.to_lowercase(),
                        line: number + 1,
                        identifier,
                        begins,
                    });
                    begins = false;
                }
            };
            let mut word = String::new();
            let mut was_small = false;
            for c in identifier.chars() {
                if c == '_' || (c.is_uppercase() && was_small) {
                    push(std::mem::take(&mut word));
                }
                if c != '_' {
                    word.push(c);
                }
                was_small = c.is_lowercase() || c.is_numeric();
            }
            push(word);
        }
    }
    words
}

/// What is looked for, by its first word.
struct Rules {
    olds: HashMap<String, Vec<(&'static Old, &'static str)>>,
    elsewhere: HashMap<&'static str, Vec<&'static str>>,
}

impl Rules {
    fn new() -> Self {
        let mut rules = Self { olds: HashMap::new(), elsewhere: HashMap::new() };
        for (term, olds) in TERMS {
            for old in *olds {
                let (Name(text) | Type(text) | Words(text)) = old;
                let first = words(text).swap_remove(0).word;
                rules.olds.entry(first).or_default().push((old, term));
            }
        }
        for phrase in ELSEWHERE {
            let first = phrase.split(' ').next().unwrap();
            rules.elsewhere.entry(first).or_default().push(phrase);
        }
        rules
    }
}

/// Old words in a text: line, what is there, and what to say.
fn old_words(rules: &Rules, path: &str, text: &str) -> Vec<(usize, String, &'static str)> {
    let words = words(text);
    let matches = |at: usize, phrase: &str| {
        let wanted = phrase.split(' ');
        let count = wanted.clone().count();
        let found = words.get(at..at + count)?;
        found.iter().map(|word| word.word.as_str()).eq(wanted).then_some(count)
    };
    let mut is_elsewhere = vec![false; words.len()];
    for (at, word) in words.iter().enumerate() {
        for phrase in rules.elsewhere.get(word.word.as_str()).into_iter().flatten() {
            if let Some(count) = matches(at, phrase) {
                is_elsewhere[at..at + count].fill(true);
            }
        }
    }
    let allowed: Vec<&str> =
        ALLOWED.iter().filter(|(_, paths)| is_below(path, paths)).map(|(old, _)| *old).collect();
    let is_name = |at: usize, name: &str| words[at].begins && words[at].identifier == name;
    let is_declared = |at: usize| at > 0 && DECLARATIONS.contains(&words[at - 1].word.as_str());
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        for &(old, term) in rules.olds.get(&word.word).into_iter().flatten() {
            let (phrase, count) = match *old {
                Name(name) => (name, is_name(at, name).then_some(1)),
                Type(name) => (name, (is_name(at, name) && is_declared(at)).then_some(1)),
                Words(phrase) => (phrase, matches(at, phrase)),
            };
            let Some(count) = count else { continue };
            if !allowed.contains(&phrase) && !is_elsewhere[at..at + count].contains(&true) {
                found.push((word.line, phrase.to_string(), term));
            }
        }
    }
    found
}

/// The old words of the files that are not exempt.
fn found_in_tree() -> BTreeMap<String, Vec<(usize, String, &'static str)>> {
    let exempt: Vec<&str> = EXEMPT.iter().map(|(path, _)| *path).collect();
    let rules = Rules::new();
    let mut found = BTreeMap::new();
    for path in files() {
        if is_below(&path, &exempt) {
            continue;
        }
        // What is no text has no words.
        let Ok(text) = std::fs::read_to_string(root().join(&path)) else { continue };
        let old = old_words(&rules, &path, &format!("{path}\n{text}"));
        if !old.is_empty() {
            found.insert(path, old);
        }
    }
    found
}

#[test]
fn old_words_are_only_in_files_that_are_listed_as_pending() {
    let text = std::fs::read_to_string(root().join(PENDING)).unwrap();
    let (comments, pending): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|line| line.starts_with('#'));
    let pending: BTreeSet<&str> = pending.into_iter().collect();
    let found = found_in_tree();
    let mut wrong = String::new();
    for (path, old) in &found {
        if !pending.contains(path.as_str()) {
            writeln!(wrong, "{path} has old words:").unwrap();
            for (line, phrase, term) in old {
                // The first line is the path itself.
                writeln!(wrong, "    line {}: '{phrase}': say {term}", line - 1).unwrap();
            }
        }
    }
    let clean: Vec<&str> =
        pending.iter().copied().filter(|path| !found.contains_key(*path)).collect();
    if !clean.is_empty() && std::env::var_os("FASTLBP_UPDATE_WORDS").is_some() {
        let kept = pending.iter().filter(|path| !clean.contains(path)).copied();
        let lines: Vec<&str> = comments.into_iter().chain(kept).collect();
        std::fs::write(root().join(PENDING), lines.join("\n") + "\n").unwrap();
    } else {
        for path in clean {
            writeln!(wrong, "{PENDING} lists {path}, which has no old words: take it off").unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn exempt_files_exist() {
    for path in
        EXEMPT.iter().map(|(path, _)| path).chain(ALLOWED.iter().flat_map(|(_, paths)| *paths))
    {
        assert!(root().join(path).exists(), "{path} is exempt and not there");
    }
}

/// The glossary has a line `* **term**: ...` for each.
#[test]
fn each_term_is_defined_once() {
    let mut definitions: BTreeMap<String, usize> = BTreeMap::new();
    let book =
        files().into_iter().filter(|path| path.starts_with("docs/src/") && path.ends_with(".md"));
    for path in book {
        let text = std::fs::read_to_string(root().join(path)).unwrap();
        for line in text.lines().filter_map(|line| line.strip_prefix("* **")) {
            // Of "**head** and **body**:" both are defined.
            let (terms, _) = line.split_once(": ").or(line.split_once(":")).unwrap_or((line, ""));
            for term in terms.split("**").step_by(2).filter(|term| !term.is_empty()) {
                *definitions.entry(term.to_string()).or_default() += 1;
            }
        }
    }
    for term in TERMS.iter().map(|(term, _)| term).chain(OTHER_TERMS) {
        let count = definitions.get(*term).copied().unwrap_or(0);
        assert_eq!(count, 1, "definitions of {term}");
    }
}

#[test]
fn old_words_are_found_and_ordinary_ones_are_not() {
    let rules = Rules::new();
    let phrases = |text: &str| -> Vec<String> {
        old_words(&rules, "a.rs", text).into_iter().map(|(_, phrase, _)| phrase).collect()
    };
    assert_eq!(phrases("bp.setMaxPasses(3)"), ["passes"]);
    assert_eq!(phrases("fn most_passes()"), ["passes"]);
    assert_eq!(phrases("/// ends with a\n/// pass"), ["a pass"]);
    assert_eq!(phrases("struct Look { tally: Tally }"), ["Look", "tally", "tally"]);
    assert_eq!(phrases("pub enum Place {"), ["Place"]);
    assert_eq!(phrases("WideFactors::new()"), ["wide factors"]);
    for ordinary in [
        "look at the work of each unit; in turn, an item has its home in a slot",
        "Work is shared, Unit by Unit; Place i is a type of place; Units in the last place",
        "one pass over the edges, and a second pass; the test passes on",
        "as far as it is plain, a wide piece of it is certain; it may be packed",
        "password, a passenger, frack, github, hubris",
        "the flood of 1953; Steele, Lea and Flood 2014",
    ] {
        assert_eq!(phrases(ordinary), [""; 0], "{ordinary}");
    }
}
