//! The run that is reported on, and the pull requests that it measured. The run's id is all that is taken from outside;
//! everything else is asked of GitHub, so that nothing which the measured code wrote can choose where a report goes.

use serde::Deserialize;

use super::client::{Client, Failure};
use super::names::{FilePath, Sha, encode};
use crate::error::{Error, Result};
use crate::report::{Origin, Provenance};

/// A run of a workflow.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) id: u64,
    pub(super) attempt: u64,
    pub(super) sha: Sha,
    pub(super) origin: Origin,
    /// Its page.
    pub(super) url: String,
    pub(super) event: String,
    pub(super) conclusion: String,
    status: String,
    path: String,
    head_branch: String,
    head_owner: String,
    head_repository: Option<u64>,
    repository: u64,
}

/// A pull request whose tip was measured, or one whose tip has moved on since.
#[derive(Debug)]
pub(super) struct Pull {
    pub(super) number: u64,
    pub(super) base: Sha,
    /// Whether its tip is what was measured.
    pub(super) tip: Tip,
}

/// Where a pull request stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tip {
    /// What was measured.
    Measured,
    /// Something newer.
    Moved,
}

/// Events after which a run may be reported on; others run with the rights of the base.
const EVENTS: [&str; 6] =
    ["pull_request", "merge_group", "push", "schedule", "workflow_dispatch", "release"];

#[derive(Deserialize)]
struct EventPayload {
    workflow_run: RunAnswer,
}

#[derive(Deserialize)]
struct RunAnswer {
    id: u64,
    #[serde(default)]
    run_attempt: Option<u64>,
    status: Option<String>,
    conclusion: Option<String>,
    event: String,
    path: String,
    head_sha: String,
    head_branch: Option<String>,
    html_url: String,
    repository: RepositoryAnswer,
    head_repository: Option<RepositoryAnswer>,
}

#[derive(Deserialize)]
struct RepositoryAnswer {
    id: u64,
    full_name: Option<String>,
    owner: Option<Owner>,
}

#[derive(Deserialize)]
struct Owner {
    login: String,
}

#[derive(Deserialize)]
struct PullAnswer {
    number: u64,
    state: String,
    head: EndAnswer,
    base: EndAnswer,
}

#[derive(Deserialize)]
struct EndAnswer {
    sha: String,
    #[serde(rename = "ref")]
    branch: String,
    repo: Option<RepositoryAnswer>,
}

impl Run {
    /// Asks for a run.
    pub(super) fn of(client: &Client, id: u64) -> Result<Self, Failure> {
        let run: RunAnswer = client.get(&format!("actions/runs/{id}"))?;
        let unusable =
            |what: String| Failure { status: None, message: format!("run {id}: {what}") };
        let ours = client.repository().to_string();
        let theirs = run.repository.full_name.clone().unwrap_or_default();
        if run.id != id || !theirs.eq_ignore_ascii_case(&ours) {
            return Err(unusable(format!("it is of `{theirs}`, not of {ours}")));
        }
        Run::from_answer(run).map_err(unusable)
    }

    /// The run that an event tells of.
    pub(super) fn of_event(payload: &str) -> Result<Self> {
        let event: EventPayload = serde_json::from_str(payload).map_err(|error| {
            Error::usage(format!("no event of the kind `workflow_run`: {error}; give --run-id"))
        })?;
        Run::from_answer(event.workflow_run).map_err(Error::usage)
    }

    fn from_answer(run: RunAnswer) -> Result<Self, String> {
        let own = run.head_repository.as_ref().is_some_and(|head| head.id == run.repository.id);
        Ok(Run {
            id: run.id,
            attempt: run.run_attempt.unwrap_or(1),
            sha: run.head_sha.parse()?,
            // A repository that is gone was a fork.
            origin: if own { Origin::Own } else { Origin::Fork },
            url: run.html_url,
            event: run.event,
            conclusion: run.conclusion.unwrap_or_default(),
            status: run.status.unwrap_or_default(),
            path: run.path,
            head_branch: run.head_branch.unwrap_or_default(),
            head_owner: run
                .head_repository
                .as_ref()
                .and_then(|head| head.owner.as_ref())
                .map_or_else(String::new, |owner| owner.login.clone()),
            head_repository: run.head_repository.map(|head| head.id),
            repository: run.repository.id,
        })
    }

    /// Why nothing of the run is believed; `None` where it is the run of the expected workflow, and over.
    pub(super) fn objection(&self, workflow: &FilePath) -> Option<String> {
        // Workflows are subscribed to by name, and a fork can give that name to any file.
        let path = self.path.split('@').next().unwrap_or_default();
        if path != workflow.as_ref() {
            return Some(format!(
                "the run is of the workflow file `{path}`, and only `{workflow}` is believed; \
                 name the right one by --workflow if this is yours"
            ));
        }
        if !EVENTS.contains(&self.event.as_str()) {
            return Some(format!(
                "the run was started by `{}`, after which no measurement is believed; use `pull_request`",
                self.event
            ));
        }
        if self.status != "completed" {
            return Some(format!("the run is `{}`; publish it when it is completed", self.status));
        }
        None
    }

    /// The open pull requests that come from the branch that was measured. A fork's run names none, so they are looked
    /// for, and each has to have the right tip, come from the right repository and go to ours.
    pub(super) fn pulls(&self, client: &Client) -> Result<Vec<Pull>, Failure> {
        if self.event != "pull_request" {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        if !self.head_owner.is_empty() && !self.head_branch.is_empty() {
            let head = encode(&format!("{}:{}", self.head_owner, self.head_branch));
            found = client.list(&format!("pulls?state=open&head={head}"), None)?;
        }
        let mut pulls = self.ours(found);
        if pulls.iter().all(|pull| pull.tip == Tip::Moved) {
            // A branch that was renamed, or an owner.
            let found = client.list(&format!("commits/{}/pulls", self.sha), None)?;
            pulls.extend(self.ours(found).into_iter().filter(|pull| pull.tip == Tip::Measured));
        }
        pulls.sort_by_key(|pull| pull.number);
        pulls.dedup_by_key(|pull| pull.number);
        Ok(pulls)
    }

    fn ours(&self, found: Vec<PullAnswer>) -> Vec<Pull> {
        let id = |end: &EndAnswer| end.repo.as_ref().map(|repository| repository.id);
        found
            .into_iter()
            .filter(|pull| pull.state == "open" && id(&pull.base) == Some(self.repository))
            .filter(|pull| self.head_repository.is_some() && id(&pull.head) == self.head_repository)
            .filter_map(|pull| {
                let tip = match pull.head.sha == self.sha.as_ref() {
                    true => Tip::Measured,
                    false if pull.head.branch == self.head_branch => Tip::Moved,
                    false => return None,
                };
                Some(Pull { number: pull.number, base: pull.base.sha.parse().ok()?, tip })
            })
            .collect()
    }

    /// Where a report on it comes from.
    pub(super) fn provenance(&self) -> Provenance {
        Provenance {
            url: self.url.clone(),
            run: self.id,
            attempt: self.attempt,
            sha: self.sha.to_string(),
            origin: self.origin,
        }
    }

    /// Of two runs on one commit, the one with the larger age speaks.
    pub(super) fn age(&self) -> (u64, u64) {
        (self.id, self.attempt)
    }
}

/// The number of the run that an event tells of, as the file named by `GITHUB_EVENT_PATH` holds it.
///
/// # Errors
///
/// When it is of another kind.
pub fn run_of_event(payload: &str) -> Result<u64> {
    Run::of_event(payload).map(|run| run.id)
}
