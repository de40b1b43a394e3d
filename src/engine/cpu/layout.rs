//! Where the messages to each variable lie, if not in the graph's order of variables.

/// Where the messages to each variable start, with gaps between some.
pub(super) struct Layout {
    /// Of each variable, its first slot.
    first: Vec<u32>,
    /// Number of slots and gaps.
    end: usize,
}

impl Layout {
    /// For each variable its first slot, and the number of slots and gaps, so that no variable has slots beyond it.
    pub(super) fn new(first: Vec<u32>, end: usize) -> Self {
        Self { first, end }
    }

    /// Of each variable, its first slot.
    #[inline(always)]
    pub(super) fn first(&self) -> &[u32] {
        &self.first
    }

    /// Number of slots and gaps.
    pub(super) fn end(&self) -> usize {
        self.end
    }

    /// Moves all slots by less than a cache line.
    pub(super) fn move_by(&mut self, slots: usize) {
        self.first.iter_mut().for_each(|first| *first += slots as u32);
        self.end += slots;
    }
}
