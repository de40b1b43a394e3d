//! `fastlbp info`: what a graph looks like.

use crate::activity::Activity;
use crate::advice::{Advice, Shape};
use crate::conflicts::Conflicts;
use crate::failure::{Failure, Outcome};
use crate::graph_file::GraphFile;
use crate::messages::warn;
use crate::options::ScheduleName;
use crate::rank_inputs::read_evidence;
use crate::standard_streams::{input_path, print};
use fastlbp::model::FactorKind;
use fastlbp::schedule::{Storage, analyse};
use fastlbp::structure::{TableSummary, summarise};
use fastlbp::{Evidence, FactorGraph, Schedule};
use serde::{Serialize, Serializer};
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// Describe a factor graph: sizes, factor kinds, distributions, dependency levels
///
/// Tables are shown by the structure that they have, as the field names it: the compiled ones run as
/// what they are, not entry by entry.
///
/// The levels of a schedule are the groups of messages that can be updated at once: few wide levels
/// parallelise well. Without --schedule all schedules are shown, and one is advised, with its reasons: schedules are
/// tried for 200 iterations each (fewer above two million edges) with the evidence that is given, until one converges.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    graph: GraphFile,
    /// Observed variables for the trials: lines `label value` (.obs), or UAI evidence (.evid); also with .gz. With a .bif
    /// graph, lines may be `name state`
    #[arg(short, long, value_name = "FILE", value_parser = input_path(), conflicts_with = "schedule")]
    evidence: Option<PathBuf>,
    /// Show the levels of this schedule only
    #[arg(short, long, value_enum, ignore_case = true)]
    schedule: Option<ScheduleName>,
    /// Number of blocks of BLOCKS
    #[arg(long, allow_negative_numbers = true, value_name = "K", default_value_t = Schedule::DEFAULT_BLOCKS, value_parser = clap::value_parser!(u32).range(1..))]
    blocks: u32,
    /// Seed of BLOCKS and of SEQRND, of which the first iteration is shown
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Info {
    graph: String,
    variables: usize,
    factors: usize,
    edges: usize,
    /// Connected components of the bipartite graph.
    components: usize,
    memory_bytes: usize,
    factor_kinds: Kinds,
    /// What structure the tables have, by class.
    tables: Vec<TableClass>,
    cardinality: Distribution,
    arity: Distribution,
    degree: Distribution,
    schedules: Vec<ScheduleInfo>,
    /// Missing where one schedule is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<Advice>,
}

/// Number of factors of each kind, in the order of [`FactorKind::ALL`].
#[derive(Default)]
struct Kinds([usize; FactorKind::ALL.len()]);

impl Kinds {
    fn count(graph: &FactorGraph) -> Self {
        let mut kinds = Self::default();
        for factor in 0..graph.factor_count() {
            kinds.0[graph.kind(factor) as usize] += 1;
        }
        kinds
    }

    /// The number of each kind; those that few graphs have only where they are.
    fn text(&self) -> String {
        const ALWAYS: [FactorKind; 4] =
            [FactorKind::Prior, FactorKind::And, FactorKind::Or, FactorKind::Table];
        let others = FactorKind::ALL.into_iter().filter(|kind| !ALWAYS.contains(kind));
        let present = others.filter(|&kind| self.0[kind as usize] > 0);
        let counts = ALWAYS.into_iter().chain(present);
        let texts: Vec<String> =
            counts.map(|kind| format!("{} {}", kind.name(), self.0[kind as usize])).collect();
        texts.join(", ")
    }
}

impl Serialize for Kinds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(FactorKind::ALL.iter().map(|kind| kind.name()).zip(self.0))
    }
}

#[derive(Serialize)]
struct TableClass {
    /// The field's name, in lower case.
    class: &'static str,
    tables: usize,
    entries: usize,
    /// How many do not run entry by entry.
    compiled: usize,
}

impl From<TableSummary> for TableClass {
    fn from(summary: TableSummary) -> Self {
        let TableSummary { class, tables, entries, compiled } = summary;
        Self { class, tables, entries, compiled }
    }
}

