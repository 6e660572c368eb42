//! The order of things: the run, its evidence, the verdict by the base's policy, then check run and comment.

use std::collections::BTreeSet;

use super::artifact::{Missing, evidence};
use super::check::{ANNOTATIONS_MAX, Annotation, Posted, check_run, status};
use super::client::{Client, Failure};
use super::comment::{self, Commented, Comments};
use super::names::{FilePath, Sha, Title};
use super::run::{Pull, Run, Tip};
use crate::assess::session;
use crate::config::Config;
use crate::error::{Error, ErrorKind, Result};
use crate::gate::{Accepted, Day, Outcome, Policy};
use crate::model::Notice;
use crate::report::{Conclusion, Origin, Page, Report, page, remarks};
use crate::store::evidence::EvidenceFile;
use crate::store::{accepted, baseline};

/// Who a comment is by where the token does not say: the token of a job.
pub(super) const JOB_LOGIN: &str = "github-actions[bot]";

/// Sources that are looked through for the lines of benchmarks.
const SOURCES_MAX: usize = 10;

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Order {
    /// Number of the run that measured.
    pub run: u64,
    /// The one workflow file that is believed.
    pub workflow: FilePath,
    /// Where the policy lies in the base commit.
    pub config: FilePath,
    /// What the check is called.
    pub name: Title,
    /// When a comment is written.
    pub comments: Comments,
    /// Today, for accept records that end.
    pub today: Option<Day>,
}

/// What was done.
#[derive(Clone, Debug)]
pub struct Published {
    /// What was shown.
    pub page: Page,
    /// What was done, in words.
    pub done: Vec<String>,
    /// What could not be done, and why.
    pub undone: Vec<String>,
    /// Whether what the run left was believed and judged.
    pub trust: Trust,
}

/// Whether what a run left was believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// It was judged.
    Judged,
    /// It was refused, and that is said on the commit.
    Refused,
}

/// What a run has to show for itself.
enum Found {
    Evidence(Box<EvidenceFile>, u64),
    /// Why nothing can be judged.
    Nothing(String),
}

/// Reports on a run.
///
/// # Errors
///
/// When GitHub does not tell of the run: then nothing can be said on a commit.
pub fn publish(client: &Client, order: &Order) -> Result<Published> {
    let run = Run::of(client, order.run)?;
    let objection = run.objection(&order.workflow);
    let mut undone = Vec::new();
    let pulls = match (&objection, run.pulls(client)) {
        (Some(_), _) => Vec::new(),
        (None, Ok(pulls)) => pulls,
        (None, Err(failure)) => {
            undone.push(missing_right(
                "no pull request was found",
                &failure,
                "pull-requests: write",
            ));
            Vec::new()
        }
    };
    let found = match objection {
        Some(objection) => Found::Nothing(objection),
        None => left(client, &run),
    };
    let trust = if matches!(found, Found::Evidence(..)) { Trust::Judged } else { Trust::Refused };
    let from = run.provenance();
    // Each base has a policy of its own; one that is not known is the default branch's.
    let mut bases: BTreeSet<Option<&Sha>> = pulls.iter().map(|pull| Some(&pull.base)).collect();
    if bases.is_empty() {
        bases.insert(None);
    }
    let reports: Vec<(Option<&Sha>, Report)> = bases
        .into_iter()
        .map(|base| (base, judged(&run, &found, order, || rules(client, &run, base, order))))
        .collect();
    let (_, worst) =
        reports.iter().min_by_key(|(_, report)| report.outcome).expect("there is a base");
    let shown = page(worst, &from);

    let mut published = Published { page: shown, done: Vec::new(), undone, trust };
    let app = published.check(client, &run, order, worst);
    let measured: Vec<&Pull> = pulls.iter().filter(|pull| pull.tip == Tip::Measured).collect();
    if measured.is_empty() {
        published.done.push(match pulls.first() {
            Some(pull) => format!("no comment: #{} has moved on since this run", pull.number),
            None => "no comment: no open pull request has this commit as its tip".into(),
        });
        return Ok(published);
    }
    let login = app
        .map(|slug| format!("{slug}[bot]"))
        .or_else(|| client.login())
        .unwrap_or_else(|| JOB_LOGIN.into());
    for pull in measured {
        let (_, report) =
            reports.iter().find(|(base, _)| *base == Some(&pull.base)).expect("every base has one");
        published.comment(client, &run, order, pull.number, &login, &page(report, &from));
    }
    Ok(published)
}

