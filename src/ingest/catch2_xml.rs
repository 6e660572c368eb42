//! Reads what Catch2 (2.9 and later, and 3) writes with `--reporter xml`.
//!
//! ```text
//! <Catch2TestRun name="sort" ..>                                    <Catch name="sort"><Group ..> before version 3
//!   <TestCase name="Sorting" tags="[bench]" ..>
//!     <Section name="of many" ..>
//!       <BenchmarkResults name="sort" samples="100" resamples="100000" iterations="20" ..>
//!         <!--All values in nano seconds-->
//!         <mean value="3789.2" lowerBound="3734" upperBound="3888.1" ci="0.95"/>
//!         <standardDeviation value="362.5" lowerBound="234" upperBound="539" ci="0.95"/>
//!         <outliers variance="0.4" lowMild="0" .../>
//!       </BenchmarkResults>
//!       <BenchmarkResults name="broken" ..>
//!         <failed message="boom"/>
//!       </BenchmarkResults>
//!     </Section>
//!     <OverallResult success="true"/>
//!   </TestCase>
//!   <OverallResults successes="2" failures="0" .../>
//! </Catch2TestRun>
//! ```
//!
//! As on the console, a mean is a summary of one process. Only tags and their attributes matter; text between them is
//! skipped.

use super::Format;
use super::found::{Found, named};
use super::input::{Input, Shape};
use super::unit;
use crate::error::Result;
use crate::model::{BenchmarkId, Spread, Summary};

pub(super) const FORMAT: Format = Format {
    name: "Catch2 XML",
    signs: &["<BenchmarkResults", "<Catch2TestRun", "<Catch ", "standardDeviation"],
    claims: |input| {
        input.shape == Shape::Text
            && input.text.trim_start().starts_with('<')
            && tags(&input.text).take(20).any(|tag| ["Catch2TestRun", "Catch"].contains(&tag.name))
            && input.text.contains("<BenchmarkResults")
    },
    read,
};

fn read(input: &Input, found: &mut Found<'_>) -> Result<()> {
    let mut path: Vec<Tag<'_>> = Vec::new();
    let mut open: Option<Open> = None;
    for tag in tags(&input.text) {
        match (tag.kind, tag.name) {
            (Kind::End, name) => {
                while path.pop().is_some_and(|tag| tag.name != name) {}
                if name == "BenchmarkResults"
                    && let Some(open) = open.take()
                {
                    open.tell(found);
                }
                continue;
            }
            (Kind::Begin, "BenchmarkResults") => {
                let inside = path.iter().filter(|tag| ["TestCase", "Section"].contains(&tag.name));
                let suite: Vec<String> = inside.filter_map(|tag| tag.attribute("name")).collect();
                let name = tag.attribute("name").unwrap_or_default();
                open = Some(Open {
                    line: line_of(&input.text, &tag),
                    id: found.id(&suite.join("/"), &name),
                    samples: tag.attribute("samples").and_then(|samples| samples.parse().ok()),
                    mean: None,
                    deviation: None,
                    failed: None,
                });
            }
            (_, name) => {
                let value = || tag.attribute("value").and_then(|value| unit::number(&value));
                if let Some(open) = &mut open {
                    match name {
                        "mean" => open.mean = value(),
                        "standardDeviation" => open.deviation = value(),
                        "failed" => open.failed = tag.attribute("message"),
                        _ => {}
                    }
                } else if name == "OverallResult"
                    && tag.attribute("success").as_deref() == Some("false")
                {
                    let inside = path.iter().find(|tag| tag.name == "TestCase");
                    let suite = inside.and_then(|tag| tag.attribute("name")).unwrap_or_default();
                    let line = line_of(&input.text, &tag);
                    found.incomplete(&suite, format!("line {line}: the test case failed"));
                }
            }
        }
        if tag.kind == Kind::Begin {
            path.push(tag);
        }
    }
    if let Some(open) = open {
        open.tell(found);
    }
    if let Some(tag) = path.first() {
        found.incomplete("", format!("<{}> has no end: the file is cut off", tag.name));
    }
    Ok(())
}

/// A benchmark whose results are being read.
struct Open {
    line: usize,
    id: BenchmarkId,
    samples: Option<u32>,
    mean: Option<f64>,
    deviation: Option<f64>,
    failed: Option<String>,
}

impl Open {
    fn tell(self, found: &mut Found<'_>) {
        match (self.failed, self.mean) {
            (Some(message), _) => {
                found.fail(&self.id, format!("line {}: it failed: {message}", self.line));
            }
            (None, Some(score)) => {
                let spread = self.deviation.map(Spread::StandardDeviation);
                let summary = Summary { score, spread, n: self.samples, launches: Some(1) };
                found.summary(&self.id, &named("time", "ns"), summary);
            }
            (None, None) => found.fail(
                &self.id,
                format!("line {}: its mean is missing or no number; measure again", self.line),
            ),
        }
    }
}

/// What a tag does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Begin,
    End,
    /// It begins and ends.
    Alone,
}

/// A tag: `<mean value="3"/>`.
struct Tag<'a> {
    kind: Kind,
    name: &'a str,
    attributes: &'a str,
    offset: usize,
}

