//! What each warp does in a pass, as a stream of words: see cuda/engine/stream.cuh.

/// What a warp reads at a time.
pub(super) const CHUNK_WORDS: usize = 128;
/// Bytes of shared memory in which each warp keeps what it has read ahead.
pub(super) const RING_BYTES: u32 = 8 * CHUNK_WORDS as u32 * 4;

/// Kinds of units.
const END_OF_LEVEL: u32 = 0;
const TILE: u32 = 1;
const ITEM: u32 = 2;
const END_OF_PASS: u32 = 3;

/// Who waits at the end of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waiting {
    /// The blocks that run narrow levels.
    Narrow = 0,
    /// All blocks.
    All = 1,
}

/// All blocks wait, and again for the next level that they have a part in.
const ALL_TWICE: u32 = 2;

/// Words that one warp takes together, and the places of inputs among them, with their edges.
#[derive(Default)]
pub(super) struct Unit {
    words: Vec<u32>,
    inputs: Vec<(u32, u32)>,
}

impl Unit {
    /// Some factors of one arity, one for each thread; four words that are set by [`Streams::push`].
    pub(super) fn tile(arity: usize, count: usize) -> Self {
        Self::new(TILE | (arity << 2 | count << 8) as u32)
    }

    /// Factors of at most this arity on several threads each.
    pub(super) fn groups(arity: usize) -> Self {
        Self::new(ITEM | (arity << 2 | 2 << 8) as u32)
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

    /// Sets a word that describes the input along an edge.
    pub(super) fn set_input(&mut self, index: usize, word: u32, edge: usize) {
        self.set(index, word);
        self.inputs.push((index as u32, edge as u32));
    }
}

/// The streams of all warps while they are made.
pub(super) struct Streams {
    streams: Vec<Unit>,
    /// Where each stream's last end of a level stands.
    ends: Vec<usize>,
    blocks: usize,
}

/// All streams, one after the other.
pub(super) struct StreamWords {
    pub words: Vec<u32>,
    /// The first chunk of each warp's, and the end.
    pub starts: Vec<u32>,
    /// The places of inputs with their edges.
    pub places: Vec<(u32, u32)>,
}

impl Streams {
    /// For so many blocks of so many warps.
    pub(super) fn new(blocks: usize, warps: usize) -> Self {
        let streams = std::iter::repeat_with(Unit::default).take(blocks * warps).collect();
        Self { streams, ends: vec![0; blocks * warps], blocks }
    }

    /// Gives a level's units to the warps of the first blocks, in turn, block by block.
    pub(super) fn push_level(
        &mut self,
        units: impl Iterator<Item = Unit>,
        blocks: usize,
        waiting: Waiting,
    ) {
        let warps = self.streams.len() / self.blocks;
        for (number, unit) in units.enumerate() {
            let (block, warp) = (number % blocks, number / blocks % warps);
            self.push(block * warps + warp, unit);
        }
        for stream in 0..blocks * warps {
            self.ends[stream] = self.streams[stream].words.len();
            self.streams[stream].words.extend([
                END_OF_LEVEL | (waiting as u32) << 2 | 1 << 16,
                0,
                0,
                0,
            ]);
        }
    }

    /// All blocks but the first ones, which go on alone, wait twice at the end of the last level.
    pub(super) fn wait_twice(&mut self, narrow: usize) {
        let warps = self.streams.len() / self.blocks;
        for (stream, &end) in self.streams.iter_mut().zip(&self.ends).skip(narrow * warps) {
            stream.words[end] = END_OF_LEVEL | ALL_TWICE << 2 | 1 << 16;
        }
    }

    fn push(&mut self, warp: usize, mut unit: Unit) {
        unit.words.resize(unit.words.len().next_multiple_of(4), u32::MAX);
        unit.words[0] |= (unit.words.len() as u32 / 4) << 16;
        let stream = &mut self.streams[warp];
        let start = stream.words.len() as u32;
        stream.words.append(&mut unit.words);
        stream.inputs.extend(unit.inputs.into_iter().map(|(at, edge)| (start + at, edge)));
    }

    /// Ends the streams. Each fills its last chunk.
    pub(super) fn finish(self) -> StreamWords {
        let mut all = StreamWords { words: Vec::new(), starts: vec![0], places: Vec::new() };
        for (mut stream, end) in self.streams.into_iter().zip(self.ends) {
            let length = stream.words.len().next_multiple_of(CHUNK_WORDS);
            stream.words.resize(length, 0);
            let waiting = stream.words[end] & 0b1100;
            stream.words[end] = END_OF_PASS | waiting | ((length - end) as u32 / 4) << 16;
            let start = all.words.len() as u32;
            all.words.append(&mut stream.words);
            all.places.extend(stream.inputs.into_iter().map(|(at, edge)| (start + at, edge)));
            all.starts.push((all.words.len() / CHUNK_WORDS) as u32);
        }
        all
    }
}
