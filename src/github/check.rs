//! The verdict on the commit: a check run, one per name and commit, or a commit status where the token may not make
//! check runs.
//!
//! A check run carries `RUN-ATTEMPT` as its external id. A later run takes over the check run of an earlier one; one that
//! already stands for a later run is left alone.

use serde::Deserialize;
use serde_json::{Value, json};

use super::client::{Change, Client, Failure};
use super::names::{Sha, Title};
use super::run::Run;
use crate::report::{Conclusion, Page};

/// Annotations that one request may hold, and all that are made.
pub(super) const ANNOTATIONS_MAX: usize = 50;

/// What became of a check run or a status.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Posted {
    /// It stands, and this is the App that made it, where one did.
    Done { app: Option<String> },
    /// A later run has spoken.
    Stale,
}

/// A line of a source that a benchmark stands on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Annotation {
    pub(super) path: String,
    pub(super) line: usize,
    pub(super) message: String,
}

#[derive(Deserialize)]
struct CheckRun {
    id: u64,
    name: String,
    external_id: Option<String>,
    app: Option<App>,
    output: Option<Output>,
}

#[derive(Deserialize)]
struct App {
    slug: Option<String>,
}

#[derive(Deserialize)]
struct Output {
    annotations_count: Option<u64>,
}

#[derive(Deserialize)]
struct Status {
    context: String,
    target_url: Option<String>,
    description: Option<String>,
}

/// Makes or takes over the check run.
pub(super) fn check_run(
    client: &Client,
    run: &Run,
    name: &Title,
    page: &Page,
    annotations: &[Annotation],
) -> Result<Posted, Failure> {
    let all = || -> Result<Vec<CheckRun>, Failure> { check_runs(client, &run.sha, name) };
    let known = all()?;
    let newest = known
        .iter()
        .filter_map(|check| Some((age(check)?, check)))
        .max_by_key(|(age, check)| (*age, check.id));
    let external_id = format!("{}-{}", run.id, run.attempt);
    let mut body = json!({
        "name": name.as_ref(),
        "external_id": external_id,
        "details_url": run.url,
        "status": "completed",
        "conclusion": page.conclusion.name(),
        "output": {"title": page.title, "summary": page.check},
    });
    let answer = match newest {
        Some((age, _)) if run.age() < age => return Ok(Posted::Stale),
        // Annotations can't be taken back, so a check run that has some is left to its own run.
        Some((age, check)) if age == run.age() || !is_annotated(check) => {
            client.change(Change::Patch, &format!("check-runs/{}", check.id), Some(&body))?
        }
        _ => {
            body["head_sha"] = run.sha.as_ref().into();
            if !annotations.is_empty() {
                body["output"]["annotations"] = annotations.iter().map(as_json).collect();
            }
            client.create("check-runs", &body, &|| {
                let all = all()?;
                let ours = all.iter().find(|check| check.external_id.as_ref() == Some(&external_id));
                Ok(ours.map(|check| json!({"app": {"slug": check.app.as_ref().and_then(|app| app.slug.clone())}})))
            })?
        }
    };
    Ok(Posted::Done { app: answer["app"]["slug"].as_str().map(str::to_owned) })
}

fn check_runs(client: &Client, sha: &Sha, name: &Title) -> Result<Vec<CheckRun>, Failure> {
    let name = name.as_ref();
    let route =
        format!("commits/{sha}/check-runs?filter=all&check_name={}", super::names::encode(name));
    let mut all: Vec<CheckRun> = client.list(&route, Some("check_runs"))?;
    all.retain(|check| check.name == name);
    Ok(all)
}

/// Run and attempt of a check run that pacegate made; the job of a workflow has another kind of id.
fn age(check: &CheckRun) -> Option<(u64, u64)> {
    let (run, attempt) = check.external_id.as_ref()?.split_once('-')?;
    Some((run.parse().ok()?, attempt.parse().ok()?))
}

fn is_annotated(check: &CheckRun) -> bool {
    check.output.as_ref().and_then(|output| output.annotations_count).is_some_and(|count| 0 < count)
}

fn as_json(annotation: &Annotation) -> Value {
    json!({
        "path": annotation.path,
        "start_line": annotation.line,
        "end_line": annotation.line,
        "annotation_level": "failure",
        "message": annotation.message,
    })
}

/// Sets a commit status, the small form of a check run. It knows no neutral, and nobody's App.
pub(super) fn status(
    client: &Client,
    run: &Run,
    name: &Title,
    page: &Page,
) -> Result<Posted, Failure> {
    let url = format!("{}/attempts/{}", run.url, run.attempt);
    let newest = || -> Result<Option<Status>, Failure> {
        let all: Vec<Status> = client.list(&format!("commits/{}/statuses", run.sha), None)?;
        Ok(all.into_iter().find(|status| status.context == name.as_ref()))
    };
    let age = |status: &Status| -> Option<(u64, u64)> {
        let (rest, attempt) = status.target_url.as_ref()?.rsplit_once("/attempts/")?;
        Some((rest.rsplit('/').next()?.parse().ok()?, attempt.parse().ok()?))
    };
    if newest()?.as_ref().and_then(age).is_some_and(|age| run.age() < age) {
        return Ok(Posted::Stale);
    }
    let state = match page.conclusion {
        Conclusion::Success | Conclusion::Neutral => "success",
        Conclusion::Failure => "failure",
    };
    let body = json!({
        "context": name.as_ref(), "state": state, "description": page.status, "target_url": url,
    });
    client.create(&format!("statuses/{}", run.sha), &body, &|| {
        let ours = newest()?.filter(|status| {
            status.target_url.as_ref() == Some(&url)
                && status.description.as_ref() == Some(&page.status)
        });
        Ok(ours.map(|_| Value::Null))
    })?;
    Ok(Posted::Done { app: None })
}
