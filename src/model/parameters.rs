//! The parameters of conjunctions, each set of them stored once.

use super::factor::HornParameters;
use crate::error::Result;
use crate::memory::{self, Grow};
use std::collections::HashMap;

/// Distinct parameter sets, found again by their bits.
#[derive(Clone, Debug, Default)]
pub(super) struct ParameterTable {
    pub(super) entries: Vec<HornParameters>,
    index: HashMap<(u8, bool, u64, u64), u32>,
    last: Option<u32>,
}

impl ParameterTable {
    pub(super) fn intern(&mut self, entry: HornParameters) -> Result<u32> {
        // Neighbouring factors mostly share their parameters.
        if let Some(last) = self.last
            && self.entries[last as usize] == entry
        {
            return Ok(last);
        }
        let key = (entry.kind as u8, entry.head_in_body, entry.p.to_bits(), entry.q.to_bits());
        let id = match self.index.get(&key) {
            Some(&id) => id,
            None => {
                let id = self.entries.len() as u32;
                self.entries.try_room(1)?;
                memory::insert(&mut self.index, key, id)?;
                self.entries.push(entry);
                id
            }
        };
        self.last = Some(id);
        Ok(id)
    }

    /// A copy that knows its own entries only.
    pub(super) fn of(entries: &[HornParameters]) -> Result<Self> {
        let mut table = Self::default();
        for &entry in entries {
            table.intern(entry)?;
        }
        Ok(table)
    }
}