#[derive(Serialize)]
struct ScheduleInfo {
    name: &'static str,
    /// Of BLOCKS; missing for the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    blocks: Option<u32>,
    /// Of SEQRND and BLOCKS; missing for the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    /// Number of groups of equal rank.
    classes: usize,
    /// Fewest levels with old messages overwritten in place.
    levels: usize,
    /// Fewest levels with old and new messages side by side.
    levels_side_by_side: usize,
    /// Number of edges per level (in place).
    widths: Distribution,
    /// Time that preorder and levels (in place) took.
    seconds: f64,
}

/// How often small whole numbers occur.
#[derive(Debug, PartialEq, Serialize)]
struct Distribution {
    count: usize,
    min: u32,
    mean: f64,
    max: u32,
    percentiles: Percentiles,
    histogram: Vec<Bin>,
}

#[derive(Debug, Default, PartialEq, Serialize)]
struct Percentiles {
    p50: u32,
    p90: u32,
    p99: u32,
}

/// How many values are in `from..=to`.
#[derive(Debug, PartialEq, Serialize)]
struct Bin {
    from: u32,
    to: u32,
    count: usize,
}

impl Distribution {
    fn new(mut values: Vec<u32>) -> Self {
        values.sort_unstable();
        let count = values.len();
        let total: u64 = values.iter().map(|&value| u64::from(value)).sum();
        // The smallest value that at least that share of the values does not exceed.
        let percentile = |percent: usize| {
            let rank = (count * percent).div_ceil(100).max(1);
            values.get(rank - 1).copied().unwrap_or_default()
        };
        let mut histogram: Vec<Bin> = Vec::new();
        for &value in &values {
            match histogram.last_mut() {
                Some(bin) if value <= bin.to => bin.count += 1,
                _ => {
                    let (from, to) = bin_of(value);
                    histogram.push(Bin { from, to, count: 1 });
                }
            }
        }
        Self {
            count,
            min: values.first().copied().unwrap_or_default(),
            mean: if count == 0 { 0.0 } else { total as f64 / count as f64 },
            max: values.last().copied().unwrap_or_default(),
            percentiles: Percentiles {
                p50: percentile(50),
                p90: percentile(90),
                p99: percentile(99),
            },
            histogram,
        }
    }
}