impl Tag<'_> {
    /// The value of an attribute, with its entities resolved.
    fn attribute(&self, name: &str) -> Option<String> {
        let mut rest = self.attributes.trim_start();
        while let Some((key, after)) = rest.split_once('=') {
            let after = after.trim_start();
            let quote = after.chars().next().filter(|c| ['"', '\''].contains(c))?;
            let (value, after) = after.get(1..)?.split_once(quote)?;
            if key.trim() == name {
                return Some(resolved(value));
            }
            rest = after.trim_start();
        }
        None
    }
}

/// The tags of a text, in order. Comments, declarations and what stands between tags are skipped.
fn tags(text: &str) -> impl Iterator<Item = Tag<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let from = rest.find('<')?;
            let (_, tag) = rest.split_at(from);
            let offset = text.len() - tag.len();
            let skipped = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"), ("<!", ">")];
            if let Some((_, end)) = skipped.iter().find(|(begin, _)| tag.starts_with(begin)) {
                rest = tag.split_once(end)?.1;
                continue;
            }
            let mut quote = None;
            let end = tag.char_indices().find(|&(_, c)| match (quote, c) {
                (None, '"' | '\'') => {
                    quote = Some(c);
                    false
                }
                (Some(open), c) if open == c => {
                    quote = None;
                    false
                }
                (None, '>') => true,
                _ => false,
            });
            let (inside, after) = tag.split_at(end?.0);
            rest = after.get(1..)?;
            let inside = inside.get(1..)?;
            let (kind, inside) = match (inside.strip_prefix('/'), inside.strip_suffix('/')) {
                (Some(name), _) => (Kind::End, name),
                (None, Some(inside)) => (Kind::Alone, inside),
                (None, None) => (Kind::Begin, inside),
            };
            let (name, attributes) =
                inside.trim().split_once(char::is_whitespace).unwrap_or((inside.trim(), ""));
            return Some(Tag { kind, name, attributes, offset });
        }
    })
}

fn line_of(text: &str, tag: &Tag<'_>) -> usize {
    text.get(..tag.offset).map_or(0, |before| before.matches('\n').count()) + 1
}

/// A text with its entities resolved: `a &amp; b`, `&#x3c;`.
fn resolved(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, from)) = rest.split_once('&') {
        out.push_str(before);
        let entity = from.split_once(';').and_then(|(name, after)| {
            let c = match name {
                "lt" => '<',
                "gt" => '>',
                "amp" => '&',
                "quot" => '"',
                "apos" => '\'',
                _ => {
                    let number = name.strip_prefix('#')?;
                    let code = match number.strip_prefix('x') {
                        Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                        None => number.parse().ok()?,
                    };
                    char::from_u32(code)?
                }
            };
            Some((c, after))
        });
        match entity {
            Some((c, after)) => {
                out.push(c);
                rest = after;
            }
            None => {
                out.push('&');
                rest = from;
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::super::testing::{lines, notices, run_of};

    const TWO: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<Catch2TestRun name="sort" rng-seed="1" catch2-version="3.5.0">
  <TestCase name="Sorting &amp; more" tags="[bench]" filename="sort.cpp" line="5">
    <Section name="of many" filename="sort.cpp" line="7">
      <!-- <mean value="1"/> -->
      <BenchmarkResults name="sort &lt;int>" samples="100" resamples="1000" iterations="20">
        <!--All values in nano seconds-->
        <mean value="3789.25" lowerBound="3734" upperBound="3888" ci="0.95"/>
        <standardDeviation value="362.5" lowerBound="234" upperBound="539" ci="0.95"/>
        <outliers variance="0.4" lowMild="0" lowSevere="0" highMild="1" highSevere="2"/>
      </BenchmarkResults>
    </Section>
    <BenchmarkResults name="broken" samples="100">
      <failed message="boom &quot;1&quot;"/>
    </BenchmarkResults>
    <OverallResult success="true"/>
  </TestCase>
</Catch2TestRun>
"#;

    #[test]
    fn means_are_read_and_failures_kept() {
        let run = run_of(TWO);
        assert_eq!(
            lines(&run),
            [
                "Sorting & more/of many::sort <int> time ns lower score 3789.25 sd 362.5 n 100 of 1",
                "Sorting & more::broken failed: line 13: it failed: boom \"1\"",
            ]
        );
        assert!(notices(&run).is_empty());
    }

    #[test]
    fn a_file_that_is_cut_off_or_has_a_failed_case_is_not_whole() {
        let cut = run_of(&TWO[..TWO.find("<standardDeviation").unwrap()]);
        assert_eq!(
            lines(&cut),
            [
                "Sorting & more/of many::sort <int> time ns lower score 3789.25 n 100 of 1",
                "(whole run) failed: <Catch2TestRun> has no end: the file is cut off; benchmarks may be missing, so \
                 measure again",
            ]
        );
        let failed = run_of(&TWO.replace("success=\"true\"", "success=\"false\""));
        assert!(lines(&failed).iter().any(|line| line.contains("the test case failed")));
        assert_eq!(notices(&failed), ["incomplete"]);
        let no_mean = run_of(&TWO.replace("<mean value=\"3789.25\"", "<mean value=\"fast\""));
        let message = "line 6: its mean is missing or no number; measure again";
        assert!(lines(&no_mean).iter().any(|line| line.ends_with(message)));
    }
}
