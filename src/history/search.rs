//! Which commit did it: bisection that may be told "cannot tell" and goes on beside it.
//!
//! ```text
//!   good  .   .   .   .   .   .   bad        slow is known at the right end, fast at the left
//!     0   1   2   3   4   5   6   7
//!                 ?                          ask the middle; one that cannot be told is left out,
//!             ?       ?                      and the nearest others are asked in its place
//! ```

/// What is known of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// As fast as the good end.
    Fast,
    /// As slow as the bad end.
    Slow,
    /// It does not build, or the data cannot tell.
    Unknown,
}

/// A search over commits in a row, of which the first is fast and the last is slow.
#[derive(Clone, Debug)]
pub struct Search {
    told: Vec<Option<Told>>,
}

impl Search {
    /// Begins with `commits` commits, both ends included.
    ///
    /// # Panics
    ///
    /// For fewer than two.
    pub fn new(commits: usize) -> Self {
        assert!(2 <= commits, "a search has two ends");
        let mut told = vec![None; commits];
        told[0] = Some(Told::Fast);
        told[commits - 1] = Some(Told::Slow);
        Search { told }
    }

    /// The place of the commit to ask about next; `None` when nothing is left to ask.
    pub fn ask(&self) -> Option<usize> {
        let (good, bad) = self.bounds();
        let middle = (good + bad) / 2;
        (good + 1..bad)
            .filter(|&place| self.told[place].is_none())
            .min_by_key(|place| (place.abs_diff(middle), *place))
    }

    /// Tells what was found at a place.
    pub fn tell(&mut self, place: usize, told: Told) {
        self.told[place] = Some(told);
    }

    /// The last place that is fast and the first one behind it that is slow; between them lie only places that cannot
    /// be told, or have not been asked about.
    pub fn bounds(&self) -> (usize, usize) {
        // The narrowest pair: a slow place left of a fast one cannot come from one step, and the search stays left of it.
        let bad = self.told.iter().position(|told| *told == Some(Told::Slow));
        let bad = bad.expect("the last place is slow");
        let good = self.told[..bad].iter().rposition(|told| *told == Some(Told::Fast));
        (good.expect("the first place is fast"), bad)
    }

    /// Questions that a search needs at most where every answer is clear.
    pub fn questions(commits: usize) -> u32 {
        commits.saturating_sub(1).max(1).next_power_of_two().trailing_zeros()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_place_is_found_with_few_questions() {
        for commits in 2..40 {
            for guilty in 1..commits {
                let mut search = Search::new(commits);
                let mut asked = 0;
                while let Some(place) = search.ask() {
                    asked += 1;
                    search.tell(place, if place < guilty { Told::Fast } else { Told::Slow });
                }
                assert_eq!(search.bounds(), (guilty - 1, guilty));
                assert!(asked <= Search::questions(commits), "{commits}: {asked}");
            }
        }
    }

    proptest! {
        #[test]
        fn what_cannot_be_told_widens_the_answer_and_nothing_else(
            unknown in prop::collection::vec(any::<bool>(), 2..40), guilty in 1usize..40
        ) {
            let commits = unknown.len();
            let guilty = guilty.min(commits - 1);
            let mut search = Search::new(commits);
            while let Some(place) = search.ask() {
                let told = if unknown[place] {
                    Told::Unknown
                } else if place < guilty {
                    Told::Fast
                } else {
                    Told::Slow
                };
                search.tell(place, told);
            }
            let (good, bad) = search.bounds();
            prop_assert!(good < guilty && guilty <= bad);
            prop_assert!((good + 1..bad).all(|place| unknown[place]));
        }
    }
}
