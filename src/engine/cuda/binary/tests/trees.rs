//! Factors with warps of their own by levels, read as cuda/engine/binary_level_bodies.cuh reads them: trees of large conjunctions, and
//! factors that are no conjunctions.

use super::{Input, Laid, Sending, Threads, threads_of};
use crate::engine::cuda::binary::levels::LevelWork;
use crate::engine::cuda::binary::limits::WARP;
use crate::engine::cuda::interface::binary::{
    NODE_DOWN, NODE_LEAF_DOWN, NODE_LEAF_UP, NODE_NONE, NODE_OTHER_FACTOR, NODE_ROOT,
    NODE_SMALL_TABLES, NODE_UP, SMALL_TABLE,
};
use crate::engine::cuda::interface::words::unit_shape;
use crate::engine::limits::is_small_table;
use std::collections::HashMap;

/// A unit of a node.
pub(super) struct Node {
    pub kind: u32,
    /// Its node, but of a root.
    pub own: u32,
    /// The nodes that it takes; of a leaf, as many as it has literals.
    pub taken: Vec<u32>,
}

impl Node {
    /// `None` for a unit of other factors, or of a product.
    pub(super) fn of_unit(work: &LevelWork, number: usize) -> Option<(Self, Threads)> {
        let shape = work.units[number].shape;
        if !unit_shape::NODE.is_in(shape) {
            return None;
        }
        assert!(unit_shape::RANGE.get(shape) == 0, "it is not a usual one");
        let threads = threads_of(work, number);
        let [_, own, kind, _] = threads.nodes[0];
        if [NODE_OTHER_FACTOR, NODE_SMALL_TABLES].contains(&kind) {
            return Some((Self { kind, own, taken: Vec::new() }, threads));
        }
        assert!(threads.nodes.iter().all(|words| words[1..3] == [own, kind]));
        let taken = || threads.nodes.iter().map(|words| words[0]);
        let count = taken().take_while(|&node| node != NODE_NONE).count();
        assert!(taken().skip(count).all(|node| node == NODE_NONE), "the first threads");
        let taken = taken().take(count).collect();
        Some((Self { kind, own, taken }, threads))
    }
}

/// What each tree sends, with its root's unit. Each node has the units that it needs, and no others.
pub(super) fn trees_of(work: &LevelWork) -> Vec<(usize, Sending)> {
    let mut of_nodes = HashMap::new();
    let mut roots = Vec::new();
    for number in 0..work.units.len() {
        let Some((node, threads)) = Node::of_unit(work, number) else { continue };
        if [NODE_OTHER_FACTOR, NODE_SMALL_TABLES].contains(&node.kind) {
            continue;
        }
        if node.kind == NODE_ROOT {
            roots.push((number, node, threads));
        } else {
            assert!((node.own as usize) < work.nodes);
            assert!(of_nodes.insert((node.own, node.kind), (node, threads)).is_none(), "once");
        }
    }
    let mut trees = Vec::new();
    for (number, root, threads) in roots {
        let coefficients = threads.all[0].0;
        let mut inputs = inputs_of(threads, 1, coefficients);
        assert!((1..=WARP).contains(&root.taken.len()));
        for &node in &root.taken {
            add_below(&mut of_nodes, node, coefficients, &mut inputs);
        }
        trees.push((number, Sending { coefficients, inputs }));
    }
    assert!(of_nodes.is_empty(), "each node is in a tree");
    trees
}

/// What each unit of factors that are no conjunctions sends; of each factor, the head's input comes first.
pub(super) fn others_of(laid: &Laid<'_>, work: &LevelWork) -> Vec<(usize, Sending)> {
    let mut sendings = Vec::new();
    for number in 0..work.units.len() {
        let Some((node, mut threads)) = Node::of_unit(work, number) else { continue };
        let threads_of_each = match node.kind {
            NODE_OTHER_FACTOR => WARP,
            NODE_SMALL_TABLES => SMALL_TABLE,
            _ => continue,
        };
        let words = threads.nodes.chunks(threads_of_each);
        for (at, (of_factor, words)) in
            threads.all.chunks_mut(threads_of_each).zip(words).enumerate()
        {
            let own = words[0][1];
            assert!(words.iter().all(|words| words[1..3] == [own, node.kind]));
            let mut inputs: Vec<Input> = Vec::new();
            for (lane, ((of_input, input), words)) in of_factor.iter_mut().zip(words).enumerate() {
                assert_eq!(*of_input, 0);
                assert_eq!(input.is_some(), words[0] != NODE_NONE);
                assert!(input.is_none() || inputs.len() == lane, "the first threads");
                inputs.extend(input.take());
            }
            if own == NODE_NONE {
                assert!(inputs.is_empty() && at > 0);
                continue;
            }
            let factor = laid.layout.other_factors[own as usize] as usize;
            assert_eq!(inputs.len(), laid.graph.arity(factor));
            let is_table = is_small_table(laid.graph, factor);
            assert_eq!(is_table, node.kind == NODE_SMALL_TABLES);
            inputs[..=laid.graph.head_position(factor).unwrap_or(0)].rotate_right(1);
            sendings.push((number, Sending { coefficients: 0, inputs }));
        }
    }
    sendings
}

/// The inputs of so many threads, which all there are.
fn inputs_of(threads: Threads, count: usize, coefficients: u32) -> Vec<Input> {
    let inputs = threads.all.into_iter().filter_map(|(of_input, input)| {
        assert_eq!(of_input, coefficients);
        input
    });
    let inputs: Vec<Input> = inputs.collect();
    assert_eq!(inputs.len(), count);
    inputs
}

/// Adds the literals below a node; returns whether some of them are sent.
fn add_below(
    of_nodes: &mut HashMap<(u32, u32), (Node, Threads)>, node: u32, coefficients: u32,
    inputs: &mut Vec<Input>,
) -> bool {
    if let Some((leaf, threads)) = of_nodes.remove(&(node, NODE_LEAF_UP)) {
        let mut own = inputs_of(threads, leaf.taken.len(), coefficients);
        assert!(own.iter().all(|input| !input.is_sent));
        let down = of_nodes.remove(&(node, NODE_LEAF_DOWN));
        if let Some((down, threads)) = down {
            assert_eq!(down.taken, leaf.taken);
            for (up, down) in own.iter_mut().zip(inputs_of(threads, leaf.taken.len(), coefficients))
            {
                assert_eq!(up.word, down.word);
                up.is_sent = down.is_sent;
            }
            assert!(own.iter().any(|input| input.is_sent), "it is needed");
        }
        let is_sent = own.iter().any(|input| input.is_sent);
        inputs.append(&mut own);
        return is_sent;
    }
    let (up, threads) = of_nodes.remove(&(node, NODE_UP)).expect("a node above");
    inputs_of(threads, 0, coefficients);
    let mut is_sent = false;
    for &below in &up.taken {
        is_sent |= add_below(of_nodes, below, coefficients, inputs);
    }
    let down = of_nodes.remove(&(node, NODE_DOWN));
    assert_eq!(down.is_some(), is_sent, "it is needed");
    assert!(down.is_none_or(|(down, _)| down.taken == up.taken));
    is_sent
}
