//! What each warp does in a pass, as a stream of words: see cuda/engine/stream.cuh.

/// What a warp reads at a time.
pub(super) const CHUNK_WORDS: usize = 128;
/// Bytes of shared memory in which each warp keeps what it has read ahead.
pub(super) const RING_BYTES: u32 = 8 * CHUNK_WORDS as u32 * 4;

/// Kinds of units.
const EMPTY: u32 = 0;
const TILE: u32 = 1;
const ITEM: u32 = 2;

/// Where a unit says whether a pass ends with it.
const END: usize = 3;

/// Words that one warp takes together, and the places of inputs among them, with their edges.
#[derive(Default)]
pub(super) struct Unit {
    words: Vec<u32>,
    inputs: Vec<(u32, u32)>,
}

impl Unit {
    /// Some factors of one arity, one for each thread.
    pub(super) fn tile(arity: usize) -> Self {
        Self::new(TILE | (arity << 2) as u32)
    }

    /// A factor for all threads.
    pub(super) fn item(arity: usize) -> Self {
        Self::new(ITEM | (arity << 2) as u32)
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

/// All streams, one after the other.
pub(super) struct StreamWords {
    pub words: Vec<u32>,
    /// The first chunk of each warp's, and the end.
    pub starts: Vec<u32>,
    /// The places of inputs with their edges.
    pub places: Vec<(u32, u32)>,
}

impl StreamWords {
    /// Gives units to the warps of so many blocks, in turn, block by block.
    pub(super) fn new(units: Vec<Unit>, blocks: usize, warps: usize) -> Self {
        let mut streams: Vec<Stream> = Vec::new();
        streams.resize_with(blocks * warps, Stream::default);
        for (turn, unit) in units.into_iter().enumerate() {
            let turn = turn % (blocks * warps);
            streams[turn % blocks * warps + turn / blocks].push(unit);
        }
        let mut all = Self { words: Vec::new(), starts: vec![0], places: Vec::new() };
        for mut stream in streams {
            if stream.words.is_empty() {
                stream.push(Unit::new(EMPTY));
            }
            let length = stream.words.len().next_multiple_of(CHUNK_WORDS);
            stream.words.resize(length, 0);
            stream.words[stream.last + END] = 1;
            let head = &mut stream.words[stream.last];
            *head = *head & 0xffff | ((length - stream.last) as u32 / 4) << 16;
            let start = all.words.len() as u32;
            all.words.append(&mut stream.words);
            all.places.extend(stream.inputs.into_iter().map(|(at, edge)| (start + at, edge)));
            all.starts.push((all.words.len() / CHUNK_WORDS) as u32);
        }
        all
    }
}

/// What one warp does, while it is made.
#[derive(Default)]
struct Stream {
    words: Vec<u32>,
    inputs: Vec<(u32, u32)>,
    /// Where the last unit begins.
    last: usize,
}

impl Stream {
    fn push(&mut self, mut unit: Unit) {
        unit.words.resize(unit.words.len().next_multiple_of(4), u32::MAX);
        unit.words[0] |= (unit.words.len() as u32 / 4) << 16;
        self.last = self.words.len();
        let start = self.last as u32;
        self.words.append(&mut unit.words);
        self.inputs.extend(unit.inputs.into_iter().map(|(at, edge)| (start + at, edge)));
    }
}
