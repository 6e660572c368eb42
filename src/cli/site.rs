//! `site`: the history of a project as pages for a web server.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use jiff::Timestamp;

use crate::error::{Context, Error, Result};
use crate::history::{Settings, Timeline, stretches, watch};
use crate::report::{self, Release, Site};
use crate::store::Limits;
use crate::store::baseline::{Baselines, FOLDER};

use super::accept::accepted_today;
use super::history::StoreArgs;
use super::{Output, output};

#[derive(Args, Debug)]
pub(super) struct SiteArgs {
    #[command(flatten)]
    store: StoreArgs,
    /// Folder for the pages: a new one, an empty one, or that of an earlier site, which is replaced.
    #[arg(long, value_name = "DIR", default_value = "site")]
    to: PathBuf,
    /// What the project is called; the name of this folder if absent.
    #[arg(long, value_name = "NAME")]
    project: Option<String>,
    /// Where the site will be found; the feed's links are relative if absent.
    #[arg(long, value_name = "URL", value_parser = address)]
    url: Option<String>,
}

fn address(text: &str) -> std::result::Result<String, String> {
    if text.starts_with("https://") || text.starts_with("http://") {
        Ok(format!("{}/", text.trim_end_matches('/')))
    } else {
        Err("it begins with neither `https://` nor `http://`".into())
    }
}

/// Marks a folder as one that may be replaced.
const MARK: &str = ".pacegate-site";

pub(super) fn site(arguments: &SiteArgs, output: &Output) -> Result<u8> {
    let (_, kept) = arguments.store.read(output)?;
    let timeline = Timeline::of(&kept.entries);
    let settings = Settings::default();
    let findings = watch(&timeline, &kept.events, &settings);
    let here = std::env::current_dir()?;
    let folder = here.file_name().map(|name| name.to_string_lossy().into_owned());
    let project = arguments.project.clone().or(folder).unwrap_or_else(|| "project".into());
    let time = |seconds| Some(Timestamp::from_second(seconds?).ok()?.to_string());
    let times: Vec<Option<String>> =
        timeline.commits.iter().map(|commit| time(commit.committed_s)).collect();
    let files = report::site(&Site {
        project: &project,
        timeline: &timeline,
        times: &times,
        findings: &findings,
        stretches: &stretches(&timeline, &settings),
        releases: &releases()?,
        accepted: &accepted_today()?,
        url: arguments.url.as_deref().unwrap_or_default(),
    });
    write(&arguments.to, &files).context(|| arguments.to.display().to_string())?;
    let benchmarks = files.keys().filter(|path| path.ends_with(".html")).count() - 1;
    output::say(&format!(
        "{} of {benchmarks} benchmarks: {}",
        arguments.to.join("index.html").display(),
        report::watch_headline(&findings, &timeline).answer
    ));
    Ok(0)
}

fn releases() -> Result<Vec<Release>> {
    let baselines = Baselines::at(FOLDER);
    let current = baselines.index()?;
    let mut releases = Vec::new();
    for place in baselines.places()? {
        let baseline = baselines.read(&place, &Limits::OWN)?;
        releases.push(Release {
            current: current.get(&place.class) == Some(&place.label),
            label: place.label.to_string(),
            class: place.class.to_string(),
            commit: baseline.header.revision.id,
            day: baseline.header.recorded.map(|time| time.strftime("%Y-%m-%d").to_string()),
            series: baseline.series.len(),
        });
    }
    Ok(releases)
}

/// Writes the pages, and removes those of benchmarks that an earlier site had and this one has not.
fn write(folder: &Path, files: &BTreeMap<String, String>) -> Result<()> {
    let pages = folder.join("benchmarks");
    let taken = folder.read_dir().is_ok_and(|mut entries| entries.next().is_some());
    if taken && !folder.join(MARK).exists() {
        return Err(Error::usage("it holds other files; name a folder of its own with --to"));
    }
    if pages.exists() {
        fs::remove_dir_all(&pages)?;
    }
    fs::create_dir_all(&pages)?;
    fs::write(folder.join(MARK), "")?;
    for (path, content) in files {
        fs::write(folder.join(path), content)?;
    }
    Ok(())
}
