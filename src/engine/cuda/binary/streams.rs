//! What each warp does in a pass, as a stream of words: see cuda/engine/stream.cuh.

/// What a warp reads at a time.
pub(super) const CHUNK_WORDS: usize = 128;
/// Bytes of shared memory in which each warp keeps what it has read ahead.
pub(super) const RING_BYTES: u32 = 8 * CHUNK_WORDS as u32 * 4;

/// Kinds of units.
const EMPTY: u32 = 0;
const TILE: u32 = 1;
const ITEM: u32 = 2;
const GATHERED: u32 = 3;

/// Where a unit says what ends with it, and what it waits for.
const END: usize = 3;
const END_OF_SECTION: u32 = 1;
const END_OF_PASS: u32 = 2;
const END_MASK: u32 = 15;
const COMPLETES: u32 = 1 << 4;
const WAITS: u32 = 1 << 5;
const COMPLETIONS_SHIFT: u32 = 6;
/// The number of times that warps complete narrow levels in a pass is below this.
pub(super) const MOST_COMPLETIONS: usize = 1 << (32 - COMPLETIONS_SHIFT);

/// Who meets at the end of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waiting {
    /// The blocks that run narrow levels.
    Narrow = 0,
    /// All blocks.
    All = 1,
}

/// All blocks meet, and again at the end of the section that they have no part in.
const ALL_TWICE: u32 = 2;

/// Words that one warp takes together, and the places of inputs among them, with their edges.
#[derive(Default)]
pub(super) struct Unit {
    words: Vec<u32>,
    inputs: Vec<(u32, u32)>,
}

impl Unit {
    /// Some factors of one arity, one for each thread.
    pub(super) fn tile(arity: usize, count: usize) -> Self {
        Self::new(TILE | (arity << 2 | count << 8) as u32)
    }

    /// Factors of at most this arity on 2^`levels` threads each.
    pub(super) fn gathered(arity: usize, levels: u32) -> Self {
        Self::new(GATHERED | (arity << 2) as u32 | levels << 8)
    }

    /// A factor for all threads.
    pub(super) fn item(arity: usize) -> Self {
        Self::new(ITEM | (arity << 2 | 1 << 8) as u32)
    }

    fn new(head: u32) -> Self {
        Self { words: vec![head, 0, 0, 0], inputs: Vec::new() }
    }

    /// Sets one of the words behind the head.
    pub(super) fn set(&mut self, index: usize, word: u32) {
        if self.words.len() <= index {
            self.words.resize(index + 1, u32::MAX);
        }
        self.words[index] = word;
    }

    /// Adds to a word that has been set.
    pub(super) fn add(&mut self, index: usize, more: u32) {
        self.words[index] |= more;
    }

    /// Sets a word that describes the input along an edge.
    pub(super) fn set_input(&mut self, index: usize, word: u32, edge: usize) {
        self.set(index, word);
        self.inputs.push((index as u32, edge as u32));
    }
}

/// The streams of all warps while they are made.
pub(super) struct Streams {
    streams: Vec<Unit>,
    /// Where each stream's last unit begins, and the last one that ends a section; `usize::MAX` for none.
    last: Vec<usize>,
    ends: Vec<usize>,
    blocks: usize,
    /// Whose turn it is: so that the warps of a level have not been busy in the one before.
    turn: usize,
    /// How often warps have completed narrow levels.
    completions: u32,
}

/// All streams, one after the other.
pub(super) struct StreamWords {
    pub words: Vec<u32>,
    /// The first chunk of each warp's, and the end.
    pub starts: Vec<u32>,
    /// The places of inputs with their edges.
    pub places: Vec<(u32, u32)>,
    /// How often warps complete narrow levels in a pass.
    pub completions: u32,
}

