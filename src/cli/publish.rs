//! `publish`: reports on a run at GitHub, from a job that has the rights to.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::error::{Context, Error, ErrorKind, Result};
use crate::github::{
    Access, Client, Comments, FilePath, Order, SystemClock, Title, Token, Trust, publish as report,
    rehearse, run_of_event,
};
use crate::report::{Page, log_line, undone};
use crate::store::Limits;
use crate::store::evidence::EvidenceFile;

use super::accept::today;
use super::{Output, output};

#[derive(Args, Debug)]
pub(super) struct PublishArgs {
    /// The run that measured; that of the event `workflow_run` if absent.
    #[arg(long, value_name = "N")]
    run_id: Option<u64>,
    /// The one workflow file whose runs are believed.
    #[arg(long, value_name = "PATH", default_value = ".github/workflows/bench.yml")]
    workflow: FilePath,
    /// When a comment is written; one that is there is always brought up to date.
    #[arg(long, value_name = "WHEN", default_value = "always")]
    comment: When,
    /// What the check is called.
    #[arg(long, value_name = "NAME", default_value = "pacegate")]
    name: Title,
    /// When to give up, waiting for GitHub's limits included.
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    deadline: u64,
    #[command(flatten)]
    login: Login,
    /// Print what would be shown, and ask GitHub nothing.
    #[arg(long, requires = "event")]
    dry_run: bool,
    /// The event, as GitHub writes it; the file named by GITHUB_EVENT_PATH if absent.
    #[arg(long, value_name = "FILE")]
    event: Option<PathBuf>,
    /// The evidence of the run; with --dry-run and none, a run that left none.
    #[arg(long, value_name = "FILE", requires = "dry_run")]
    evidence: Option<PathBuf>,
}

/// As whom, and where.
#[derive(Args, Clone, Debug)]
pub(super) struct Login {
    /// File that holds the token; GITHUB_TOKEN if absent.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum When {
    /// After every run.
    Always,
    /// When a benchmark changed or something needs doing.
    OnChange,
    /// When the check fails.
    OnFail,
}

/// Everything ends here, also errors: none of them is a verdict, so no verdict file is written.
pub(super) fn publish(arguments: &PublishArgs, output: &Output) -> Result<u8> {
    let done = match arguments.dry_run {
        true => dry_run(arguments, output),
        false => for_real(arguments, output),
    };
    Ok(done.unwrap_or_else(|error| {
        let why = error.to_string();
        complain(&why);
        // Where nothing can be said on the commit, the job says it.
        if !arguments.dry_run
            && let Err(second) = summarise(&undone(&[why]))
        {
            complain(&second.to_string());
        }
        if error.kind() == ErrorKind::Usage { 2 } else { 1 }
    }))
}

fn order(arguments: &PublishArgs, output: &Output, run: u64) -> Result<Order> {
    let config = output.config.to_str().unwrap_or_default();
    Ok(Order {
        run,
        workflow: arguments.workflow.clone(),
        config: config.parse().map_err(Error::usage)?,
        name: arguments.name.clone(),
        comments: match arguments.comment {
            When::Always => Comments::Always,
            When::OnChange => Comments::OnChange,
            When::OnFail => Comments::OnFail,
        },
        today: Some(today()),
    })
}

fn for_real(arguments: &PublishArgs, output: &Output) -> Result<u8> {
    let run = match arguments.run_id {
        Some(run) => run,
        None => run_of_event(&event(arguments)?)?,
    };
    let client = arguments.login.client(Duration::from_secs(arguments.deadline))?;
    let published = report(&client, &order(arguments, output, run)?)?;
    for line in &published.done {
        output::print(&format!("pacegate: {}\n", log_line(line)))?;
    }
    for line in &published.undone {
        complain(line);
    }
    summarise(&(published.page.summary.clone() + &undone(&published.undone)))?;
    let refused = published.trust == Trust::Refused;
    if refused {
        complain(&published.page.title);
    }
    Ok(u8::from(refused || !published.is_complete()))
}

