//! The graphs of applications that the tests read: `tests/data/graphs` has the first two of each folder, `../shared` all.

pub struct RealGraph {
    pub name: &'static str,
    /// Number of variables, and of factors.
    pub variables: usize,
    pub edges: usize,
    /// Least number of levels of SEQFIX with values in place.
    #[allow(dead_code, reason = "not all test files use it")]
    pub levels: usize,
}

pub const REAL_GRAPHS: [RealGraph; 12] = [
    of("smartfl/Chart-24", 1_312, 4_110, 78),
    of("smartfl/Math-41", 5_525, 15_902, 1_203),
    of("smartfl/Math-3", 36_416, 117_589, 3_193),
    of("smartfl/Math-2", 49_158, 171_878, 5_988),
    of("smartfl/Chart-1", 186_193, 692_716, 11_548),
    of("smartfl/Math-27", 262_200, 904_124, 23_833),
    of("smartfl/Chart-15", 490_322, 1_865_561, 136_186),
    of("bingo/jspider-thresc", 1_442, 3_603, 18),
    of("bingo/weblech-thresc", 2_832, 6_347, 10),
    of("bingo/luindex-thresc", 31_369, 84_747, 137),
    of("bingo/ftp-thresc", 31_550, 67_995, 41),
    of("bingo/sunflow-thresc", 162_528, 446_012, 162),
];

const fn of(name: &'static str, variables: usize, edges: usize, levels: usize) -> RealGraph {
    RealGraph { name, variables, edges, levels }
}
