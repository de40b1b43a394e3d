//! The allocations that abort the process when they fail, as a library has no error for them. All are small.

use super::allocator::Abort;

struct Exception {
    what: &'static str,
    /// How the name of a function that is being called begins, and a part of its file's.
    function: &'static str,
    file: &'static str,
    /// Most bytes that it may ask for.
    bytes: usize,
}

const EXCEPTIONS: &[Exception] = &[
    // The thread's name, its handle and its closure.
    Exception { what: "start of a thread", function: "spawn", file: "std/src/thread/", bytes: 512 },
    Exception { what: "short text", function: "", file: "alloc/src/fmt.rs", bytes: 1024 },
    // Memory for it was there a moment ago.
    Exception {
        what: "shared object",
        function: "shared<",
        file: "src/memory/allocation.rs",
        bytes: 4096,
    },
    Exception { what: "codec of gzip", function: "", file: "/flate2-", bytes: 1 << 20 },
];

/// What is known of a place where a process ended.
pub fn exception(abort: &Abort) -> Option<&'static str> {
    let known = EXCEPTIONS.iter().find(|known| {
        abort.bytes <= known.bytes
            && abort.calls.iter().any(|(function, file)| {
                function.starts_with(known.function) && file.contains(known.file)
            })
    });
    known.map(|known| known.what)
}
