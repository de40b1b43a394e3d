//! Sequences of calls of the C interface. What there is to call, `build` reads from the header: each
//! function with what its parameters are (`table`). `arguments` makes up arguments, mostly such as should
//! succeed, `Call` makes the call and checks what the header says of all functions:
//!
//! * a status that the function's comment names; never PANIC, and BUSY only from inside a callback;
//! * after a failure a text, and no output but `needed` written; nothing beyond what was to be written;
//! * no NaN among results; probabilities are such.
//!
//! What the header forbids is not done: handles that were freed, lengths beyond the memory there is.

mod arguments;
mod callbacks;
mod counts;
mod memory;
mod objects;
#[allow(clippy::all, unused_qualifications, reason = "generated in part")]
mod table;
mod texts;

pub use counts::report;

use crate::choices::Choices;
use arguments::{Argument, Arguments};
use memory::Block;
use objects::Objects;
use std::ffi::CStr;
use table::{Element, FUNCTIONS, Function, Kind, Returns, named};

/// Most calls of a run.
const CALLS: usize = 100;

pub fn run(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    texts::prepare();
    let mut objects = Objects::new(&mut choices);
    for _ in 0..CALLS {
        if choices.at_end() {
            break;
        }
        let index = choices.below(FUNCTIONS.len());
        call(index, &mut objects, &mut choices);
    }
    objects.free_all();
    (named("fastlbp_set_log_callback").call)(&[0, 0]);
}

const OK: i64 = 0;
const BUFFER_TOO_SMALL: i64 = 4;
const BUSY: i64 = 10;
const POISONED: i64 = 11;
const PANIC: i64 = 12;

/// The text of the last error on this thread.
fn last_error() -> String {
    let text = (named("fastlbp_last_error").call)(&[]);
    assert!(text != 0, "the last error is NULL");
    // SAFETY: a string of the library, valid until the next call on this thread.
    let text = unsafe { CStr::from_ptr(text as usize as *const _) };
    text.to_str().expect("UTF-8").to_string()
}

fn call(index: usize, objects: &mut Objects, choices: &mut Choices) {
    let function = &FUNCTIONS[index];
    let mut arguments = Arguments::new(function, objects, choices);
    if let Some(needed) = ask_for_length(function, &arguments) {
        arguments.set_room(function, needed, choices);
    }
    let before = last_error();
    let blocks: Vec<Option<Block>> = arguments.blocks(function);
    let words = arguments.words(&blocks);
    callbacks::begin(arguments.session());
    let result = (function.call)(&words);
    let done = callbacks::end();
    match function.returns {
        Returns::Status => {}
        Returns::Text => {
            assert!(result != 0, "{}: NULL", function.name);
            // SAFETY: a static string.
            let text = unsafe { CStr::from_ptr(result as usize as *const _) };
            assert!(text.to_str().is_ok(), "{}: {text:?}", function.name);
        }
        Returns::Nothing => {
            objects.gone(words[0]);
            counts::note(index, OK as usize);
            return;
        }
    }
    let status = if function.returns == Returns::Status { result } else { OK };
    let what = || format!("{} with {:?}: {status}, {}", function.name, arguments, last_error());
    assert!(function.statuses.contains(&status) || function.returns == Returns::Text, "{}", what());
    assert!(![POISONED, PANIC].contains(&status), "{}", what());
    // A session given twice.
    assert!(status != BUSY || function.name == "fastlbp_run_all", "{}", what());
    counts::note(index, status as usize);
    if status == OK {
        let kept = done.failed || last_error() == before;
        assert!(kept, "{} changed the error text: {}", function.name, last_error());
        check_outputs(function, &arguments, &blocks);
        objects.after(function, &words, &blocks);
    } else {
        assert!(!last_error().is_empty(), "{}", what());
        for (parameter, block) in function.parameters.iter().zip(&blocks) {
            let Some(block) = block else { continue };
            let written = match parameter.kind {
                Kind::Output(..) | Kind::One(..) | Kind::NewGraph | Kind::NewSession => {
                    !block.is_untouched_from(0)
                }
                _ => false,
            };
            assert!(!written, "{} was written by {}", parameter.name, what());
        }
    }
    if done.freed {
        objects.gone(arguments.session().expect("a session was freed"));
    }
    objects.keep_short(function, choices);
}

/// The length that a function needs of its buffers, by asking with none.
fn ask_for_length(function: &Function, arguments: &Arguments) -> Option<usize> {
    let needed = function.parameters.iter().position(|p| matches!(p.kind, Kind::Needed))?;
    let asking = arguments.without_room(function);
    let blocks = asking.blocks(function);
    let words = asking.words(&blocks);
    // No callback is to do anything in what is not counted.
    callbacks::begin(None);
    let status = (function.call)(&words);
    callbacks::end();
    assert!(function.statuses.contains(&status), "{} asked for a length: {status}", function.name);
    let block = blocks[needed].as_ref()?;
    if status != OK && status != BUFFER_TOO_SMALL {
        return None;
    }
    usize::try_from(block.words(Element::U64)[0]).ok()
}

/// What a function has written: no more than it should, and values that make sense.
fn check_outputs(function: &Function, arguments: &Arguments, blocks: &[Option<Block>]) {
    let name = function.name;
    let needed = function.parameters.iter().zip(blocks).find_map(|(parameter, block)| {
        let block = matches!(parameter.kind, Kind::Needed).then_some(block.as_ref()).flatten()?;
        Some(block.words(Element::U64)[0] as usize)
    });
    // What entries of a batch failed with is in their statuses, and their marginals are NaN.
    let any_number = name.contains("run_batch");
    for (parameter, block) in function.parameters.iter().zip(blocks) {
        let Some(block) = block else { continue };
        let (element, written) = match parameter.kind {
            Kind::Output(element, None, _) => {
                let written = needed.unwrap_or(block.bytes().len() / element.bytes());
                let bytes = written * element.bytes();
                assert!(bytes <= block.bytes().len(), "{name}: OK in too small a buffer");
                assert!(block.is_untouched_from(bytes), "{name} wrote beyond its end");
                (element, written)
            }
            Kind::Output(element, Some(length), _) => (element, arguments.entries(length)),
            Kind::One(element, _) => (element, 1),
            _ => continue,
        };
        for word in block.words(element).into_iter().take(written) {
            let valid = match element {
                Element::F64 => any_number || !f64::from_bits(word).is_nan(),
                Element::Status => word < 18 && word != PANIC as u64 && word != POISONED as u64,
                _ => true,
            };
            assert!(valid, "{name} with {arguments:?}: {word:#x} in {}", parameter.name);
        }
    }
    if matches!(name, "fastlbp_bp_belief" | "fastlbp_bp_factor_belief")
        && let Some(Argument::Room(room)) = arguments.room(function)
        && room > 0
    {
        let block = blocks.iter().zip(function.parameters).find_map(|(block, parameter)| {
            matches!(parameter.kind, Kind::Output(..)).then_some(block.as_ref()).flatten()
        });
        let Some(block) = block else { return };
        let values = block.words(Element::F64).into_iter().take(needed.unwrap_or(room));
        let sum: f64 = values.map(f64::from_bits).sum();
        assert!((sum - 1.0).abs() < 1e-9, "{name}: probabilities add up to {sum}");
    }
}