impl Published {
    /// Puts the verdict on the commit, by a check run or what comes nearest; returns the App that did.
    fn check(
        &mut self,
        client: &Client,
        run: &Run,
        order: &Order,
        report: &Report,
    ) -> Option<String> {
        let annotations = annotations(client, &run.sha, report);
        let sha = &run.sha.as_ref()[..7];
        let outcome = match check_run(client, run, &order.name, &self.page, &annotations) {
            Err(failure) if failure.is_denied() => {
                self.undone.push(missing_right("no check run was made", &failure, "checks: write"));
                status(client, run, &order.name, &self.page)
                    .map(|posted| (posted, "commit status"))
                    .map_err(|failure| {
                        missing_right("no commit status was set", &failure, "statuses: write")
                    })
            }
            Err(failure) => Err(format!("no check run was made: {failure}")),
            Ok(posted) => Ok((posted, "check run")),
        };
        match outcome {
            Ok((Posted::Done { app }, what)) => {
                self.done.push(format!("{what} on {sha}: {}", self.page.conclusion.name()));
                app
            }
            Ok((Posted::Stale, what)) => {
                self.done
                    .push(format!("the {what} on {sha} is that of a later run and was left alone"));
                None
            }
            Err(why) => {
                self.undone.push(why);
                None
            }
        }
    }

    fn comment(
        &mut self,
        client: &Client,
        run: &Run,
        order: &Order,
        pull: u64,
        login: &str,
        page: &Page,
    ) {
        let wanted = match order.comments {
            Comments::Always => true,
            Comments::OnChange => page.is_news,
            Comments::OnFail => page.conclusion == Conclusion::Failure,
        };
        let key = comment::key(&order.workflow, &order.name);
        match comment::upsert(client, pull, run, (&key, login), &page.comment, wanted) {
            Ok(commented) => self.done.push(match commented {
                Commented::Created => format!("comment on #{pull}: written"),
                Commented::Updated => format!("comment on #{pull}: updated"),
                Commented::Stale => {
                    format!("the comment on #{pull} is that of a later run and was left alone")
                }
                Commented::Quiet => format!("comment on #{pull}: none wanted"),
            }),
            Err(failure) => {
                let what = format!("the comment on #{pull} was not written");
                self.undone.push(missing_right(&what, &failure, "pull-requests: write"));
            }
        }
    }

    /// Whether everything that was asked for was done.
    pub fn is_complete(&self) -> bool {
        self.undone.is_empty()
    }
}

/// What was not done, and the permission to add where that is the cause.
fn missing_right(what: &str, failure: &Failure, right: &str) -> String {
    if !failure.is_denied() {
        return format!("{what}: {failure}");
    }
    format!(
        "{what}: {failure}; add `{right}` to the permissions of the job that publishes, which has to be one of \
         `workflow_run`: the token of a fork's own run can only read"
    )
}

/// What the run left.
fn left(client: &Client, run: &Run) -> Found {
    match evidence(client, run) {
        Ok((file, attempt)) => Found::Evidence(Box::new(file), attempt),
        Err(Missing::Refused(why)) => Found::Nothing(why),
        Err(Missing::Failed(failure)) => Found::Nothing(missing_right(
            "the evidence could not be fetched",
            &failure,
            "actions: read",
        )),
        Err(Missing::None) => Found::Nothing(unfinished(run)),
    }
}

fn unfinished(run: &Run) -> String {
    format!(
        "the benches did not finish: the run ended as `{}` and left no evidence; see its log and run it again",
        run.conclusion
    )
}

/// What a verdict is reached by.
#[derive(Default)]
struct Rules {
    /// Whose policy it is, for people.
    place: String,
    policy: Option<String>,
    /// The accept records of the change itself: they are part of what is reviewed, and are shown on top.
    accepted: Option<String>,
}

/// The rules as they stand in the base, so that no change can loosen them for itself.
fn rules(client: &Client, run: &Run, base: Option<&Sha>, order: &Order) -> Result<Rules> {
    let file = |path: &FilePath, at: Option<&Sha>| {
        client.file(path, at.map(AsRef::as_ref)).map_err(|failure| {
            Error::judge(missing_right(&format!("{path} was not read"), &failure, "contents: read"))
        })
    };
    Ok(Rules {
        place: base.map_or_else(
            || "the default branch".into(),
            |sha| format!("the base {}", &sha.as_ref()[..7]),
        ),
        policy: file(&order.config, base)?,
        accepted: file(&accepted_path(), Some(&run.sha))?,
    })
}

fn accepted_path() -> FilePath {
    format!("{}/{}", baseline::FOLDER, accepted::FILE).parse().expect("it is a path")
}

