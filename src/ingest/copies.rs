//! Finds results that are a copy of other results of the same file.
//!
//! Two things that were really measured do not agree to the last of many digits, and not again and again:
//!
//! ```text
//! write/first/1/gson    11.7356        parse/second/1/gson    11.7356
//! write/first/10/gson   14.5489        parse/second/10/gson   14.5489
//! write/first/100/gson  43.9511        parse/second/100/gson  43.9511    `write/first/*/*` is `parse/second/*/*`
//! ```

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Evidence, Metric, Notice, Series};

/// Digits that a score must have for its like to be no accident.
const DIGITS: usize = 4;
/// Copies that make a series.
const COPIES: usize = 3;
/// Benchmarks of one score that are looked at. A coarse timer gives many the same one, and that is no copy.
const ALIKE: usize = 16;
/// Pairs of groups that are told of, those with most copies first.
const TOLD: usize = 5;

/// What differs between the names of two benchmarks: position of the part, and the part of each.
type Difference<'a> = Vec<(usize, &'a str, &'a str)>;

/// One notice for each two groups of benchmarks of which at least half have equal scores. Counts and sizes do not count:
/// they may well be equal.
pub(super) fn notices(series: &[Series]) -> Vec<Notice> {
    let mut alike: BTreeMap<(&Metric, u64), Vec<Vec<&str>>> = BTreeMap::new();
    let mut known: BTreeSet<(&Metric, Vec<&str>)> = BTreeSet::new();
    for one in series {
        let Some(score) = score(&one.evidence) else { continue };
        let parts = parts(one);
        if digits(score) >= DIGITS {
            alike.entry((&one.metric, score.to_bits())).or_default().push(parts.clone());
        }
        known.insert((&one.metric, parts));
    }
    let mut copies: BTreeMap<(&Metric, Difference<'_>), usize> = BTreeMap::new();
    for ((metric, _), names) in &mut alike {
        if names.len() > ALIKE {
            continue;
        }
        names.sort();
        for (i, one) in names.iter().enumerate() {
            for other in &names[i + 1..] {
                if let Some(difference) = difference(one, other) {
                    *copies.entry((*metric, difference)).or_default() += 1;
                }
            }
        }
    }
    let mut copies: Vec<_> = copies.into_iter().filter(|&(_, count)| count >= COPIES).collect();
    copies.sort_by_key(|&(_, count)| Reverse(count));
    copies
        .into_iter()
        .take(TOLD)
        .filter_map(|((metric, difference), count)| {
            let twins: Vec<&Vec<&str>> = known
                .iter()
                .filter(|(of, name)| {
                    *of == metric
                        && twin(name, &difference)
                            .is_some_and(|twin| known.contains(&(metric, twin)))
                })
                .map(|(_, name)| name)
                .collect();
            (2 * count >= twins.len()).then(|| {
                let length = twins.first().map_or(0, |name| name.len());
                let pattern = |pick: fn(&(usize, &str, &str)) -> String| {
                    let mut shown = vec!["*".to_owned(); length];
                    for part in &difference {
                        shown[part.0] = pick(part);
                    }
                    shown.join("/")
                };
                Notice::new(
                    "copied-results",
                    format!(
                        "`{}` and `{}` have the same {}, digit for digit, in {count} of {} benchmarks",
                        pattern(|part| part.1.to_owned()),
                        pattern(|part| part.2.to_owned()),
                        metric.name,
                        twins.len()
                    ),
                    "what is measured twice does not agree like that; look at whether one was copied from the other",
                )
            })
        })
        .collect()
}

/// The one number that stands for a benchmark where a tool prints a table.
fn score(evidence: &Evidence) -> Option<f64> {
    match evidence {
        Evidence::Summary(summaries) => match summaries.as_slice() {
            [one] => Some(one.score),
            _ => None,
        },
        Evidence::Sampled(launches) => match launches.as_slice() {
            [one] => match one.sample.values().as_slice() {
                [value] => Some(*value),
                _ => None,
            },
            _ => None,
        },
        Evidence::Scored(_) | Evidence::Exact(_) => None,
    }
}

/// Significant decimal digits, up to twelve.
fn digits(score: f64) -> usize {
    let shown = format!("{score:.11e}");
    let mantissa = shown.split('e').next().unwrap_or_default();
    mantissa.trim_end_matches('0').bytes().filter(u8::is_ascii_digit).count()
}

fn parts(series: &Series) -> Vec<&str> {
    let suite = Some(series.id.suite.as_str()).filter(|suite| !suite.is_empty());
    suite.into_iter().chain(series.id.name.split(['/', '.'])).collect()
}

/// What differs between two names of as many parts that share one of them.
fn difference<'a>(one: &[&'a str], other: &[&'a str]) -> Option<Difference<'a>> {
    let differing: Difference<'a> = one
        .iter()
        .zip(other)
        .enumerate()
        .filter(|(_, (a, b))| a != b)
        .map(|(place, (a, b))| (place, *a, *b))
        .collect();
    (one.len() == other.len() && !differing.is_empty() && differing.len() < one.len())
        .then_some(differing)
}

/// The name with the parts of the second benchmark in place of those of the first.
fn twin<'a>(name: &[&'a str], difference: &Difference<'a>) -> Option<Vec<&'a str>> {
    let mut twin = name.to_vec();
    for &(place, one, other) in difference {
        let part = twin.get_mut(place).filter(|part| **part == one)?;
        *part = other;
    }
    Some(twin)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{BenchmarkId, Experiment, Summary};

    fn of(scores: &[(&str, f64)]) -> Vec<String> {
        let series: Vec<Series> = scores
            .iter()
            .map(|&(name, score)| Series {
                id: BenchmarkId::new("", name),
                metric: Metric::time(),
                experiment: Experiment::Imported,
                evidence: Evidence::Summary(vec![Summary {
                    score,
                    spread: None,
                    n: None,
                    launches: None,
                }]),
                looks: Vec::new(),
            })
            .collect();
        notices(&series).into_iter().map(|notice| notice.seen).collect()
    }

    #[test]
    fn a_table_that_repeats_another_is_told() {
        let copied = [
            ("write/1/a", 11.7356),
            ("write/1/b", 89.86),
            ("write/10/a", 14.5489),
            ("write/10/b", 85.65),
            ("parse/1/a", 11.7356),
            ("parse/1/b", 89.86),
            ("parse/10/a", 14.5489),
            ("parse/10/b", 23.65),
        ];
        let told = of(&copied);
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].starts_with("`parse/*/*` and `write/*/*` have the same time"), "{told:?}");
        assert!(told[0].ends_with("in 3 of 4 benchmarks"), "{told:?}");
    }

    #[test]
    fn a_few_equal_numbers_are_an_accident() {
        // Two of four; numbers of three digits, as a coarse timer gives them; names that share nothing.
        assert!(
            of(&[
                ("write/1", 11.7356),
                ("parse/1", 11.7356),
                ("write/2", 85.65),
                ("parse/2", 85.65)
            ])
            .is_empty()
        );
        let coarse =
            ["1", "2", "3", "4"].map(|n| [(format!("a/{n}"), 120.0), (format!("b/{n}"), 120.0)]);
        let coarse: Vec<(&str, f64)> =
            coarse.iter().flatten().map(|(name, score)| (name.as_str(), *score)).collect();
        assert!(of(&coarse).is_empty());
        assert!(of(&[("a", 1.2345), ("b", 1.2345), ("c", 1.2345), ("d", 1.2345)]).is_empty());
    }
}