/// Values up to 4 have a bin each; then bins double: 5 to 8, 9 to 16, ...
fn bin_of(value: u32) -> (u32, u32) {
    if value <= 4 {
        return (value, value);
    }
    let to = u64::from(value).next_power_of_two();
    ((to / 2 + 1) as u32, u32::try_from(to).unwrap_or(u32::MAX))
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> Outcome {
    let mut conflicts = Conflicts::default();
    arguments.graph.add_to(&mut conflicts)?;
    conflicts.input("--evidence", arguments.evidence.as_deref())?;
    let (graph, evidence) = {
        let _activity = Activity::start("reading");
        let network = arguments.graph.read()?;
        let (evidence, warning) = read_evidence(arguments.evidence.as_deref(), &network)?;
        warning.iter().for_each(warn);
        (Arc::new(network.graph), evidence)
    };
    let mut info = {
        let _activity = Activity::start("analysing");
        describe(arguments, &graph)?
    };
    if arguments.schedule.is_none() {
        info.advice = Some(advise(&graph, &evidence, &info)?);
    }
    if !arguments.json {
        return print(&text(&info));
    }
    let json = serde_json::to_string_pretty(&info)
        .map_err(|error| Failure::other(format!("description: {error}")))?;
    print(&format!("{json}\n"))
}

fn describe(arguments: &Arguments, graph: &FactorGraph) -> Outcome<Info> {
    let names: Vec<ScheduleName> = match arguments.schedule {
        Some(name) => vec![name],
        None => ScheduleName::preorders().collect(),
    };
    let schedules: Outcome<Vec<ScheduleInfo>> =
        names.into_iter().map(|name| describe_schedule(graph, name, arguments)).collect();
    Ok(Info {
        graph: arguments.graph.name(),
        variables: graph.variable_count(),
        factors: graph.factor_count(),
        edges: graph.edge_count(),
        components: count_components(graph),
        memory_bytes: graph.memory_bytes(),
        factor_kinds: Kinds::count(graph),
        tables: summarise(graph)?.into_iter().map(TableClass::from).collect(),
        cardinality: Distribution::new(graph.cardinalities().to_vec()),
        arity: Distribution::new(
            (0..graph.factor_count()).map(|factor| graph.arity(factor) as u32).collect(),
        ),
        degree: Distribution::new(
            (0..graph.variable_count()).map(|variable| graph.degree(variable) as u32).collect(),
        ),
        schedules: schedules?,
        advice: None,
    })
}

fn advise(graph: &Arc<FactorGraph>, evidence: &Evidence, info: &Info) -> Outcome<Advice> {
    let levels: Vec<(&'static str, usize)> =
        info.schedules.iter().map(|schedule| (schedule.name, schedule.levels)).collect();
    let shape = Shape {
        is_forest: info.edges + info.components == info.variables + info.factors,
        highest_degree: info.degree.max as usize,
        levels: &levels,
    };
    Advice::new(graph, evidence, &shape)
}

fn describe_schedule(
    graph: &FactorGraph, name: ScheduleName, arguments: &Arguments,
) -> Outcome<ScheduleInfo> {
    let start = Instant::now();
    let schedule = name.schedule(arguments.seed, arguments.blocks);
    let preorder = schedule.preorder(graph, 0)?;
    let levels = analyse(graph, &preorder, Storage::InPlace)?;
    let seconds = start.elapsed().as_secs_f64();
    let (blocks, seed) = match schedule {
        Schedule::SequentialRandom { seed } => (None, Some(seed)),
        Schedule::Blocks { blocks, seed } => (Some(blocks), Some(seed)),
        _ => (None, None),
    };
    Ok(ScheduleInfo {
        name: schedule.name(),
        blocks,
        seed,
        classes: preorder.class_count(),
        levels: levels.count(),
        levels_side_by_side: analyse(graph, &preorder, Storage::SideBySide)?.count(),
        widths: Distribution::new(levels.widths().to_vec()),
        seconds,
    })
}

/// Number of connected components of the graph of variables and factors. O(edges), nearly.
fn count_components(graph: &FactorGraph) -> usize {
    let mut parents: Vec<u32> = (0..graph.variable_count() as u32).collect();
    let mut components = graph.variable_count();
    for factor in 0..graph.factor_count() {
        let Some((&first, others)) = graph.factor_variables(factor).split_first() else {
            // A factor without variables, a constant, is connected to nothing.
            components += 1;
            continue;
        };
        for &other in others {
            let (a, b) = (find(&mut parents, first), find(&mut parents, other));
            if a != b {
                parents[a.max(b) as usize] = a.min(b);
                components -= 1;
            }
        }
    }
    components
}

/// The representative of a node's set, halving the path on the way.
fn find(parents: &mut [u32], mut node: u32) -> u32 {
    loop {
        let parent = parents[node as usize];
        if parent == node {
            return node;
        }
        parents[node as usize] = parents[parent as usize];
        node = parents[node as usize];
    }
}

fn text(info: &Info) -> String {
    let mut out = String::new();
    let kinds = &info.factor_kinds;
    // Writing to a string cannot fail.
    let _ = writeln!(out, "graph       {}", info.graph);
    let _ = writeln!(out, "variables   {}", info.variables);
    let _ = writeln!(out, "factors     {} ({})", info.factors, kinds.text());
    let _ = writeln!(out, "edges       {}", info.edges);
    let _ = writeln!(out, "components  {}", info.components);
    let _ = writeln!(out, "memory      {} bytes", info.memory_bytes);
    let _ = writeln!(out);
    let _ = writeln!(
        out,
        "{:<14} {:>6} {:>10} {:>8} {:>8} {:>8} {:>8}",
        "distribution", "min", "mean", "median", "90 %", "99 %", "max"
    );
    let schedule_rows = info
        .schedules
        .iter()
        .map(|schedule| (format!("{} widths", schedule.name), &schedule.widths));
    let rows = [
        ("cardinality".to_string(), &info.cardinality),
        ("factor arity".to_string(), &info.arity),
        ("degree".to_string(), &info.degree),
    ];
    for (name, distribution) in rows.into_iter().chain(schedule_rows) {
        let Distribution { min, mean, max, percentiles, .. } = distribution;
        let Percentiles { p50, p90, p99 } = percentiles;
        let _ =
            writeln!(out, "{name:<14} {min:>6} {mean:>10.2} {p50:>8} {p90:>8} {p99:>8} {max:>8}");
    }
    if !info.tables.is_empty() {
        let _ = writeln!(
            out,
            "\n{:<16} {:>8} {:>10} {:>10}",
            "table class", "tables", "entries", "compiled"
        );
    }
    for TableClass { class, tables, entries, compiled } in &info.tables {
        let _ = writeln!(out, "{class:<16} {tables:>8} {entries:>10} {compiled:>10}");
    }
    for (name, distribution) in [("factor arity", &info.arity), ("degree", &info.degree)] {
        let _ = writeln!(out, "\n{name:<14} {:>10}", "count");
        for Bin { from, to, count } in &distribution.histogram {
            let range = if from == to { from.to_string() } else { format!("{from}-{to}") };
            let _ = writeln!(out, "{range:>14} {count:>10}");
        }
    }
    let _ = writeln!(
        out,
        "\n{:<14} {:>10} {:>10} {:>14} {:>10}",
        "schedule", "classes", "levels", "side by side", "seconds"
    );
    for schedule in &info.schedules {
        let name = match (schedule.blocks, schedule.seed) {
            (Some(blocks), Some(seed)) => format!("{}({blocks}, {seed})", schedule.name),
            (_, Some(seed)) => format!("{}({seed})", schedule.name),
            _ => schedule.name.to_string(),
        };
        let _ = writeln!(
            out,
            "{name:<14} {:>10} {:>10} {:>14} {:>10.3}",
            schedule.classes, schedule.levels, schedule.levels_side_by_side, schedule.seconds
        );
    }
    if let Some(advice) = &info.advice {
        out += &advice.text();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastlbp::FactorGraphBuilder;

    #[test]
    fn distributions() {
        let distribution = Distribution::new(vec![3, 1, 1, 9, 5, 8, 16, 17]);
        assert_eq!((distribution.min, distribution.max, distribution.count), (1, 17, 8));
        assert_eq!(distribution.mean, 7.5);
        assert_eq!(distribution.percentiles, Percentiles { p50: 5, p90: 17, p99: 17 });
        let bins: Vec<_> =
            distribution.histogram.iter().map(|bin| (bin.from, bin.to, bin.count)).collect();
        assert_eq!(bins, [(1, 1, 2), (3, 3, 1), (5, 8, 2), (9, 16, 2), (17, 32, 1)]);
        let empty = Distribution::new(Vec::new());
        assert_eq!((empty.min, empty.mean, empty.max), (0, 0.0, 0));
        assert_eq!(bin_of(u32::MAX), ((1 << 31) + 1, u32::MAX));
    }

    #[test]
    fn kinds_that_few_graphs_have_are_shown_where_they_are() {
        let mut kinds = Kinds::default();
        kinds.0[FactorKind::Prior as usize] = 3;
        kinds.0[FactorKind::Or as usize] = 1;
        assert_eq!(kinds.text(), "prior 3, and 0, or 1, table 0");
        kinds.0[FactorKind::Noisy as usize] = 2;
        kinds.0[FactorKind::Terms as usize] = 5;
        assert_eq!(kinds.text(), "prior 3, and 0, or 1, table 0, noisy 2, terms 5");
    }

    #[test]
    fn percentiles_are_values_that_occur() {
        let values: Vec<u32> = (1..=100).collect();
        let percentiles = Distribution::new(values).percentiles;
        assert_eq!(percentiles, Percentiles { p50: 50, p90: 90, p99: 99 });
    }

    #[test]
    fn components() {
        let mut builder = FactorGraphBuilder::new();
        builder.add_and(1, &[2, 3], 1.0, 0.0).unwrap();
        builder.add_and(4, &[5], 1.0, 0.0).unwrap();
        builder.add_prior(6, 0.5).unwrap();
        builder.add_variable(7, 3).unwrap();
        assert_eq!(count_components(&builder.build().unwrap()), 4);
        builder.add_or(3, &[6, 5], 1.0, 0.0).unwrap();
        assert_eq!(count_components(&builder.build().unwrap()), 2);
    }
}