/// The verdict by the rules of a base. Whatever keeps it from being reached is the report then.
fn judged(
    run: &Run,
    found: &Found,
    order: &Order,
    rules: impl FnOnce() -> Result<Rules>,
) -> Report {
    let (file, attempt) = match found {
        Found::Evidence(file, attempt) => (file, *attempt),
        Found::Nothing(why) => return Report::failed(Outcome::Error, why.clone()),
    };
    let judge = || -> Result<Report> {
        let rules = rules()?;
        let mut notices = file.notices.clone();
        let mut policy = policy(&rules, order, file, &mut notices)?;
        policy.attempt = u32::try_from(attempt).unwrap_or(u32::MAX);
        let records = rules.accepted.map(|text| accepted::parse(&text, accepted_path().as_ref()));
        policy.accepted = Accepted {
            records: records.transpose()?.unwrap_or_default(),
            today: order.today,
            version: file.policy.accepted.version.clone(),
        };
        match run.origin {
            Origin::Own => policy.learned.clone_from(&file.policy.learned),
            Origin::Fork if file.policy.learned.is_empty() => {}
            Origin::Fork => notices.push(Notice::new(
                "fork",
                "what the fork says of the runner's noise in history is not used",
                "more benchmarks may be inconclusive than in its own run",
            )),
        }
        session(&file.runs, &policy, file.plan.clone(), &notices)
    };
    judge().unwrap_or_else(|error| {
        let outcome = match error.kind() {
            ErrorKind::Usage => Outcome::Usage,
            ErrorKind::NothingToCompare => Outcome::NothingToCompare,
            _ => Outcome::Error,
        };
        Report::failed(outcome, error.to_string())
    })
}

fn policy(
    rules: &Rules,
    order: &Order,
    file: &EvidenceFile,
    notices: &mut Vec<Notice>,
) -> Result<Policy> {
    let Some(text) = &rules.policy else {
        let seen = format!("{} has no {}", rules.place, order.config);
        notices.push(Notice::new("policy", seen, "the defaults apply"));
        return Ok(Policy::default());
    };
    let config = Config::parse(text, &format!("{} of {}", order.config, rules.place))?;
    let profile = file.plan.as_ref().and_then(|plan| config.profiles.get(&plan.profile));
    let looks = profile.map(|profile| profile.looks.clone());
    Ok(Policy { looks: looks.unwrap_or(config.policy.looks), ..config.policy })
}

/// What would be shown of evidence after an event, without asking GitHub; `None` is a run that left no evidence.
///
/// # Errors
///
/// When the event does not tell of a run.
pub fn rehearse(
    event: &str,
    evidence: Option<EvidenceFile>,
    policy: Option<String>,
    order: &Order,
) -> Result<Page> {
    let run = Run::of_event(event)?;
    let found = match (run.objection(&order.workflow), evidence) {
        (Some(objection), _) => Found::Nothing(objection),
        (None, Some(file)) => Found::Evidence(Box::new(file), run.attempt),
        (None, None) => Found::Nothing(unfinished(&run)),
    };
    let rules = || Ok(Rules { place: "the base".into(), policy, accepted: None });
    Ok(page(&judged(&run, &found, order, rules), &run.provenance()))
}

/// The lines on which the benchmarks that got slower are written, where `benches/SUITE.rs` of the measured commit names
/// them. A benchmark that is not found has no annotation: GitHub knows none without a line.
fn annotations(client: &Client, sha: &Sha, report: &Report) -> Vec<Annotation> {
    let remarks = remarks(report, ANNOTATIONS_MAX);
    let suites: BTreeSet<&str> = remarks.iter().map(|(id, _)| id.suite.as_str()).collect();
    let mut all = Vec::new();
    for suite in suites.into_iter().take(SOURCES_MAX) {
        let is_target =
            suite.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        let Ok(path) = format!("benches/{suite}.rs").parse::<FilePath>() else { continue };
        let Some(source) =
            is_target.then(|| client.file(&path, Some(sha.as_ref())).ok().flatten()).flatten()
        else {
            continue;
        };
        for (id, message) in remarks.iter().filter(|(id, _)| id.suite == suite) {
            if let Some(line) = line_of(&source, &id.name) {
                all.push(Annotation { path: path.to_string(), line, message: message.clone() });
            }
        }
    }
    all
}

/// The line, from 1, that holds the most particular part of a name as a literal.
fn line_of(source: &str, name: &str) -> Option<usize> {
    let whole = std::iter::once(name);
    whole.chain(name.rsplit('/')).filter(|part| !part.is_empty()).find_map(|part| {
        let literal = format!("\"{part}\"");
        source.lines().position(|line| line.contains(&literal)).map(|line| line + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn benchmarks_are_found_by_their_literals() {
        let source = "fn a() {\n    c.benchmark_group(\"read\")\n        .bench_function(\"serde\", |b| b)\n}\n";
        let check =
            |name: &str, line: Option<usize>| assert_eq!(line_of(source, name), line, "{name}");
        check("read/serde", Some(3));
        check("read/serde/10", Some(3));
        check("read/simd/10", Some(2));
        check("write", None);
        check("", None);
    }
}
