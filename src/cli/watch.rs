//! `watch`: what got slower on the default branch.

use std::fs;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::error::{Context, Error, Result};
use crate::gate::Verdict;
use crate::history::{Action, Alert, Event, Findings, Settings, Status, Timeline, watch as look};
use crate::report::{series_svg, watch_json, watch_markdown, watch_terminal};
use crate::store::Limits;
use crate::store::evidence::EvidenceFile;
use crate::store::history::Kept;

use super::evidence::report_of;
use super::history::StoreArgs;
use super::{Output, output};

#[derive(Args, Debug)]
pub(super) struct WatchArgs {
    #[command(flatten)]
    store: StoreArgs,
    /// What is printed.
    #[arg(long, value_name = "FORMAT", default_value = "terminal")]
    format: Format,
    /// Folder for a picture of each series that moved.
    #[arg(long, value_name = "DIR")]
    svg: Option<PathBuf>,
    /// The last release: what crept in since is told too.
    #[arg(long, value_name = "COMMIT")]
    release: Option<String>,
    /// Say that an alert is known and stays. It is kept in the store.
    #[arg(long, value_name = "ALERT", requires = "reason")]
    acknowledge: Option<String>,
    /// Why it stays.
    #[arg(long, value_name = "WHY")]
    reason: Option<String>,
    /// Evidence of a `check` of a commit behind an alert against one before it: it confirms or refutes the alert.
    #[arg(long, value_name = "EVIDENCE")]
    confirm: Vec<PathBuf>,
    #[cfg(feature = "github")]
    #[command(flatten)]
    alerts: super::alerts::AlertArgs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// For people.
    Terminal,
    /// For an issue or a job's summary.
    Markdown,
    /// For machines.
    Json,
}

/// The exit code where an alert is open: somebody must act.
const OPEN: u8 = 10;

pub(super) fn watch(arguments: &WatchArgs, output: &Output) -> Result<u8> {
    let (store, mut kept) = arguments.store.read(output)?;
    let timeline = Timeline::of(&kept.entries);
    let release = arguments.release.as_ref().map(|wanted| {
        timeline.commits.iter().position(|commit| commit.id.starts_with(wanted)).ok_or_else(|| {
            Error::usage(format!("no run is of `{wanted}`; give a commit that history knows"))
        })
    });
    let settings = Settings { release: release.transpose()?, ..Settings::default() };
    let mut findings = look(&timeline, &kept.events, &settings);
    let events = said(arguments, &timeline, &findings, &kept)?;
    if !events.is_empty() {
        for event in &events {
            store.note(event)?;
        }
        kept.events.extend(events);
        findings = look(&timeline, &kept.events, &settings);
    }
    output::print(&match arguments.format {
        Format::Terminal => watch_terminal(&findings, &timeline, &output::screen(output)),
        Format::Markdown => watch_markdown(&findings, &timeline),
        Format::Json => watch_json(&findings, &timeline),
    })?;
    if let Some(folder) = &arguments.svg {
        draw(folder, &findings, &timeline).context(|| folder.display().to_string())?;
    }
    #[cfg(feature = "github")]
    if !arguments.alerts.tell(|| crate::report::alert_pages(&findings, &timeline))? {
        return Ok(1);
    }
    Ok(if findings.alerts.iter().any(Alert::is_open) { OPEN } else { 0 })
}

/// What the arguments say of the alerts.
fn said(
    arguments: &WatchArgs,
    timeline: &Timeline,
    findings: &Findings,
    kept: &Kept,
) -> Result<Vec<Event>> {
    let event = |alert: &Alert, benchmarks, action, reason| Event {
        class: alert.class.clone(),
        commits: timeline.commits[alert.range.0..=alert.range.1]
            .iter()
            .map(|commit| commit.id.clone())
            .collect(),
        benchmarks,
        action,
        reason,
    };
    let mut events = Vec::new();
    if let Some(id) = &arguments.acknowledge {
        let Some(alert) = findings.alerts.iter().find(|alert| alert.id == *id) else {
            let known: Vec<&str> = findings.alerts.iter().map(|alert| alert.id.as_str()).collect();
            return Err(Error::usage(format!(
                "there is no alert `{id}`; those that there are: `{}`",
                known.join("`, `")
            )));
        };
        let reason = arguments.reason.clone().unwrap_or_default();
        let benchmarks = alert
            .members
            .iter()
            .map(|member| timeline.series[member.track].key.id.to_string())
            .collect();
        events.push(event(alert, benchmarks, Action::Acknowledge, reason));
    }
    let place = |id: &str| timeline.commits.iter().position(|commit| commit.id == id);
    for path in &arguments.confirm {
        let file = EvidenceFile::read(path, &Limits::OWN)?;
        let report = report_of(&file).context(|| path.display().to_string())?;
        let sides = [&report.baseline, &report.candidate]
            .map(|side| side.revision.as_ref().and_then(|revision| place(&revision.id)));
        let [Some(before), Some(after)] = sides else {
            return Err(Error::usage(
                "its revisions are not both in the history; check a commit behind the alert against one before it",
            )
            .within(path.display().to_string()));
        };
        for alert in &findings.alerts {
            let spans = before < alert.range.0 && alert.range.1 <= after;
            if !spans || alert.status == Status::WentAway {
                continue;
            }
            for member in &alert.members {
                let key = &timeline.series[member.track].key;
                let row = report
                    .rows
                    .iter()
                    .find(|row| row.id == key.id && row.metric.name == key.metric);
                let Some(row) = row else { continue };
                let action = match row.verdict {
                    Verdict::Regression => Action::Confirm,
                    _ if row.cleared => Action::Refute,
                    _ => continue,
                };
                let percent = |ratio: f64| 100.0 * (ratio - 1.0);
                let interval = row.ci.map_or_else(String::new, |(low, high)| {
                    format!(" [{:+.1}, {:+.1}]", percent(low), percent(high))
                });
                let reason = format!(
                    "{:+.1} %{interval} in {} pairs ({}), where history has {:+.1} %",
                    percent(row.ratio.unwrap_or(f64::NAN)),
                    row.scores.pairs.len(),
                    row.experiment,
                    100.0 * member.change
                );
                events.push(event(alert, vec![key.id.to_string()], action, reason));
            }
        }
    }
    events.retain(|event| !kept.events.contains(event));
    Ok(events)
}

fn draw(folder: &std::path::Path, findings: &Findings, timeline: &Timeline) -> Result<()> {
    fs::create_dir_all(folder)?;
    let alerts = findings.alerts.iter().chain(&findings.faster);
    for alert in alerts.filter(|alert| alert.status != Status::WentAway) {
        for (number, member) in (1..).zip(&alert.members) {
            let picture = series_svg(&timeline.series[member.track], Some(alert.range));
            // An id may be a name that somebody chose.
            let safe: String = alert
                .id
                .chars()
                .map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' })
                .collect();
            fs::write(folder.join(format!("{safe}-{number}.svg")), picture)?;
        }
    }
    Ok(())
}