fn dry_run(arguments: &PublishArgs, output: &Output) -> Result<u8> {
    let evidence =
        arguments.evidence.as_ref().map(|path| EvidenceFile::read(path, &Limits::UNTRUSTED));
    let policy = output.config.exists().then(|| fs::read_to_string(&output.config)).transpose()?;
    // The file is read from the disk, so where it lies in a repository is of no consequence.
    let named = Output { config: "pacegate.yaml".into(), ..output.clone() };
    let order = order(arguments, &named, 0)?;
    let Page { conclusion, title, comment, check, summary, status, .. } =
        rehearse(&event(arguments)?, evidence.transpose()?, policy, &order)?;
    let mut page = format!(
        "conclusion: {}\ntitle: {title}\nstatus: {status}\n\n--- comment ---\n{comment}",
        conclusion.name()
    );
    for (name, text) in [("check run", check), ("job summary", summary)] {
        if text == comment {
            page.push_str(&format!("\n--- {name}: the same ---\n"));
        } else {
            page.push_str(&format!("\n--- {name} ---\n{text}"));
        }
    }
    output::print(&page)?;
    Ok(0)
}

fn event(arguments: &PublishArgs) -> Result<String> {
    let variable = || std::env::var_os("GITHUB_EVENT_PATH").map(PathBuf::from);
    let path = arguments.event.clone().or_else(variable).ok_or_else(|| {
        Error::usage("no run is named: give --run-id, or run in a job of `workflow_run`")
    })?;
    fs::read_to_string(&path).context(|| path.display().to_string())
}

impl Login {
    /// A client for the repository that the environment names.
    pub(super) fn client(&self, deadline: Duration) -> Result<Client> {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let needed = |name: &str| {
            variable(name).ok_or_else(|| {
                Error::usage(format!(
                    "{name} is not set; GitHub sets it in a job, elsewhere set it by hand"
                ))
            })
        };
        let api = variable("GITHUB_API_URL").unwrap_or_else(|| "https://api.github.com".into());
        let repository = needed("GITHUB_REPOSITORY")?.parse().map_err(Error::usage)?;
        let token = match (&self.token_file, app_token(&api, &repository)) {
            (Some(path), _) => {
                Token::new(&fs::read_to_string(path).context(|| path.display().to_string())?)?
            }
            (None, Some(token)) => token?,
            (None, None) => Token::new(&needed("GITHUB_TOKEN")?)?,
        };
        let access = Access {
            api,
            token,
            repository,
            connect: Duration::from_secs(10),
            answer: Duration::from_secs(30),
            deadline,
        };
        Client::new(access, Box::new(SystemClock::default()))
    }
}

/// The token of a GitHub App's installation, where the environment holds the App's id and key.
#[cfg(feature = "app-auth")]
fn app_token(api: &str, repository: &crate::github::Repository) -> Option<Result<Token>> {
    let id = std::env::var("PACEGATE_APP_ID").ok()?;
    let key = std::env::var("PACEGATE_APP_KEY").ok()?;
    Some(crate::github::app_token(api, repository, &id, &key))
}

#[cfg(not(feature = "app-auth"))]
fn app_token(_: &str, _: &crate::github::Repository) -> Option<Result<Token>> {
    None
}

/// Says what went wrong, as one line that can't be taken for a command, and in a job as an annotation too.
pub(super) fn complain(why: &str) {
    let line = log_line(why);
    output::say(&format!("pacegate: {line}"));
    if std::env::var("GITHUB_ACTIONS").is_ok_and(|value| value == "true") {
        output::say(&format!("::error title=pacegate::{}", line.replace('%', "%25")));
    }
}

/// Adds the page to the summary of the job, where there is one.
fn summarise(text: &str) -> Result<()> {
    let Some(path) = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty()) else {
        return Ok(());
    };
    let path = PathBuf::from(path);
    OpenOptions::new()
        .create(true)
        .append(true)
        .open(&path)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .context(|| path.display().to_string())
}
