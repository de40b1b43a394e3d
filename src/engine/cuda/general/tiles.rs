//! Binary variables of more messages than a thread takes, cut into tiles: see cuda/engine/general_tiles.cuh.

use super::classes::by_class;
use super::work::{Looker, Shares};
use crate::engine::cuda::interface::arithmetic::LEAVES_OF_LANE;
use crate::engine::cuda::interface::general::{NO_TILE, SHARED_WARP_LEVELS, TILES_OF_ROW};
use crate::error::Result;
use crate::memory::{Grow, copied};
use crate::model::FactorGraph;
use crate::threads::Gang;

/// Most messages of a variable that shares a warp, where tiles have more leaves.
const QUAD: usize = (LEAVES_OF_LANE << SHARED_WARP_LEVELS) as usize;

/// The tiles of a graph.
#[derive(Debug, PartialEq)]
pub(super) struct Tiles {
    /// The variable of each tile: first variables that share a warp; others of one tile; then rows of [`TILES_OF_ROW`] tiles, in which variables are
    /// whole; then all tiles of larger ones.
    pub variables: Vec<u32>,
    /// Of each tile in rows and of larger ones its number among its variable's.
    pub numbers: Vec<u32>,
    /// Variables that share a warp, others of one tile, and rows.
    pub quads: usize,
    pub whole: usize,
    pub rows: usize,
}

impl Tiles {
    /// O(variables) and the tiles.
    pub fn new(graph: &FactorGraph, leaves_of_tile: usize, gang: &Gang) -> Result<Self> {
        let tiles_of = |v: usize| graph.degree(v).div_ceil(leaves_of_tile);
        let (cut, [quads, whole, in_rows, _]) = by_class(graph.variable_count(), gang, |v| {
            let class = match tiles_of(v) {
                0 | 1 if leaves_of_tile > QUAD && graph.degree(v) <= QUAD => 0,
                0 | 1 => 1,
                2..=TILES_OF_ROW => 2,
                _ => 3,
            };
            (Shares::of_variable(graph, v) == Looker::Tiles).then_some(class)
        })?;
        let (quads, one_tile, in_rows) = (quads as usize, whole as usize, in_rows as usize);
        let mut tiles = Self {
            variables: copied(&cut[..one_tile])?,
            numbers: Vec::new(),
            quads,
            whole: one_tile - quads,
            rows: 0,
        };
        for &v in &cut[one_tile..in_rows] {
            let room = TILES_OF_ROW - tiles.numbers.len() % TILES_OF_ROW;
            if room < tiles_of(v as usize) {
                tiles.end_row()?;
            }
            tiles.push(v, tiles_of(v as usize))?;
        }
        tiles.end_row()?;
        tiles.rows = tiles.numbers.len() / TILES_OF_ROW;
        for &v in &cut[in_rows..] {
            tiles.push(v, tiles_of(v as usize))?;
        }
        Ok(tiles)
    }

    fn push(&mut self, variable: u32, tiles: usize) -> Result<()> {
        for number in 0..tiles as u32 {
            self.variables.try_push(variable)?;
            self.numbers.try_push(number)?;
        }
        Ok(())
    }

    fn end_row(&mut self) -> Result<()> {
        while !self.numbers.len().is_multiple_of(TILES_OF_ROW) {
            self.variables.try_push(NO_TILE)?;
            self.numbers.try_push(0)?;
        }
        Ok(())
    }

    /// The number of tiles of variables that no row has room for.
    pub fn others(&self) -> usize {
        self.numbers.len() - self.rows * TILES_OF_ROW
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::FactorGraphBuilder;

    #[test]
    fn variables_stay_whole_in_rows() {
        let mut builder = FactorGraphBuilder::new();
        for (variable, degree) in [(0, 10), (1, 85), (2, 71), (3, 5), (4, 20), (5, 170)] {
            for _ in 0..degree {
                builder.add_prior(variable, 0.3).unwrap();
            }
        }
        let graph = builder.build().unwrap();
        let tiles = Tiles::new(&graph, 10, &Gang::of(2)).unwrap();
        assert_eq!((tiles.quads, tiles.whole, tiles.rows, tiles.others()), (0, 1, 2, 17));
        assert_eq!(tiles.variables[..10], [0, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
        assert_eq!(tiles.numbers[..9], [0, 1, 2, 3, 4, 5, 6, 7, 8]);
        // Nine of 16 are taken, and the next variable has eight.
        assert_eq!(tiles.variables[10..17], [NO_TILE; 7]);
        assert_eq!(tiles.variables[17..27], [2, 2, 2, 2, 2, 2, 2, 2, 4, 4]);
        assert_eq!(tiles.variables[33..], [5; 17]);
        assert_eq!(tiles.numbers[32..36], [0, 1, 2, 3]);
    }
    #[test]
    fn variables_of_few_messages_share_a_warp() {
        let mut builder = FactorGraphBuilder::new();
        for (variable, degree) in [(0, 33), (1, 9), (2, 8), (3, 32), (4, 256)] {
            for _ in 0..degree {
                builder.add_prior(variable, 0.3).unwrap();
            }
        }
        let tiles = Tiles::new(&builder.build().unwrap(), 256, &Gang::ALONE).unwrap();
        assert_eq!((tiles.quads, tiles.whole, tiles.rows, tiles.others()), (2, 2, 0, 0));
        assert_eq!(tiles.variables, [1, 3, 0, 4]);
    }
}
