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
    /// How many answers it took.
    pub ranks: Ranks,
}

/// Numbers of answers until so many true alarms were found; `None` before that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ranks {
    /// All of them (Rank-100%-T).
    pub all: Option<usize>,
    /// 90 % of them (Rank-90%-T).
    pub ninety_percent: Option<usize>,
}

impl Quality {
    /// The measures of a sequence of answers, `true` for a true alarm, where there are so many true alarms in all.
    pub fn new(answers: impl IntoIterator<Item = bool>, all_true: usize) -> Self {
        let mut quality =
            Self { answers: 0, found: 0, all_true, inversions: 0, ranks: Ranks::default() };
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
            self.ranks.all.get_or_insert(self.answers);
        }
        // In tenths, so that 90 % needs no rounding.
        if 10 * self.found as u128 >= 9 * self.all_true as u128 {
            self.ranks.ninety_percent.get_or_insert(self.answers);
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
        assert_eq!(all.ranks, Ranks { all: Some(5), ninety_percent: Some(5) });
        // 90 % of 11 are 9.9: ten.
        let most = of("tttttttttfffft", 11);
        assert_eq!((most.found, most.inversions), (10, 8));
        assert_eq!(most.ranks, Ranks { all: None, ninety_percent: Some(14) });
        let nothing = of("ff", 0);
        assert_eq!(nothing.inversions, 0);
        assert_eq!(nothing.ranks, Ranks { all: Some(0), ninety_percent: Some(0) });
    }
}
