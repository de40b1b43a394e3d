// Made from src/engine/cuda/interface by FASTLBP_UPDATE_HEADER=1 cargo test --lib interface; not to be edited.
//
// What host and device share, and where each field must be.
#pragma once

#include "../arithmetic/horn.cuh"
#include "../arithmetic/product.cuh"
#include "../arithmetic/terms.cuh"

#ifdef __CUDACC_RTC__
// What the run-time compiler has instead of __builtin_offsetof.
#define FASTLBP_OFFSET(type, field) __INTADDR__(&static_cast<type *>(nullptr)->field)
#else
#define FASTLBP_OFFSET(type, field) __builtin_offsetof(type, field)
#endif
#define FASTLBP_FIELD(type, field, offset) \
    static_assert(FASTLBP_OFFSET(type, field) == offset, #type "::" #field)

namespace fastlbp {

// Of cuda/arithmetic: where the host expects fields.

static_assert(sizeof(Packed) == 8, "Packed");
FASTLBP_FIELD(Packed, bits, 0);

static_assert(sizeof(Wide) == 16, "Wide");
FASTLBP_FIELD(Wide, significand, 0);
FASTLBP_FIELD(Wide, exponent, 8);

static_assert(sizeof(Product) == 24, "Product");
FASTLBP_FIELD(Product, significand, 0);
FASTLBP_FIELD(Product, exponent, 8);
FASTLBP_FIELD(Product, infinities, 16);
FASTLBP_FIELD(Product, zeros, 20);

static_assert(sizeof(HeadValues) == 32, "HeadValues");
FASTLBP_FIELD(HeadValues, values, 0);

static_assert(sizeof(HornCoefficients) == 48, "HornCoefficients");
FASTLBP_FIELD(HornCoefficients, head, 0);
FASTLBP_FIELD(HornCoefficients, negated, 32);
FASTLBP_FIELD(HornCoefficients, flags, 40);
FASTLBP_FIELD(HornCoefficients, words, 44);

static_assert(HORN_PLAIN == 1, "HORN_PLAIN");
static_assert(HORN_LISTED == 2, "HORN_LISTED");

static_assert(sizeof(TermLiteral) == 8, "TermLiteral");
FASTLBP_FIELD(TermLiteral, position, 0);
FASTLBP_FIELD(TermLiteral, state, 4);

static_assert(BLOCK == 8, "BLOCK");

// Runs.

/// Which rule ends a run: `Rule::kind`.
enum RuleKind : uint32_t {
    RULE_PASSES = 0,
    RULE_TOLERANCE = 1,
    RULE_BINGO = 2,
};

/// Of `Rule::flags`: a contradiction ends the run.
constexpr uint32_t STOP_AT_CONTRADICTION = 1;
/// Updates are not synchronous.
constexpr uint32_t BY_LEVELS = 2;
/// The run began with uniform messages.
constexpr uint32_t FRESH = 4;
/// Nobody needs the largest change of each iteration, as long as it exceeds the tolerance: any that does may stand for it.
constexpr uint32_t ROUGH = 8;
/// States of messages that are there at the same time where updates are synchronous.
constexpr uint32_t PASS_BUFFERS = 2;

/// Why a run ended: `RunState::reason`.
enum EndReason : uint32_t {
    RUNNING = 0,
    CONVERGED = 1,
    ALL_PASSES = 2,
    SHARE = 3,
    CONTRADICTION = 4,
};

/// What is known about a variable: nothing; a binary one observed; another one observed, whose weights are one-hot; soft
/// evidence, whose weights are one more message.
enum Known : uint32_t {
    KNOWN_NOTHING = 0,
    KNOWN_FALSE = 1,
    KNOWN_TRUE = 2,
    KNOWN_STATE = 3,
    KNOWN_WEIGHTS = 4,
};

/// Threads of a block, but by levels of the binary program.
constexpr uint32_t THREADS = 512;

/// When a run ends.
struct Rule {
    /// A `RuleKind`.
    uint32_t kind;
    uint32_t flags;
    double tolerance;
    uint64_t min_iterations;
    /// Of RULE_PASSES their number.
    uint64_t max_iterations;
    /// Variables and factors.
    uint64_t nodes;
};

static_assert(sizeof(Rule) == 40, "Rule");
FASTLBP_FIELD(Rule, kind, 0);
FASTLBP_FIELD(Rule, flags, 4);
FASTLBP_FIELD(Rule, tolerance, 8);
FASTLBP_FIELD(Rule, min_iterations, 16);
FASTLBP_FIELD(Rule, max_iterations, 24);
FASTLBP_FIELD(Rule, nodes, 32);

/// The reduction counters of a state and of the iteration that led to it. Zero bits are empty ones: the lowest variables are
/// kept as complements, of which the largest counts. After a launch, the host reads those of the last iteration.
struct Tally {
    /// Largest change, as bits of a double that is not negative.
    unsigned long long max_diff;
    /// Variables and factors that moved by more than the tolerance.
    unsigned long long moved;
    /// Messages of factors that were 0/0 in the iteration.
    unsigned long long factor_count;
    /// Variables at which deterministic messages of the state disagree.
    unsigned long long variable_count;
    /// The lowest variable to which a message was 0/0.
    uint32_t factor_lowest;
    /// The lowest at which deterministic messages of the state disagree.
    uint32_t variable_lowest;
    /// By levels, the lowest at which deterministic messages disagreed when one was computed.
    uint32_t met_lowest;
    /// By levels, whether a message has become deterministic, or is so no longer.
    uint32_t certain_changed;
};

static_assert(sizeof(Tally) == 48, "Tally");
FASTLBP_FIELD(Tally, max_diff, 0);
FASTLBP_FIELD(Tally, moved, 8);
FASTLBP_FIELD(Tally, factor_count, 16);
FASTLBP_FIELD(Tally, variable_count, 24);
FASTLBP_FIELD(Tally, factor_lowest, 32);
FASTLBP_FIELD(Tally, variable_lowest, 36);
FASTLBP_FIELD(Tally, met_lowest, 40);
FASTLBP_FIELD(Tally, certain_changed, 44);

/// Convergence scans of which something is there at the same time.
constexpr uint32_t SCANS = 8;

/// The progress of the convergence scan of a state (binary graphs only): work items that warps have taken and finished, those of
/// factors, and those of large variables that they have multiplied. Starts at zero.
struct LookProgress {
    uint32_t taken;
    uint32_t finished;
    uint32_t factors_taken;
    uint32_t multiplied;
};

static_assert(sizeof(LookProgress) == 16, "LookProgress");
FASTLBP_FIELD(LookProgress, taken, 0);
FASTLBP_FIELD(LookProgress, finished, 4);
FASTLBP_FIELD(LookProgress, factors_taken, 8);
FASTLBP_FIELD(LookProgress, multiplied, 12);

/// What was found of a run.
struct Found {
    /// As in `RunReport`.
    double max_diff;
    /// As in `RunReport`.
    double active_fraction;
    /// Largest number of contradictory places in an iteration.
    uint64_t contradictions;
    /// Number of those that ended the run.
    uint64_t error_count;
    /// Complements of variables; 0 for none.
    uint32_t first_contradiction;
    uint32_t error_variable;
    /// Variables that moved by more than the tolerance when all were measured last.
    uint64_t moved;
    /// How many iterations run at once of which a sample is measured; 0: not known yet.
    uint64_t at_once;
    /// The iteration after which a sample did not say that the run goes on; 0: none.
    uint64_t doubtful;
};

static_assert(sizeof(Found) == 64, "Found");
FASTLBP_FIELD(Found, max_diff, 0);
FASTLBP_FIELD(Found, active_fraction, 8);
FASTLBP_FIELD(Found, contradictions, 16);
FASTLBP_FIELD(Found, error_count, 24);
FASTLBP_FIELD(Found, first_contradiction, 32);
FASTLBP_FIELD(Found, error_variable, 36);
FASTLBP_FIELD(Found, moved, 40);
FASTLBP_FIELD(Found, at_once, 48);
FASTLBP_FIELD(Found, doubtful, 56);

/// The state of a run, in the device's memory between launches.
struct Control {
    /// Iterations of this run.
    uint64_t iterations;
    /// An `EndReason`.
    uint32_t reason;
    /// Which of the program's buffers holds the messages.
    uint32_t buffer;
    Found found;
    Tally counters[4];
    /// Of the states, and of a second scan of each.
    LookProgress scans[8];
};

static_assert(sizeof(Control) == 400, "Control");
FASTLBP_FIELD(Control, iterations, 0);
FASTLBP_FIELD(Control, reason, 8);
FASTLBP_FIELD(Control, buffer, 12);
FASTLBP_FIELD(Control, found, 16);
FASTLBP_FIELD(Control, counters, 80);
FASTLBP_FIELD(Control, scans, 272);

/// The log entry of an iteration: as in `Progress` of a run.
struct Progress {
    double max_diff;
    double active_fraction;
};

static_assert(sizeof(Progress) == 16, "Progress");
FASTLBP_FIELD(Progress, max_diff, 0);
FASTLBP_FIELD(Progress, active_fraction, 8);

/// What a launch is to do, the last argument of each kernel that runs iterations: some until the rule ends the run, or `limit`
/// of the run are done.
struct Loop {
    Rule rule;
    uint64_t limit;
    Control *control;
    /// An entry for each iteration of the launch.
    Progress *log;
    /// Zeros at the beginning: the words of the grid barrier; or a counter of turns that warps have done with, and words for
    /// each block.
    uint32_t *barrier;
};

static_assert(sizeof(Loop) == 72, "Loop");
FASTLBP_FIELD(Loop, rule, 0);
FASTLBP_FIELD(Loop, limit, 40);
FASTLBP_FIELD(Loop, control, 48);
FASTLBP_FIELD(Loop, log, 56);
FASTLBP_FIELD(Loop, barrier, 64);

/// Of the words behind the counter of turns, that of the first block,
constexpr uint32_t GO_FIRST = 32;
/// and how many words farther that of the next one is.
constexpr uint32_t GO_STRIDE = 8;

// Factors of any kind.

/// How many threads share a factor, or a variable.
enum Span : uint32_t {
    SPAN_THREAD = 0,
    SPAN_WARP = 1,
    SPAN_BLOCK = 2,
};

/// `Record::kind`.
enum FactorKind : uint32_t {
    HORN_FACTOR = 0,
    NOISY_FACTOR = 1,
    TABLE_FACTOR = 2,
    TERMS_FACTOR = 3,
};

/// A factor: its kind, the position of its head, and the number of its parameters among those of its kind.
struct Record {
    uint32_t kind;
    uint32_t head;
    uint32_t parameter;
};

static_assert(sizeof(Record) == 12, "Record");
FASTLBP_FIELD(Record, kind, 0);
FASTLBP_FIELD(Record, head, 4);
FASTLBP_FIELD(Record, parameter, 8);

/// A noisy conjunction: see `NoisyLiterals`.
struct NoisyRecord {
    HeadValues head;
    const double (*literals)[2][2];
};

static_assert(sizeof(NoisyRecord) == 40, "NoisyRecord");
FASTLBP_FIELD(NoisyRecord, head, 0);
FASTLBP_FIELD(NoisyRecord, literals, 32);

/// A table: its values, the range of their exponents, and how many they are.
struct TableRecord {
    const double *values;
    int64_t low;
    int64_t high;
    uint32_t entries;
    uint32_t padding;
};

static_assert(sizeof(TableRecord) == 32, "TableRecord");
FASTLBP_FIELD(TableRecord, values, 0);
FASTLBP_FIELD(TableRecord, low, 8);
FASTLBP_FIELD(TableRecord, high, 16);
FASTLBP_FIELD(TableRecord, entries, 24);
FASTLBP_FIELD(TableRecord, padding, 28);

/// A factor of terms: see `TermInputs`.
struct TermsRecord {
    const double *weights;
    const uint32_t *offsets;
    const TermLiteral *literals;
    uint32_t terms;
    /// Of all variables together.
    uint32_t states;
    /// Whether some weight is negative.
    uint32_t signed_weights;
    uint32_t padding;
};

static_assert(sizeof(TermsRecord) == 40, "TermsRecord");
FASTLBP_FIELD(TermsRecord, weights, 0);
FASTLBP_FIELD(TermsRecord, offsets, 8);
FASTLBP_FIELD(TermsRecord, literals, 16);
FASTLBP_FIELD(TermsRecord, terms, 24);
FASTLBP_FIELD(TermsRecord, states, 28);
FASTLBP_FIELD(TermsRecord, signed_weights, 32);
FASTLBP_FIELD(TermsRecord, padding, 36);

/// What factors have that are no conjunctions of literals.
struct FactorParameters {
    const NoisyRecord *noisy;
    const TableRecord *tables;
    const TermsRecord *terms;
};

static_assert(sizeof(FactorParameters) == 24, "FactorParameters");
FASTLBP_FIELD(FactorParameters, noisy, 0);
FASTLBP_FIELD(FactorParameters, tables, 8);
FASTLBP_FIELD(FactorParameters, terms, 16);

/// Most inputs of a factor whose changes one warp adds up for BINGO's rule, a power of two.
constexpr uint32_t PART_OF_LIST = 2048;

/// Factors with more: in parts of so many edges (see sums.cuh). The first part of each, and the end; of each part its first
/// edge and how many it has; room for the sum of each; and how many factors and parts there are.
struct LongFactors {
    const uint32_t *first_parts;
    const uint32_t *part_edges;
    double *sums;
    uint32_t count;
    uint32_t parts;
};

static_assert(sizeof(LongFactors) == 32, "LongFactors");
FASTLBP_FIELD(LongFactors, first_parts, 0);
FASTLBP_FIELD(LongFactors, part_edges, 8);
FASTLBP_FIELD(LongFactors, sums, 16);
FASTLBP_FIELD(LongFactors, count, 24);
FASTLBP_FIELD(LongFactors, parts, 28);

/// Factors that are no conjunctions of literals, of several variables, to each of which a warp sees: by their numbers their
/// records; their parameters; the states of as many variables as one may have; and memory, of so many bytes for each warp.
struct OtherFactors {
    const Record *records;
    FactorParameters parameters;
    const uint32_t *radices;
    unsigned char *memory;
    uint64_t bytes;
};

static_assert(sizeof(OtherFactors) == 56, "OtherFactors");
FASTLBP_FIELD(OtherFactors, records, 0);
FASTLBP_FIELD(OtherFactors, parameters, 8);
FASTLBP_FIELD(OtherFactors, radices, 32);
FASTLBP_FIELD(OtherFactors, memory, 40);
FASTLBP_FIELD(OtherFactors, bytes, 48);

// Words of the binary program.

/// An input of a factor: the slot of its edge; where all messages are sent at once, whether its variable has soft evidence; and
/// where the message comes from (Source).
constexpr uint32_t INPUT_SLOT_MASK = 0xfffffff;
#define input_slot(word) ((word) & INPUT_SLOT_MASK)
constexpr uint32_t INPUT_SOFT = 0x10000000;
#define input_soft(word) (((word) & INPUT_SOFT) != 0)
constexpr uint32_t INPUT_SOURCE_SHIFT = 29;
constexpr uint32_t INPUT_SOURCE_MASK = 0xe0000000;
#define input_source(word) ((word) >> INPUT_SOURCE_SHIFT)

/// The same by levels, where slots have fewer bits: which of the variable's messages is the last one, that whose slot differs
/// from the input's by these three bits; 0: none.
constexpr uint32_t LEVEL_INPUT_SLOT_MASK = 0x1ffffff;
#define level_input_slot(word) ((word) & LEVEL_INPUT_SLOT_MASK)
constexpr uint32_t LEVEL_INPUT_LAST_SHIFT = 25;
constexpr uint32_t LEVEL_INPUT_LAST_MASK = 0xe000000;
#define level_input_last(word) ((word) >> LEVEL_INPUT_LAST_SHIFT & 0x7)
constexpr uint32_t LEVEL_INPUT_SOFT = 0x10000000;
#define level_input_soft(word) (((word) & LEVEL_INPUT_SOFT) != 0)
constexpr uint32_t LEVEL_INPUT_SOURCE_SHIFT = 29;
constexpr uint32_t LEVEL_INPUT_SOURCE_MASK = 0xe0000000;
#define level_input_source(word) ((word) >> LEVEL_INPUT_SOURCE_SHIFT)

/// The second word of an input by levels: the thread that has what the variable sends, and in which round, those of hubs and
/// then hubs in pieces following the others; whether its edge is sent; whether the literal is that the variable is in state 0;
/// and the number of coefficients.
constexpr uint32_t LEVEL_WANT_THREAD_MASK = 0x1f;
#define level_want_thread(word) ((word) & LEVEL_WANT_THREAD_MASK)
constexpr uint32_t LEVEL_WANT_ROUND_SHIFT = 5;
constexpr uint32_t LEVEL_WANT_ROUND_MASK = 0x3e0;
#define level_want_round(word) ((word) >> LEVEL_WANT_ROUND_SHIFT & 0x1f)
constexpr uint32_t LEVEL_WANT_SENT = 0x400;
#define level_want_sent(word) (((word) & LEVEL_WANT_SENT) != 0)
constexpr uint32_t LEVEL_WANT_NEGATED = 0x800;
#define level_want_negated(word) (((word) & LEVEL_WANT_NEGATED) != 0)
constexpr uint32_t LEVEL_WANT_COEFFICIENTS_SHIFT = 12;
constexpr uint32_t LEVEL_WANT_COEFFICIENTS_MASK = 0xfffff000;
#define level_want_coefficients(word) ((word) >> LEVEL_WANT_COEFFICIENTS_SHIFT)

/// A message that a thread reads by levels: its slot, the first one behind all for none; of the first one that the thread
/// reads, whether the last one for its own input is of the pass before; whether it is a last one; whether it is read anew; and the
/// logarithm of the number of threads that read the same variable's.
constexpr uint32_t LEAF_SLOT_MASK = 0x1ffffff;
#define leaf_slot(word) ((word) & LEAF_SLOT_MASK)
constexpr uint32_t LEAF_LAST_IS_OLD = 0x2000000;
#define leaf_last_is_old(word) (((word) & LEAF_LAST_IS_OLD) != 0)
constexpr uint32_t LEAF_LAST = 0x8000000;
#define leaf_last(word) (((word) & LEAF_LAST) != 0)
constexpr uint32_t LEAF_NEW = 0x10000000;
#define leaf_new(word) (((word) & LEAF_NEW) != 0)
constexpr uint32_t LEAF_LEVELS_SHIFT = 29;
constexpr uint32_t LEAF_LEVELS_MASK = 0xe0000000;
#define leaf_levels(word) ((word) >> LEAF_LEVELS_SHIFT)

/// What a thread reads of a hub: a bit for each new message; the logarithm of the number of threads that read the same hub's;
/// how far from that of the factor the slot of the last message is (0: there is none); and a bit for that one among eight.
constexpr uint32_t HUB_READING_NEWS_MASK = 0xff;
#define hub_reading_news(word) ((word) & HUB_READING_NEWS_MASK)
constexpr uint32_t HUB_READING_LEVELS_SHIFT = 9;
constexpr uint32_t HUB_READING_LEVELS_MASK = 0xe00;
#define hub_reading_levels(word) ((word) >> HUB_READING_LEVELS_SHIFT & 0x7)
constexpr uint32_t HUB_READING_LAST_SHIFT = 12;
constexpr uint32_t HUB_READING_LAST_MASK = 0x7000;
#define hub_reading_last(word) ((word) >> HUB_READING_LAST_SHIFT & 0x7)
constexpr uint32_t HUB_READING_LAST_BITS_SHIFT = 16;
constexpr uint32_t HUB_READING_LAST_BITS_MASK = 0xff0000;
#define hub_reading_last_bits(word) ((word) >> HUB_READING_LAST_BITS_SHIFT & 0xff)

/// Instead of messages there are ones, as in the places of last ones.
constexpr uint32_t HUB_NOTHING = 0xff0000;

/// Behind the words of a factor's own piece of a hub, 32 for each height: the place where a piece's version is, and whether that
/// is of this pass.
constexpr uint32_t VERSION_PLACE_MASK = 0x7fffffff;
#define version_place(word) ((word) & VERSION_PLACE_MASK)
constexpr uint32_t VERSION_NEW = 0x80000000;
#define version_new(word) (((word) & VERSION_NEW) != 0)

/// There is none, of the own one and of those that are not there.
constexpr uint32_t VERSION_NONE = 0xffffffff;

/// What a thread sends of a hub to several factors: a bit for each of the eight messages that it reads, whether a message is sent to
/// its slot; and whether it is new for messages to earlier slots.
constexpr uint32_t LEVEL_MESSAGE_SENT_MASK = 0xff;
#define level_message_sent(word) ((word) & LEVEL_MESSAGE_SENT_MASK)
constexpr uint32_t LEVEL_MESSAGE_NEWS_SHIFT = 8;
constexpr uint32_t LEVEL_MESSAGE_NEWS_MASK = 0xff00;
#define level_message_news(word) ((word) >> LEVEL_MESSAGE_NEWS_SHIFT & 0xff)

/// `LevelUnit::shape`.
/// Rounds in which threads read a message each, of variables with up to four.
constexpr uint32_t UNIT_SHAPE_ROUNDS_MASK = 0x7;
#define unit_shape_rounds(word) ((word) & UNIT_SHAPE_ROUNDS_MASK)
/// Logarithm of the most threads that read the messages of a hub.
constexpr uint32_t UNIT_SHAPE_HUB_LEVELS_SHIFT = 3;
constexpr uint32_t UNIT_SHAPE_HUB_LEVELS_MASK = 0x38;
#define unit_shape_hub_levels(word) ((word) >> UNIT_SHAPE_HUB_LEVELS_SHIFT & 0x7)
/// Whether it is no factors, but the product of a piece of a hub.
constexpr uint32_t UNIT_SHAPE_MULTIPLIES = 0x40;
#define unit_shape_multiplies(word) (((word) & UNIT_SHAPE_MULTIPLIES) != 0)
/// Whether it is of a factor with warps of its own, or of several small tables.
constexpr uint32_t UNIT_SHAPE_NODE = 0x80;
#define unit_shape_node(word) (((word) & UNIT_SHAPE_NODE) != 0)
/// Whether it is no factors, but what hubs send to several.
constexpr uint32_t UNIT_SHAPE_VARIABLES = 0x100;
#define unit_shape_variables(word) (((word) & UNIT_SHAPE_VARIABLES) != 0)
/// Logarithm of the number of threads of each factor.
constexpr uint32_t UNIT_SHAPE_LEVELS_SHIFT = 9;
constexpr uint32_t UNIT_SHAPE_LEVELS_MASK = 0xe00;
#define unit_shape_levels(word) ((word) >> UNIT_SHAPE_LEVELS_SHIFT & 0x7)
/// Rounds in which threads read eight messages each of hubs, and the number of hubs in pieces.
constexpr uint32_t UNIT_SHAPE_WIDE_ROUNDS_SHIFT = 12;
constexpr uint32_t UNIT_SHAPE_WIDE_ROUNDS_MASK = 0x3f000;
#define unit_shape_wide_rounds(word) ((word) >> UNIT_SHAPE_WIDE_ROUNDS_SHIFT & 0x3f)
constexpr uint32_t UNIT_SHAPE_GIANTS_SHIFT = 18;
constexpr uint32_t UNIT_SHAPE_GIANTS_MASK = 0xfc0000;
#define unit_shape_giants(word) ((word) >> UNIT_SHAPE_GIANTS_SHIFT & 0x3f)
/// Inputs with exponents below four times this, and certain ones, can be computed with as doubles; 0: none can.
constexpr uint32_t UNIT_SHAPE_RANGE_SHIFT = 24;
constexpr uint32_t UNIT_SHAPE_RANGE_MASK = 0xff000000;
#define unit_shape_range(word) ((word) >> UNIT_SHAPE_RANGE_SHIFT)

/// The second word that a thread has in a unit of hubs: a number, and which of the eight slots are of edges.
constexpr uint32_t HUB_UNIT_NUMBER_MASK = 0xffffff;
#define hub_unit_number(word) ((word) & HUB_UNIT_NUMBER_MASK)
constexpr uint32_t HUB_UNIT_EDGES_SHIFT = 24;
constexpr uint32_t HUB_UNIT_EDGES_MASK = 0xff000000;
#define hub_unit_edges(word) ((word) >> HUB_UNIT_EDGES_SHIFT)

/// A unit of factors: its first row, and its kind.
constexpr uint32_t FACTOR_UNIT_ROW_MASK = 0xfffffff;
#define factor_unit_row(word) ((word) & FACTOR_UNIT_ROW_MASK)
constexpr uint32_t FACTOR_UNIT_KIND_SHIFT = 28;
constexpr uint32_t FACTOR_UNIT_KIND_MASK = 0xf0000000;
#define factor_unit_kind(word) ((word) >> FACTOR_UNIT_KIND_SHIFT)

// The binary program.
#ifdef __CUDACC__

/// Sources of what a factor reads of a variable, by its word.
enum Source : uint32_t {
    /// There is no other message: it is 1.
    SOURCE_NONE = 0,
    /// Stored, by the hub.
    SOURCE_PREPARED = 1,
    /// Observed in state 0.
    SOURCE_FALSE = 2,
    /// Observed in state 1.
    SOURCE_TRUE = 3,
    /// By levels: all that it has are read.
    SOURCE_READ = 4,
};

/// Where `Known` has a state of several: a likelihood of each state of a binary variable.
constexpr uint32_t KNOWN_SOFT = 3;
/// Most messages of a hub that one warp takes at once, 8 by each thread.
constexpr uint32_t WARP_LEAVES = 256;
/// Messages of a hub that a thread takes by levels.
constexpr uint32_t THREAD_LEAVES = 8;
/// Most pieces of WARP_LEAVES whose products fit in a block's shared memory.
constexpr uint32_t SHARED_PIECES = 512;
/// States of the messages that are there at the same time by levels, where passes overlap (see overlap.cuh); each pass leads
/// to the next one of them, by turns. Where all messages are sent at once there are PASS_BUFFERS.
constexpr uint32_t LEVEL_STATES = 5;
/// Threads of a block by levels: few, as each needs many registers and most of them wait.
constexpr uint32_t LEVEL_THREADS = 256;
/// Words of 32 units each in which a warp notes how they are sent.
constexpr uint32_t WAY_WORDS = 32;
/// Bytes of shared memory at most that blocks have besides what is at home.
constexpr uint32_t FLOOD_SHARED = 8192;
/// Most passes that run ahead at a time where contradictions do not end the run.
constexpr uint32_t AHEAD_AT_MOST = 1024;
/// In an image of a home, where its room begins: behind the Home.
constexpr uint32_t IMAGE_ROOM = 512;
/// What others wait for has these bits as long as it is not there. No message and no product has them.
constexpr uint64_t UNSENT = 0xffffffffffffffff;
/// Kinds of units that all blocks share, in the order in which a warp does them: the product of a piece of a large hub, what
/// small ones send, what a piece sends; pieces of large factors; small tables; other factors that are no conjunctions. So many there
/// are.
constexpr uint32_t FLOOD_MULTIPLY = 0;
constexpr uint32_t FLOOD_HUBS = 1;
constexpr uint32_t FLOOD_SEND = 2;
constexpr uint32_t FLOOD_LARGE_FACTORS = 3;
constexpr uint32_t FLOOD_SMALL_TABLES = 4;
constexpr uint32_t FLOOD_OTHER_FACTORS = 5;
constexpr uint32_t FLOOD_HUB_KINDS = 6;
/// Words of a body that a warp hands over: of the two numbers the bits of the significand, and the exponent.
constexpr uint32_t BODY_WORDS = 4;
/// By levels, words of a node of a conjunction of more than 32 variables, and what its units do (see binary_level_bodies.cuh): that of a leaf
/// hands over the body of its literals; one above, the root, and one below it; that of a leaf sends its messages.
constexpr uint32_t NODE_WORDS = 10;
constexpr uint32_t NODE_LEAF_UP = 0;
constexpr uint32_t NODE_UP = 1;
constexpr uint32_t NODE_ROOT = 2;
constexpr uint32_t NODE_DOWN = 3;
constexpr uint32_t NODE_LEAF_DOWN = 4;
/// No part of a tree, but a factor that is no conjunction; or small tables, each by as many threads.
constexpr uint32_t NODE_OTHER_FACTOR = 5;
constexpr uint32_t NODE_SMALL_TABLES = 6;
/// Most variables of these.
constexpr uint32_t SMALL_TABLE = 4;
/// No node.
constexpr uint32_t NODE_NONE = 0xffffffff;
/// Most variables of a factor that a single thread takes.
constexpr uint32_t TILE_ARITY = 8;
/// Kinds of units of factors behind tiles of the arities 2, 3, ...: a factor with more variables.
constexpr uint32_t FLOOD_WIDE = 7;
/// Factors with up to four variables or up to eight: with few factors, fewer instructions for the cache are worth more than
/// variables that are not there cost.
constexpr uint32_t FLOOD_UP_TO_FOUR = 8;
constexpr uint32_t FLOOD_UP_TO_EIGHT = 9;
/// Classes of hubs by the number of threads: large ones, 32, 16, 8, 4, 2, 1.
constexpr uint32_t HUB_CLASSES = 7;
/// Classes of variables that are at a home: hubs but the large ones, then those with 4 slots, 2 and 1.
constexpr uint32_t HOME_CLASSES = 9;
/// So many of them are classes of hubs.
constexpr uint32_t HOME_HUBS = 6;

/// Variables of a class that are at a home: where they begin, by position, among slots, at the home's places for messages
/// and among its variables, and how many they are.
struct HomeRange {
    uint32_t position;
    uint32_t slot;
    uint32_t place;
    uint32_t index;
    uint32_t count;
};

static_assert(sizeof(HomeRange) == 20, "HomeRange");
FASTLBP_FIELD(HomeRange, position, 0);
FASTLBP_FIELD(HomeRange, slot, 4);
FASTLBP_FIELD(HomeRange, place, 8);
FASTLBP_FIELD(HomeRange, index, 12);
FASTLBP_FIELD(HomeRange, count, 16);

/// Where an array's part begins that a home has, and its length.
struct HomePart {
    uint32_t first;
    uint32_t count;
};

static_assert(sizeof(HomePart) == 8, "HomePart");
FASTLBP_FIELD(HomePart, first, 0);
FASTLBP_FIELD(HomePart, count, 4);

/// What a home has. Words of hubs are of a block: where there are several homes for each, those of the first ones are of
/// the first block, and so on.
struct HomeShape {
    HomeRange ranges[9];
    /// Places for messages; those from `inbox` on are of edges to variables of all homes, so many of them to others than
    /// large hubs, which come first.
    uint32_t places;
    uint32_t inbox;
    uint32_t early;
    HomePart joined;
    HomePart constants;
    HomePart words;
    HomePart hubs;
    HomePart hub_words;
    /// Units of factors, and how many of them are of such without large hubs.
    HomePart units;
    uint32_t early_units;
    uint32_t variables;
};

static_assert(sizeof(HomeShape) == 248, "HomeShape");
FASTLBP_FIELD(HomeShape, ranges, 0);
FASTLBP_FIELD(HomeShape, places, 180);
FASTLBP_FIELD(HomeShape, inbox, 184);
FASTLBP_FIELD(HomeShape, early, 188);
FASTLBP_FIELD(HomeShape, joined, 192);
FASTLBP_FIELD(HomeShape, constants, 200);
FASTLBP_FIELD(HomeShape, words, 208);
FASTLBP_FIELD(HomeShape, hubs, 216);
FASTLBP_FIELD(HomeShape, hub_words, 224);
FASTLBP_FIELD(HomeShape, units, 232);
FASTLBP_FIELD(HomeShape, early_units, 240);
FASTLBP_FIELD(HomeShape, variables, 244);

struct LevelUnit;

/// A unit of the levels: the first of its chunks of words, and its shape.
struct LevelUnitData {
    uint32_t chunk;
    uint32_t shape;
};

static_assert(sizeof(LevelUnitData) == 8, "LevelUnitData");
FASTLBP_FIELD(LevelUnitData, chunk, 0);
FASTLBP_FIELD(LevelUnitData, shape, 4);

/// Two bits for each of a warp's units, which tell how it is sent where the usual way did not do once; those 32 * WAY_WORDS apart
/// share them.
struct UnitWays {
    uint64_t words[32];
};

static_assert(sizeof(UnitWays) == 256, "UnitWays");
FASTLBP_FIELD(UnitWays, words, 0);

struct Binary;

/// The graph, its messages and what is done with them.
struct BinaryData {
    /// States of messages, by slot; and how many entries each has.
    Packed *messages;
    uint64_t stride;
    /// By slot, of hubs only: their messages to their factors. Then the products of pieces (Pieces in binary_pieces.cuh).
    Packed *prepared;
    uint32_t variables;
    /// First position of those with 4, 2, 1, 0 slots, and the first slot of each.
    uint32_t fours;
    uint32_t twos;
    uint32_t ones;
    uint32_t zeros;
    uint32_t four_slot;
    uint32_t two_slot;
    uint32_t one_slot;
    /// First position of each class of hubs, and the number of hubs.
    uint32_t classes[8];
    /// By position; hub_slots has an entry more than there are hubs.
    const uint32_t *variable;
    const uint32_t *hub_slots;
    /// The position of the hub to which each eight slots of hubs belong.
    const uint32_t *hub_of_eight;
    const uint32_t *known;
    /// Large hubs have pieces of WARP_LEAVES slots: if one has more than SHARED_PIECES, room for two products of each; the
    /// hub of each; the first piece of each large hub, and the end.
    Product *pieces;
    const uint32_t *piece_hubs;
    const uint32_t *hub_pieces;
    /// Where all messages are sent at once, what each warp does (see binary_flood.cuh): words that change with the evidence,
    /// first rows of units of hubs, units of factors.
    const uint32_t *flood_words;
    const uint32_t *flood_starts;
    const uint32_t *factor_units;
    /// What each home has (see binary_home.cuh), the words of its factors, places of its hubs, what factors with one
    /// variable send to which places; and whether words are in shared memory too. If there are more than blocks, home_turns
    /// for each, they take turns in shared memory, and have images of so many bytes in the device's memory. By position, the
    /// number of a variable's factors.
    const HomeShape *homes;
    const uint32_t *home_words;
    const uint32_t *home_hubs;
    const uint32_t *home_constant_places;
    const Packed *home_constants;
    unsigned char *home_images;
    uint64_t home_bytes;
    /// Of homes that take turns, two orders in which blocks take them, and two times of each (see binary_turns.cuh).
    uint32_t *home_orders;
    uint32_t *home_times;
    uint32_t home_turns;
    uint32_t home_words_inside;
    const uint32_t *degrees;
    /// By slot, of hubs: where messages of hubs and to hubs are if they do not fit where others are (binary_exchange.cuh).
    Packed *far_prepared;
    Packed *far_given;
    const HornCoefficients *coefficients;
    uint32_t coefficient_count;
    uint32_t constant_count;
    /// Factors with one variable: slots and what they send.
    const uint32_t *constant_slots;
    const Packed *constants;
    /// Last beliefs by position, where all messages are sent at once with a copy behind them; rings of them; last probabilities of inputs by slot, and by how much they have changed.
    double *beliefs;
    double *history;
    double *inputs;
    double *changes;
    uint32_t history_length;
    uint32_t factors;
    /// The slots of each factor's edges in their order.
    const uint32_t *factor_offsets;
    const uint32_t *edge_slots;
    /// By levels: a bit for each slot whose message is sent in every pass; what each warp does, as units and their words,
    /// and each warp's first unit (see binary_levels.cuh).
    const uint32_t *sent;
    const LevelUnit *level_units;
    const uint4 *level_words;
    const uint32_t *level_starts;
    /// Room for SCANS times two words of each piece of a large hub, for who looks at states (see Look).
    uint64_t *looked_pieces;
    /// What the messages of the first two states were before damping, and in runs with an active set the messages once more;
    /// null in other runs. The damping; the same as a multiple of 1/MEAN_DENOMINATOR, or 0 if it is none; and whether the run
    /// is one of maxima.
    Packed *undamped;
    double damping;
    uint32_t mean_numerator;
    uint32_t maxima;
    /// With an active set, the factor by which odds have to grow or fall to be stored; else 0.
    double least_growth;
    /// Soft evidence as one more message to a variable: of hubs by the number of their slots divided by 8, then of others by
    /// position. Null if there is none.
    const Packed *soft;
    /// Where all messages are sent at once: what is found of AHEAD_AT_MOST states and one more, if passes run ahead.
    Tally *tallies_ahead;
    /// By levels: of each of so many warps, which of its units are unusual, from launch to launch of a run; the products of
    /// pieces of large hubs, in two words each, of all states, of which each has product_stride words; by piece, those of all
    /// heights one after the other, the place of the product of all its messages; and of each piece above the lowest ones the number
    /// of its first part among these, and the end (see binary_versions.cuh).
    UnitWays *level_ways;
    uint64_t *level_products;
    uint64_t product_stride;
    const uint32_t *piece_places;
    const uint32_t *piece_parts;
    uint32_t level_warps;
    /// Where all messages are sent at once, the number of pieces of large factors; of each, for passes from either buffer, its body
    /// (see binary_large_factors.cuh).
    uint32_t factor_pieces;
    uint64_t *factor_bodies;
    /// By levels: NODE_WORDS of each node of conjunctions of more than 32 variables, of all states, of which each has node_stride words.
    uint64_t *level_nodes;
    uint64_t node_stride;
    OtherFactors others;
    LongFactors long_factors;
};

static_assert(sizeof(BinaryData) == 608, "BinaryData");
FASTLBP_FIELD(BinaryData, messages, 0);
FASTLBP_FIELD(BinaryData, stride, 8);
FASTLBP_FIELD(BinaryData, prepared, 16);
FASTLBP_FIELD(BinaryData, variables, 24);
FASTLBP_FIELD(BinaryData, fours, 28);
FASTLBP_FIELD(BinaryData, twos, 32);
FASTLBP_FIELD(BinaryData, ones, 36);
FASTLBP_FIELD(BinaryData, zeros, 40);
FASTLBP_FIELD(BinaryData, four_slot, 44);
FASTLBP_FIELD(BinaryData, two_slot, 48);
FASTLBP_FIELD(BinaryData, one_slot, 52);
FASTLBP_FIELD(BinaryData, classes, 56);
FASTLBP_FIELD(BinaryData, variable, 88);
FASTLBP_FIELD(BinaryData, hub_slots, 96);
FASTLBP_FIELD(BinaryData, hub_of_eight, 104);
FASTLBP_FIELD(BinaryData, known, 112);
FASTLBP_FIELD(BinaryData, pieces, 120);
FASTLBP_FIELD(BinaryData, piece_hubs, 128);
FASTLBP_FIELD(BinaryData, hub_pieces, 136);
FASTLBP_FIELD(BinaryData, flood_words, 144);
FASTLBP_FIELD(BinaryData, flood_starts, 152);
FASTLBP_FIELD(BinaryData, factor_units, 160);
FASTLBP_FIELD(BinaryData, homes, 168);
FASTLBP_FIELD(BinaryData, home_words, 176);
FASTLBP_FIELD(BinaryData, home_hubs, 184);
FASTLBP_FIELD(BinaryData, home_constant_places, 192);
FASTLBP_FIELD(BinaryData, home_constants, 200);
FASTLBP_FIELD(BinaryData, home_images, 208);
FASTLBP_FIELD(BinaryData, home_bytes, 216);
FASTLBP_FIELD(BinaryData, home_orders, 224);
FASTLBP_FIELD(BinaryData, home_times, 232);
FASTLBP_FIELD(BinaryData, home_turns, 240);
FASTLBP_FIELD(BinaryData, home_words_inside, 244);
FASTLBP_FIELD(BinaryData, degrees, 248);
FASTLBP_FIELD(BinaryData, far_prepared, 256);
FASTLBP_FIELD(BinaryData, far_given, 264);
FASTLBP_FIELD(BinaryData, coefficients, 272);
FASTLBP_FIELD(BinaryData, coefficient_count, 280);
FASTLBP_FIELD(BinaryData, constant_count, 284);
FASTLBP_FIELD(BinaryData, constant_slots, 288);
FASTLBP_FIELD(BinaryData, constants, 296);
FASTLBP_FIELD(BinaryData, beliefs, 304);
FASTLBP_FIELD(BinaryData, history, 312);
FASTLBP_FIELD(BinaryData, inputs, 320);
FASTLBP_FIELD(BinaryData, changes, 328);
FASTLBP_FIELD(BinaryData, history_length, 336);
FASTLBP_FIELD(BinaryData, factors, 340);
FASTLBP_FIELD(BinaryData, factor_offsets, 344);
FASTLBP_FIELD(BinaryData, edge_slots, 352);
FASTLBP_FIELD(BinaryData, sent, 360);
FASTLBP_FIELD(BinaryData, level_units, 368);
FASTLBP_FIELD(BinaryData, level_words, 376);
FASTLBP_FIELD(BinaryData, level_starts, 384);
FASTLBP_FIELD(BinaryData, looked_pieces, 392);
FASTLBP_FIELD(BinaryData, undamped, 400);
FASTLBP_FIELD(BinaryData, damping, 408);
FASTLBP_FIELD(BinaryData, mean_numerator, 416);
FASTLBP_FIELD(BinaryData, maxima, 420);
FASTLBP_FIELD(BinaryData, least_growth, 424);
FASTLBP_FIELD(BinaryData, soft, 432);
FASTLBP_FIELD(BinaryData, tallies_ahead, 440);
FASTLBP_FIELD(BinaryData, level_ways, 448);
FASTLBP_FIELD(BinaryData, level_products, 456);
FASTLBP_FIELD(BinaryData, product_stride, 464);
FASTLBP_FIELD(BinaryData, piece_places, 472);
FASTLBP_FIELD(BinaryData, piece_parts, 480);
FASTLBP_FIELD(BinaryData, level_warps, 488);
FASTLBP_FIELD(BinaryData, factor_pieces, 492);
FASTLBP_FIELD(BinaryData, factor_bodies, 496);
FASTLBP_FIELD(BinaryData, level_nodes, 504);
FASTLBP_FIELD(BinaryData, node_stride, 512);
FASTLBP_FIELD(BinaryData, others, 520);
FASTLBP_FIELD(BinaryData, long_factors, 576);

#endif

// The general program.

/// Lanes of a warp item, and most variables of a factor in one.
constexpr uint32_t ITEM_LANES = 32;
/// `readers` of a variable that sends.
constexpr uint32_t NO_READER = 0xffffffff;
/// In place of the number of a variable that is never prepared.
constexpr uint32_t NOT_PREPARED = 0xffffffff;
/// Variables of a conjunction up to which its messages need no memory but a thread's own.
constexpr uint32_t SMALL_ARITY = 8;
/// Single messages out of variables with more edges are computed by all threads of a block.
constexpr uint32_t HIGH_DEGREE = 256;
/// Messages over the states of variables that a group computes at once, one value by each thread.
constexpr uint64_t VALUES_AT_ONCE = 128;
/// Variables of several states by the lanes that have one: so many, twice as many, and so on.
constexpr uint32_t FEWEST_STATE_LANES = 4;
constexpr uint32_t STATE_CLASSES = 4;
/// Tiles of a row, in which variables are whole; and what stands for none.
constexpr uint32_t TILES_OF_ROW = 16;
constexpr uint32_t NO_TILE = 0xffffffff;
/// The logarithm of the number of lanes of a variable that shares a warp with others.
constexpr uint32_t SHARED_WARP_LEVELS = 2;
/// Most states of a variable of a table, by the classes of tables; those of the middle one are a tile.
constexpr uint32_t SMALL_PAIR = 8;
constexpr uint32_t MIDDLE_PAIR = 16;
constexpr uint32_t LARGE_PAIR = 256;

/// Messages that one thread, warp or block computes: those of a factor along the edges targets[first]..targets[end], in
/// ascending order of ranks. Without targets, all of them.
struct Item {
    uint32_t factor;
    uint32_t first;
    uint32_t end;
};

static_assert(sizeof(Item) == 12, "Item");
FASTLBP_FIELD(Item, factor, 0);
FASTLBP_FIELD(Item, first, 4);
FASTLBP_FIELD(Item, end, 8);

/// Arrays whose entries stand one after the other for each level.
struct ItemList {
    const Item *items;
    /// Where each level starts, and where the last one ends.
    const uint32_t *levels;
};

static_assert(sizeof(ItemList) == 16, "ItemList");
FASTLBP_FIELD(ItemList, items, 0);
FASTLBP_FIELD(ItemList, levels, 8);

/// Memory for each of some threads, warps or blocks; the others take no part where it is needed.
struct Scratch {
    unsigned char *memory;
    uint64_t bytes;
    uint32_t count;
    uint32_t padding;
};

static_assert(sizeof(Scratch) == 24, "Scratch");
FASTLBP_FIELD(Scratch, memory, 0);
FASTLBP_FIELD(Scratch, bytes, 8);
FASTLBP_FIELD(Scratch, count, 16);
FASTLBP_FIELD(Scratch, padding, 20);

/// The part of a lane of a warp item in its factor.
/// Where its message comes from, which the device finds out.
constexpr uint32_t LANE_SOURCE_MASK = 0x7;
#define lane_source(word) ((word) & LANE_SOURCE_MASK)
/// Whether it notes contradictions at the variable.
constexpr uint32_t LANE_NOTES = 0x8;
#define lane_notes(word) (((word) & LANE_NOTES) != 0)
/// Whether its literal is negated.
constexpr uint32_t LANE_NEGATED = 0x10;
#define lane_negated(word) (((word) & LANE_NEGATED) != 0)
/// Whether it has an edge at all.
constexpr uint32_t LANE_USED = 0x20;
#define lane_used(word) (((word) & LANE_USED) != 0)
/// Its number among the lanes of its factor, 0 for the head.
constexpr uint32_t LANE_INDEX_SHIFT = 6;
constexpr uint32_t LANE_INDEX_MASK = 0x7c0;
#define lane_index(word) ((word) >> LANE_INDEX_SHIFT & 0x1f)
/// The number of literals, which all lanes of a warp item have.
constexpr uint32_t LANE_LITERALS_SHIFT = 11;
constexpr uint32_t LANE_LITERALS_MASK = 0xf800;
#define lane_literals(word) ((word) >> LANE_LITERALS_SHIFT & 0x1f)
/// How far their messages may be from one for doubles to do, as a logarithm.
constexpr uint32_t LANE_RANGE_SHIFT = 16;
constexpr uint32_t LANE_RANGE_MASK = 0xffff0000;
#define lane_range(word) ((word) >> LANE_RANGE_SHIFT)

struct WarpLane;

/// What a lane of a warp item has to know: the place of its message; its edge; the number of the factor's coefficients; and
/// the word `lane`.
struct WarpLaneData {
    uint32_t place;
    uint32_t edge;
    uint32_t parameter;
    uint32_t more;
};

static_assert(sizeof(WarpLaneData) == 16, "WarpLaneData");
FASTLBP_FIELD(WarpLaneData, place, 0);
FASTLBP_FIELD(WarpLaneData, edge, 4);
FASTLBP_FIELD(WarpLaneData, parameter, 8);
FASTLBP_FIELD(WarpLaneData, more, 12);

/// The states of the two variables of a table.
constexpr uint32_t PAIR_RADICES_FIRST_MASK = 0xffff;
#define pair_radices_first(word) ((word) & PAIR_RADICES_FIRST_MASK)
constexpr uint32_t PAIR_RADICES_SECOND_SHIFT = 16;
constexpr uint32_t PAIR_RADICES_SECOND_MASK = 0xffff0000;
#define pair_radices_second(word) ((word) >> PAIR_RADICES_SECOND_SHIFT)

struct PairItem;

/// What the lanes of a table have to know: its entries, those of a column, one state of the second variable, side by side;
/// where the message from the first variable is, that from the second one being behind it; its number; where the messages to
/// both are; their states (`pair_radices`); and whether its entries are near enough to one for doubles to do wherever messages
/// are.
struct PairItemData {
    const double *values;
    uint32_t input;
    uint32_t factor;
    uint32_t places[2];
    uint32_t radices;
    uint32_t is_near;
};

static_assert(sizeof(PairItemData) == 32, "PairItemData");
FASTLBP_FIELD(PairItemData, values, 0);
FASTLBP_FIELD(PairItemData, input, 8);
FASTLBP_FIELD(PairItemData, factor, 12);
FASTLBP_FIELD(PairItemData, places, 16);
FASTLBP_FIELD(PairItemData, radices, 24);
FASTLBP_FIELD(PairItemData, is_near, 28);

/// What a warp does with a level item (general_level_items.cuh): it sends a message of a table of two variables, messages of a
/// conjunction of binary variables, or those of any factor.
constexpr uint32_t LEVEL_PAIR = 0;
constexpr uint32_t LEVEL_CONJUNCTION = 1;
constexpr uint32_t LEVEL_OTHER = 2;

/// More of a level item.
/// One of the above.
constexpr uint32_t LEVEL_ITEM_KIND_MASK = 0x3;
#define level_item_kind(word) ((word) & LEVEL_ITEM_KIND_MASK)
/// The number of variables of a factor.
constexpr uint32_t LEVEL_ITEM_ARITY_SHIFT = 2;
constexpr uint32_t LEVEL_ITEM_ARITY_MASK = 0xfc;
#define level_item_arity(word) ((word) >> LEVEL_ITEM_ARITY_SHIFT & 0x3f)
/// The position of the variable to which its only message is sent; of conjunctions of no meaning.
constexpr uint32_t LEVEL_ITEM_TARGET_SHIFT = 8;
constexpr uint32_t LEVEL_ITEM_TARGET_MASK = 0x1f00;
#define level_item_target(word) ((word) >> LEVEL_ITEM_TARGET_SHIFT & 0x1f)
/// The logarithm of the number of lanes that read the message of a variable.
constexpr uint32_t LEVEL_ITEM_READERS_SHIFT = 13;
constexpr uint32_t LEVEL_ITEM_READERS_MASK = 0xe000;
#define level_item_readers(word) ((word) >> LEVEL_ITEM_READERS_SHIFT & 0x7)
/// As of `lane`; of a table of two variables whether its entries are near enough to one.
constexpr uint32_t LEVEL_ITEM_RANGE_SHIFT = 16;
constexpr uint32_t LEVEL_ITEM_RANGE_MASK = 0x7fff0000;
#define level_item_range(word) ((word) >> LEVEL_ITEM_RANGE_SHIFT & 0x7fff)
/// Whether some variable has more than eight messages.
constexpr uint32_t LEVEL_ITEM_MANY = 0x80000000;
#define level_item_many(word) (((word) & LEVEL_ITEM_MANY) != 0)

struct LevelItem;

/// Messages that a warp sends at a level. Of conjunctions: `count` of them with as many variables each, whose inputs stand side by
/// side, each with its head first. Of a table of two variables: where its values start among those of all, and, as `count`, its
/// states (`pair_radices`). Of another factor: `count` messages, the first of which is `first` among all targets. Besides a
/// factor, the first input, the rank of those that read if these read a variable of more than eight messages, and the word
/// `level_item`.
struct LevelItemData {
    uint32_t factor;
    uint32_t first;
    uint32_t inputs;
    uint32_t rank;
    uint64_t values;
    uint32_t count;
    uint32_t more;
};

static_assert(sizeof(LevelItemData) == 32, "LevelItemData");
FASTLBP_FIELD(LevelItemData, factor, 0);
FASTLBP_FIELD(LevelItemData, first, 4);
FASTLBP_FIELD(LevelItemData, inputs, 8);
FASTLBP_FIELD(LevelItemData, rank, 12);
FASTLBP_FIELD(LevelItemData, values, 16);
FASTLBP_FIELD(LevelItemData, count, 24);
FASTLBP_FIELD(LevelItemData, more, 28);

/// The number of the coefficients of a conjunction that an input is of, and whether a message is sent to its variable.
constexpr uint32_t CONJUNCTION_INPUT_PARAMETER_MASK = 0x7fffffff;
#define conjunction_input_parameter(word) ((word) & CONJUNCTION_INPUT_PARAMETER_MASK)
constexpr uint32_t CONJUNCTION_INPUT_TARGET = 0x80000000;
#define conjunction_input_target(word) (((word) & CONJUNCTION_INPUT_TARGET) != 0)

/// Where a factor finds the message of a variable, if this has not up to eight, of which the number stands here: it has more, it
/// is prepared, or what is there stays. With zero, the message is not needed.
constexpr uint32_t LEVEL_MANY = 9;
constexpr uint32_t LEVEL_PREPARED = 10;
constexpr uint32_t LEVEL_KEPT = 11;

/// More of a item input.
constexpr uint32_t ITEM_INPUT_SOURCE_MASK = 0xf;
#define item_input_source(word) ((word) & ITEM_INPUT_SOURCE_MASK)
/// The number of the edge among those of the variable.
constexpr uint32_t ITEM_INPUT_LEAF_SHIFT = 4;
constexpr uint32_t ITEM_INPUT_LEAF_MASK = 0xff0;
#define item_input_leaf(word) ((word) >> ITEM_INPUT_LEAF_SHIFT & 0xff)
/// Of up to eight messages, a bit for each that is new, by the number of its edge as it differs from LEAF.
constexpr uint32_t ITEM_INPUT_NEWER_SHIFT = 12;
constexpr uint32_t ITEM_INPUT_NEWER_MASK = 0xff000;
#define item_input_newer(word) ((word) >> ITEM_INPUT_NEWER_SHIFT & 0xff)
/// Whether the literal is negated.
constexpr uint32_t ITEM_INPUT_NEGATED = 0x100000;
#define item_input_negated(word) (((word) & ITEM_INPUT_NEGATED) != 0)
/// Stored values of a message.
constexpr uint32_t ITEM_INPUT_WIDTH_SHIFT = 21;
constexpr uint32_t ITEM_INPUT_WIDTH_MASK = 0xffe00000;
#define item_input_width(word) ((word) >> ITEM_INPUT_WIDTH_SHIFT)

struct ItemInput;

/// A variable of a level item: its number, where the message to it is, the edge, and the word `item_input`.
struct ItemInputData {
    uint32_t variable;
    uint32_t place;
    uint32_t edge;
    uint32_t more;
};

static_assert(sizeof(ItemInputData) == 16, "ItemInputData");
FASTLBP_FIELD(ItemInputData, variable, 0);
FASTLBP_FIELD(ItemInputData, place, 4);
FASTLBP_FIELD(ItemInputData, edge, 8);
FASTLBP_FIELD(ItemInputData, more, 12);

/// Level items, those of each level one after the other.
struct LevelItemList {
    const LevelItem *items;
    /// Where each level starts, and where the last one ends.
    const uint32_t *levels;
};

static_assert(sizeof(LevelItemList) == 16, "LevelItemList");
FASTLBP_FIELD(LevelItemList, items, 0);
FASTLBP_FIELD(LevelItemList, levels, 8);

/// A factor as a table: its values, the first variable fastest, times powers of two with these exponents, if there are any; the
/// range of the exponents of the positive ones; and how many values there are.
struct JointTable {
    const double *values;
    const int64_t *exponents;
    int64_t low;
    int64_t high;
    uint32_t entries;
    uint32_t padding;
};

static_assert(sizeof(JointTable) == 40, "JointTable");
FASTLBP_FIELD(JointTable, values, 0);
FASTLBP_FIELD(JointTable, exponents, 8);
FASTLBP_FIELD(JointTable, low, 16);
FASTLBP_FIELD(JointTable, high, 24);
FASTLBP_FIELD(JointTable, entries, 32);
FASTLBP_FIELD(JointTable, padding, 36);

/// A factor whose belief is measured: its number, that of its table, and where its belief starts.
struct FactorBelief {
    uint32_t factor;
    uint32_t table;
    uint64_t first;
};

static_assert(sizeof(FactorBelief) == 16, "FactorBelief");
FASTLBP_FIELD(FactorBelief, factor, 0);
FASTLBP_FIELD(FactorBelief, table, 4);
FASTLBP_FIELD(FactorBelief, first, 8);

/// Beliefs of factors: what they are made of; factors in the order of the spans that take them, up to these ends; the states of
/// each edge's variable, null if all have two; beliefs of the last measurement; and what is found of them.
struct FactorBeliefs {
    const JointTable *tables;
    const FactorBelief *list;
    const uint32_t *states;
    double *beliefs;
    Tally *found;
    uint32_t ends[3];
    uint32_t padding;
};

static_assert(sizeof(FactorBeliefs) == 56, "FactorBeliefs");
FASTLBP_FIELD(FactorBeliefs, tables, 0);
FASTLBP_FIELD(FactorBeliefs, list, 8);
FASTLBP_FIELD(FactorBeliefs, states, 16);
FASTLBP_FIELD(FactorBeliefs, beliefs, 24);
FASTLBP_FIELD(FactorBeliefs, found, 32);
FASTLBP_FIELD(FactorBeliefs, ends, 40);
FASTLBP_FIELD(FactorBeliefs, padding, 52);

/// For whom a variable was prepared last.
struct PreparedState {
    uint32_t level;
    uint32_t rank;
};

static_assert(sizeof(PreparedState) == 8, "PreparedState");
FASTLBP_FIELD(PreparedState, level, 0);
FASTLBP_FIELD(PreparedState, rank, 4);

struct General;

/// Graph, messages and work.
struct GeneralData {
    uint32_t variables;
    uint32_t factors;
    uint32_t edges;
    /// Entries of an array of messages in either direction.
    uint32_t values;
    /// Where each variable's slots start: the places of its edges among those of all variables.
    const uint32_t *variable_offsets;
    /// Where the message to the factor at each slot is.
    const uint32_t *slot_inputs;
    /// Where each variable's stored values start; null if each has one.
    const uint32_t *variable_values;
    /// Where each variable's states start; null if each has two.
    const uint32_t *variable_states;
    const uint32_t *known;
    const Packed *weights;
    const uint32_t *edge_variables;
    const uint32_t *edge_slots;
    /// Where the message to the factor along each edge is. Those of warp items (general_warp_items.cuh) stand in the order of
    /// their lanes, those of another factor one after the other.
    const uint32_t *edge_inputs;
    /// Where the messages to each variable are stored, one after the other, and where that along each edge is. The up to 2, 4
    /// or 8 messages of a binary variable are aligned to so many, and those of one with more to 4; what is between variables
    /// holds ones.
    const uint32_t *variable_places;
    const uint32_t *edge_places;
    /// States of each edge's variable; null if no factor needs them.
    const uint32_t *edge_radices;
    const uint32_t *factor_offsets;
    LongFactors long_factors;
    const Record *records;
    const HornCoefficients *horn;
    const uint64_t *words;
    FactorParameters parameters;
    /// Messages to the variables, by place; as they were computed, where the stored ones are damped (else null); messages to
    /// the factors, by edge; room for what factors compute, by edge.
    Packed *messages[2];
    Packed *newest[2];
    Packed *by_edge;
    Packed *outputs;
    /// Of the last measurement: a probability per stored value of a variable, and of a message by edge.
    double *beliefs;
    double *inputs;
    /// Rows of beliefs, in turn.
    double *history;
    uint64_t history_rows;
    /// Stored values of the beliefs of all variables.
    uint64_t belief_count;
    /// Variables: those that a thread looks at, those for a warp, those for a block; so many of each. Of a thread's, first those
    /// that send in every iteration, `senders` of them: from the others all factors read for themselves.
    const uint32_t *variables_by_span;
    /// Which of a variable's messages is the first that a factor reads for itself (general_warp_items.cuh); NO_READER if the
    /// variable sends.
    const uint32_t *readers;
    /// Binary variables of more than 8 messages, cut into tiles (see general_tiles.cuh): those of up to QUAD messages; others
    /// of one tile; rows of TILES_OF_ROW tiles of variables with so many at the most; and all tiles of the others. Of the
    /// latter two the number of each tile among its variable's. In rows NO_TILE may stand.
    const uint32_t *tile_variables;
    const uint32_t *tile_numbers;
    /// The products of the tiles of the others: of the messages, and of those that were computed if they are damped.
    Product *tile_products;
    uint32_t quads;
    uint32_t whole_tiles;
    uint32_t tile_rows;
    uint32_t tiles;
    uint32_t senders;
    /// Whether variables send to factors in every iteration.
    uint32_t some_send;
    /// Factors with one variable, as the variables above.
    const uint32_t *constants_by_span;
    uint32_t variables_of_span[3];
    uint32_t constants_of_span[3];
    /// Where updates are synchronous, conjunctions of 2 to ITEM_LANES variables: what each lane has to know
    /// (general_warp_items.cuh); below, the number of warp items.
    WarpLane *warp_lanes;
    /// Work items of other factors: for threads, for warps, for blocks.
    ItemList items[3];
    const uint32_t *targets;
    /// Ranks of the edges, by slot; null if all messages are old.
    const uint32_t *ranks;
    uint32_t levels;
    uint32_t by_levels;
    Scratch scratch[3];
    /// For how many iterations, two at most, the factors with one variable have sent what does not change.
    uint32_t *constant_iterations;
    double damping;
    /// With an active set, the factor by which odds of two states have to grow or fall to be stored; else 0.
    double least_growth;
    uint32_t maxima;
    /// Whether messages begin as uniform ones, and whether `newest` begins as a copy of them.
    uint32_t reset;
    uint32_t restart_newest;
    uint32_t warp_items;
    /// Where updates are synchronous, tables of two variables by classes (general_pairs.cuh), so many of each.
    const PairItem *pairs;
    uint32_t pairs_of_class[3];
    /// Behind those of spans, variables of several states that lanes of a warp share (general_states.cuh), by classes.
    uint32_t variables_of_states[4];
    uint32_t padding;
    /// By levels, variables of many factors that send to all of these before those of a level, as edges of a rank see it
    /// (general_prepared.cuh): of each level, by spans, Item::factor is the variable and Item::first the rank. The number of
    /// each variable among them, null if there are none; and by number for whom it was prepared last.
    ItemList prepared_items[3];
    const uint32_t *prepared;
    PreparedState *prepared_states;
    /// By levels, factors that are in none of `items`; the values of all tables; and whether there are factors in these.
    LevelItemList level_items;
    const ItemInput *item_inputs;
    /// Of each of these the word `conjunction_input`.
    const uint32_t *conjunction_inputs;
    const double *table_values;
    uint32_t some_items;
    uint32_t more_padding;
};

static_assert(sizeof(GeneralData) == 728, "GeneralData");
FASTLBP_FIELD(GeneralData, variables, 0);
FASTLBP_FIELD(GeneralData, factors, 4);
FASTLBP_FIELD(GeneralData, edges, 8);
FASTLBP_FIELD(GeneralData, values, 12);
FASTLBP_FIELD(GeneralData, variable_offsets, 16);
FASTLBP_FIELD(GeneralData, slot_inputs, 24);
FASTLBP_FIELD(GeneralData, variable_values, 32);
FASTLBP_FIELD(GeneralData, variable_states, 40);
FASTLBP_FIELD(GeneralData, known, 48);
FASTLBP_FIELD(GeneralData, weights, 56);
FASTLBP_FIELD(GeneralData, edge_variables, 64);
FASTLBP_FIELD(GeneralData, edge_slots, 72);
FASTLBP_FIELD(GeneralData, edge_inputs, 80);
FASTLBP_FIELD(GeneralData, variable_places, 88);
FASTLBP_FIELD(GeneralData, edge_places, 96);
FASTLBP_FIELD(GeneralData, edge_radices, 104);
FASTLBP_FIELD(GeneralData, factor_offsets, 112);
FASTLBP_FIELD(GeneralData, long_factors, 120);
FASTLBP_FIELD(GeneralData, records, 152);
FASTLBP_FIELD(GeneralData, horn, 160);
FASTLBP_FIELD(GeneralData, words, 168);
FASTLBP_FIELD(GeneralData, parameters, 176);
FASTLBP_FIELD(GeneralData, messages, 200);
FASTLBP_FIELD(GeneralData, newest, 216);
FASTLBP_FIELD(GeneralData, by_edge, 232);
FASTLBP_FIELD(GeneralData, outputs, 240);
FASTLBP_FIELD(GeneralData, beliefs, 248);
FASTLBP_FIELD(GeneralData, inputs, 256);
FASTLBP_FIELD(GeneralData, history, 264);
FASTLBP_FIELD(GeneralData, history_rows, 272);
FASTLBP_FIELD(GeneralData, belief_count, 280);
FASTLBP_FIELD(GeneralData, variables_by_span, 288);
FASTLBP_FIELD(GeneralData, readers, 296);
FASTLBP_FIELD(GeneralData, tile_variables, 304);
FASTLBP_FIELD(GeneralData, tile_numbers, 312);
FASTLBP_FIELD(GeneralData, tile_products, 320);
FASTLBP_FIELD(GeneralData, quads, 328);
FASTLBP_FIELD(GeneralData, whole_tiles, 332);
FASTLBP_FIELD(GeneralData, tile_rows, 336);
FASTLBP_FIELD(GeneralData, tiles, 340);
FASTLBP_FIELD(GeneralData, senders, 344);
FASTLBP_FIELD(GeneralData, some_send, 348);
FASTLBP_FIELD(GeneralData, constants_by_span, 352);
FASTLBP_FIELD(GeneralData, variables_of_span, 360);
FASTLBP_FIELD(GeneralData, constants_of_span, 372);
FASTLBP_FIELD(GeneralData, warp_lanes, 384);
FASTLBP_FIELD(GeneralData, items, 392);
FASTLBP_FIELD(GeneralData, targets, 440);
FASTLBP_FIELD(GeneralData, ranks, 448);
FASTLBP_FIELD(GeneralData, levels, 456);
FASTLBP_FIELD(GeneralData, by_levels, 460);
FASTLBP_FIELD(GeneralData, scratch, 464);
FASTLBP_FIELD(GeneralData, constant_iterations, 536);
FASTLBP_FIELD(GeneralData, damping, 544);
FASTLBP_FIELD(GeneralData, least_growth, 552);
FASTLBP_FIELD(GeneralData, maxima, 560);
FASTLBP_FIELD(GeneralData, reset, 564);
FASTLBP_FIELD(GeneralData, restart_newest, 568);
FASTLBP_FIELD(GeneralData, warp_items, 572);
FASTLBP_FIELD(GeneralData, pairs, 576);
FASTLBP_FIELD(GeneralData, pairs_of_class, 584);
FASTLBP_FIELD(GeneralData, variables_of_states, 596);
FASTLBP_FIELD(GeneralData, padding, 612);
FASTLBP_FIELD(GeneralData, prepared_items, 616);
FASTLBP_FIELD(GeneralData, prepared, 664);
FASTLBP_FIELD(GeneralData, prepared_states, 672);
FASTLBP_FIELD(GeneralData, level_items, 680);
FASTLBP_FIELD(GeneralData, item_inputs, 696);
FASTLBP_FIELD(GeneralData, conjunction_inputs, 704);
FASTLBP_FIELD(GeneralData, table_values, 712);
FASTLBP_FIELD(GeneralData, some_items, 720);
FASTLBP_FIELD(GeneralData, more_padding, 724);

#undef FASTLBP_FIELD
#undef FASTLBP_OFFSET

}  // namespace fastlbp
