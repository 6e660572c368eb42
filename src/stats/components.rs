//! Where variance comes from: between launches or within them, and what that says about how to measure.
//!
//! Reference: Kalibera and Jones, *Rigorous benchmarking in reasonable time* (2013).

use super::dist::f_sf;
use super::summary::{mean, sum_of_squares};

/// The variance of values that come in groups, split in two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Components {
    /// The mean square between groups.
    pub between_mean_square: f64,
    /// The mean square within groups, which estimates the variance within.
    pub within: f64,
    /// The variance between groups beyond what that within explains, at least 0.
    pub between: f64,
    /// The p-value of "the groups do not differ" (one-way analysis of variance).
    pub p: f64,
}

/// Splits the variance of grouped values, such as samples in launches; None for fewer than two groups or no
/// group with two values. Groups may differ in size.
pub fn components(groups: &[&[f64]]) -> Option<Components> {
    let all: Vec<f64> = groups.concat();
    let (count, n) =
        (groups.iter().filter(|group| !group.is_empty()).count() as f64, all.len() as f64);
    if count < 2.0 || n <= count {
        return None;
    }
    let center = mean(&all);
    let filled = || groups.iter().filter(|group| !group.is_empty());
    let between_squares: f64 =
        filled().map(|group| group.len() as f64 * (mean(group) - center).powi(2)).sum();
    let within_squares: f64 = filled().map(|group| sum_of_squares(group)).sum();
    let between_mean_square = between_squares / (count - 1.0);
    let within = within_squares / (n - count);
    let squared_sizes: f64 = filled().map(|group| (group.len() as f64).powi(2)).sum();
    let size = (n - squared_sizes / n) / (count - 1.0);
    let p = if between_mean_square == 0.0 {
        1.0
    } else {
        f_sf(between_mean_square / within, count - 1.0, n - count)
    };
    let between = ((between_mean_square - within) / size).max(0.0);
    Some(Components { between_mean_square, within, between, p })
}

impl Components {
    /// The number of values within a group that buys most for its price, where a new group costs as much as
    /// `group_cost` values and neighbours' correlation inflates the variance within by `design_effect`.
    pub fn best_group_size(&self, group_cost: f64, design_effect: f64) -> f64 {
        (group_cost * design_effect * self.within / self.between).sqrt().ceil()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::testing::check;

    #[test]
    fn nested_rows() {
        let groups: [&[f64]; 4] =
            [&[10.0, 11.0, 12.0], &[14.0, 15.0, 16.0], &[9.0, 10.0, 14.0], &[20.0, 21.0, 19.0]];
        // The third row's own variance is 7, the others' 1: mean 2.5.
        let split = components(&groups).unwrap();
        check(split.between_mean_square, 54.75, 1e-9);
        check(split.within, 2.5, 1e-9);
        check(split.between, 17.41666667, 1e-9);
        check(split.p, 0.0003264706264, 1e-9);
    }

    #[test]
    fn launches_worth_their_price() {
        let split = Components { between_mean_square: 0.0, within: 4e-4, between: 1e-4, p: 0.0 };
        check(split.best_group_size(60.0, 3.0), 27.0, 0.0);
    }

    #[test]
    fn too_little_to_split() {
        assert_eq!(components(&[]), None);
        assert_eq!(components(&[&[1.0, 2.0]]), None);
        assert_eq!(components(&[&[1.0], &[2.0]]), None);
        let equal = components(&[&[1.0, 1.0], &[1.0, 1.0]]).unwrap();
        assert_eq!((equal.between, equal.p), (0.0, 1.0));
    }
}