impl Streams {
    /// For so many blocks of so many warps.
    pub(super) fn new(blocks: usize, warps: usize) -> Self {
        let streams = std::iter::repeat_with(Unit::default).take(blocks * warps).collect();
        let none = vec![usize::MAX; blocks * warps];
        Self { streams, last: none.clone(), ends: none, blocks, turn: 0, completions: 0 }
    }

    /// Gives a level's units to the warps of the first blocks, in turn, block by block, from the number of
    /// `turn` on. If the level is narrow, its warps wait until the levels before have been completed.
    pub(super) fn push_level(
        &mut self,
        units: impl Iterator<Item = Unit>,
        blocks: usize,
        narrow: bool,
    ) {
        let warps = self.streams.len() / self.blocks;
        let waits = WAITS | self.completions << COMPLETIONS_SHIFT;
        let mut used = 0;
        for unit in units {
            let (block, warp) = (self.turn % blocks, self.turn / blocks % warps);
            self.turn = (self.turn + 1) % (blocks * warps);
            let stream = block * warps + warp;
            let first = used < blocks * warps;
            used += 1;
            if narrow && !first {
                // The last unit so far is not the last one.
                let at = self.last[stream] + END;
                self.streams[stream].words[at] &= !COMPLETES;
            }
            self.push(stream, unit);
            if narrow {
                let at = self.last[stream] + END;
                self.streams[stream].words[at] = COMPLETES | if first { waits } else { 0 };
            }
        }
        if narrow {
            self.completions += used.min(blocks * warps) as u32;
        }
    }

    /// Ends a section of the first blocks.
    pub(super) fn end_section(&mut self, blocks: usize, waiting: Waiting) {
        for stream in 0..blocks * (self.streams.len() / self.blocks) {
            if self.ends[stream] == self.last[stream] {
                // Nothing to do in this section.
                self.push(stream, Unit::new(EMPTY));
            }
            self.ends[stream] = self.last[stream];
            self.set_end(stream, END_OF_SECTION | (waiting as u32) << 2);
        }
    }

    fn set_end(&mut self, stream: usize, end: u32) {
        let at = self.ends[stream] + END;
        let word = &mut self.streams[stream].words[at];
        *word = *word & !END_MASK | end;
    }

    /// All blocks but the first ones, which go on alone, meet twice at the end of the last section.
    pub(super) fn wait_twice(&mut self, narrow: usize) {
        let warps = self.streams.len() / self.blocks;
        for stream in narrow * warps..self.streams.len() {
            self.set_end(stream, END_OF_SECTION | ALL_TWICE << 2);
        }
    }

    fn push(&mut self, warp: usize, mut unit: Unit) {
        unit.words.resize(unit.words.len().next_multiple_of(4), u32::MAX);
        unit.words[0] |= (unit.words.len() as u32 / 4) << 16;
        let stream = &mut self.streams[warp];
        let start = stream.words.len() as u32;
        self.last[warp] = start as usize;
        stream.words.append(&mut unit.words);
        stream.inputs.extend(unit.inputs.into_iter().map(|(at, edge)| (start + at, edge)));
    }

    /// Ends the streams, which have had a section at least. Each fills its last chunk.
    pub(super) fn finish(self) -> StreamWords {
        let mut all = StreamWords {
            words: Vec::new(),
            starts: vec![0],
            places: Vec::new(),
            completions: self.completions,
        };
        for (mut stream, end) in self.streams.into_iter().zip(self.ends) {
            let length = stream.words.len().next_multiple_of(CHUNK_WORDS);
            stream.words.resize(length, 0);
            stream.words[end + END] ^= END_OF_SECTION ^ END_OF_PASS;
            stream.words[end] = stream.words[end] & 0xffff | ((length - end) as u32 / 4) << 16;
            let start = all.words.len() as u32;
            all.words.append(&mut stream.words);
            all.places.extend(stream.inputs.into_iter().map(|(at, edge)| (start + at, edge)));
            all.starts.push((all.words.len() / CHUNK_WORDS) as u32);
        }
        all
    }
}
