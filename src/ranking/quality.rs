//! What a sequence of answers was worth, once it is known which alarms are true.

/// The usual measures of a ranking with feedback. All follow from the order in which alarms were inspected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quality {
    /// Number of inspected alarms.
    pub answers: usize,
    /// Number of true ones among them.
    pub found: usize,
    /// Number of true alarms that there are.
    pub all_true: usize,
    /// Over all inspected false alarms, the number of true ones that come after each, summed.
    pub inversions: u64,
    /// Number of answers until all true alarms were found (Rank-100%-T); `None` before that.
    pub rank_100: Option<usize>,
    /// Number of answers until 90 % of the true alarms were found (Rank-90%-T); `None` before that.
    pub rank_90: Option<usize>,
}

impl Quality {
    /// The measures of a sequence of answers, `true` for a true alarm, where there are so many true alarms in all.
    pub fn new(answers: impl IntoIterator<Item = bool>, all_true: usize) -> Self {
        let mut quality =
            Self { answers: 0, found: 0, all_true, inversions: 0, rank_100: None, rank_90: None };
        quality.note_ranks();
        for is_true in answers {
            quality.answers += 1;
            match is_true {
                true => quality.found += 1,
                false => quality.inversions += all_true.saturating_sub(quality.found) as u64,
            }
            quality.note_ranks();
        }
        quality
    }

    fn note_ranks(&mut self) {
        if self.found >= self.all_true {
            self.rank_100.get_or_insert(self.answers);
        }
        // In tenths, so that 90 % needs no rounding.
        if 10 * self.found as u128 >= 9 * self.all_true as u128 {
            self.rank_90.get_or_insert(self.answers);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_of_small_sequences() {
        let of = |text: &str, all| Quality::new(text.chars().map(|c| c == 't'), all);
        let all = of("ftfft", 2);
        assert_eq!((all.answers, all.found, all.inversions), (5, 2, 2 + 1 + 1));
        assert_eq!((all.rank_100, all.rank_90), (Some(5), Some(5)));
        // 90 % of 11 are 9.9: ten.
        let most = of("tttttttttfffft", 11);
        assert_eq!(
            (most.found, most.inversions, most.rank_100, most.rank_90),
            (10, 8, None, Some(14))
        );
        let nothing = of("ff", 0);
        assert_eq!((nothing.inversions, nothing.rank_100, nothing.rank_90), (0, Some(0), Some(0)));
    }
}
