//! The command line: clap types, and one short function per command.

mod accept;
#[cfg(feature = "github")]
mod alerts;
mod baseline;
mod bisect;
mod check;
mod compare;
mod convert;
mod doctor;
mod evidence;
mod history;
mod init;
mod output;
mod progress;
#[cfg(feature = "github")]
mod publish;
mod record;
mod selftest;
mod shard;
mod site;
mod watch;
mod what_if;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};

use crate::error::{Context, Result};

/// Runs the program with these arguments and returns its exit code.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        // clap prints help and version to stdout and complaints to stderr, and knows their exit codes (0 and 2).
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(error.exit_code() as u8);
        }
    };
    let output = cli.output.clone();
    let code = match cli.command {
        Command::Check(arguments) => check::check(&arguments, &output),
        Command::Run(arguments) => check::run(&arguments, &output),
        Command::Compare(arguments) => compare::compare(&arguments, &output),
        Command::Baseline { command } => baseline::baseline(&command, &output),
        Command::Accept(arguments) => accept::accept(&arguments, &output),
        Command::Convert(arguments) => convert::convert(&arguments, &output),
        Command::Explain(arguments) => evidence::explain(&arguments, &output),
        Command::Doctor(arguments) => doctor::doctor(&arguments, &output),
        Command::Selftest(arguments) => selftest::selftest(&arguments, &output),
        Command::Replay(arguments) => evidence::replay(&arguments, &output),
        Command::WhatIf(arguments) => what_if::what_if(&arguments, &output),
        Command::History { command } => history::history(&command, &output),
        Command::Watch(arguments) => watch::watch(&arguments, &output),
        Command::Site(arguments) => site::site(&arguments, &output),
        #[cfg(feature = "github")]
        Command::Publish(arguments) => publish::publish(&arguments, &output),
        Command::Bisect(arguments) => bisect::bisect(&arguments, &output),
        Command::Shard { command } => shard::shard(&command, &output),
        Command::Init(arguments) => init::init(&arguments, &output),
        Command::Schema { name } => schema(name),
        Command::Completions { shell } => {
            clap_complete::generate(shell, &mut command(), "pacegate", &mut std::io::stdout());
            Ok(0)
        }
        Command::Man { folder } => man(folder.as_deref()),
    };
    match code {
        Ok(code) => ExitCode::from(code),
        Err(error) => output::fail(&error, &output),
    }
}

/// The command line as a value: what is understood, for man pages, completions and the test of the documentation.
pub fn command() -> clap::Command {
    Cli::command()
}

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

const EXIT_CODES: &str = "\
Exit codes:
   0  pass: nothing is proven slower than its tolerance
   1  could not judge: a build, a bench or an input failed
   2  wrong usage or configuration
   3  nothing to compare: no baseline, no common benchmark, empty input
   4  not comparable: the machines differ
  10  the gate says no: a proven regression, or a benchmark that is gone
  11  inconclusive, where the policy says that fails";

/// Keeps a project's pace: goes red when a benchmark gets slower, and stays green when none does.
#[derive(Debug, Parser)]
#[command(name = "pacegate", version, styles = STYLES, after_help = EXIT_CODES, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    output: Output,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Build, launch, compare, report: the gate.
    Check(check::CheckArgs),
    /// Measure this tree alone and write the evidence.
    Run(check::RunArgs),
    /// Compare any two results of any harness that is known here.
    Compare(compare::CompareArgs),
    /// Write a result of any harness as evidence, or as Bencher Metric Format.
    Convert(convert::ConvertArgs),
    /// Stored baselines: what releases measured, by runner class.
    Baseline {
        #[command(subcommand)]
        command: baseline::BaselineCommand,
    },
    /// Agree to a slowdown, up to a ceiling and for a reason, in a file that is reviewed with the change.
    Accept(accept::AcceptArgs),
    /// Show one benchmark in depth: launches, pairs, looks, test, what would settle it.
    Explain(evidence::ExplainArgs),
    /// Tell whether this machine is fit to measure on: its settings, its noise, its fingerprint.
    Doctor(doctor::DoctorArgs),
    /// Prove on real or simulated evidence that the gate goes red when it should and stays green when it should.
    Selftest(selftest::SelftestArgs),
    /// Judge stored evidence again: the same verdict, byte for byte.
    Replay(evidence::ReplayArgs),
    /// Judge stored evidence by another policy: how many alarms it would have raised.
    WhatIf(what_if::WhatIfArgs),
    /// Keep runs of the default branch, and show them.
    History {
        /// What to do.
        #[command(subcommand)]
        command: history::HistoryCommand,
    },
    /// Tell what got slower on the default branch, since which commit, and whether it lasts.
    #[command(
        after_help = "Exit codes:\n   0  no alert is open\n   1  could not tell: a store or GitHub failed\n   3  the store holds no run\n  10  an alert is open: somebody must act"
    )]
    Watch(watch::WatchArgs),
    /// Write the history as a site: every series, alerts, releases, badges and a feed.
    Site(site::SiteArgs),
    /// Report on a run at GitHub: check run, comment, job summary. For a job with rights, after one without.
    #[cfg(feature = "github")]
    #[command(
        after_help = "Exit codes:\n   0  reported, whatever the verdict\n   1  could not report, or what the run left was refused\n   2  wrong usage"
    )]
    Publish(publish::PublishArgs),
    /// Find the commit that made a benchmark slower, by paired runs.
    Bisect(bisect::BisectArgs),
    /// Measure one suite on many machines.
    Shard {
        /// What to do.
        #[command(subcommand)]
        command: shard::ShardCommand,
    },
    /// Set a repository up: configuration, workflows, a folder for baselines; or audit its workflows.
    #[command(
        after_help = "Exit codes:\n   0  done, or nothing was found by --check\n   1  --check found something\n   3  no criterion bench, or no workflow"
    )]
    Init(init::InitArgs),
    /// Print the JSON schema of a file that pacegate reads or writes.
    Schema {
        /// Which file.
        name: SchemaName,
    },
    /// Print completions for a shell.
    Completions {
        /// Which shell.
        shell: clap_complete::Shell,
    },
    /// Print the man page, or write one for each command.
    Man {
        /// Folder for pacegate.1 and the pages of the commands; without one, pacegate.1 is printed.
        #[arg(value_name = "DIR")]
        folder: Option<PathBuf>,
    },
}

/// What every command prints, and where.
#[derive(Args, Clone, Debug)]
struct Output {
    /// Folder for verdict.json, report.md, report.html, junit.xml, comparisons.csv and evidence.jsonl.zst.
    #[arg(long, global = true, value_name = "DIR", default_value = "target/pacegate")]
    out: PathBuf,
    /// Policy and profiles.
    #[arg(long, global = true, value_name = "FILE", default_value = "pacegate.yaml")]
    config: PathBuf,
    /// When to colour.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: Color,
    /// Print the answer only.
    #[arg(long, short, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Print every row.
    #[arg(long, short, global = true)]
    verbose: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Color {
    /// On a terminal that understands it.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum SchemaName {
    /// verdict.json.
    Verdict,
    /// A line of evidence.jsonl.
    Evidence,
    /// pacegate.yaml.
    Config,
    /// A line of a stored baseline.
    Baseline,
    /// baselines/accepted.yaml.
    Accepted,
    /// A file for import, which anybody can write.
    Import,
    /// What `doctor --json` prints.
    Doctor,
    /// A line of a run in the history, or an event.
    History,
    /// What `watch --format json` prints.
    Watch,
    /// The plan of `shard plan`.
    Shards,
}

fn schema(name: SchemaName) -> Result<u8> {
    output::print(&match name {
        SchemaName::Verdict => crate::report::verdict_schema(),
        SchemaName::Evidence => crate::store::evidence::schema(),
        SchemaName::Config => crate::config::Config::schema(),
        SchemaName::Baseline => crate::store::baseline::schema(),
        SchemaName::Accepted => crate::store::accepted::schema(),
        SchemaName::Import => crate::ingest::import_schema(),
        SchemaName::Doctor => doctor::schema(),
        SchemaName::History => crate::store::history::schema(),
        SchemaName::Watch => crate::report::watch_schema(),
        SchemaName::Shards => crate::history::shard::schema(),
    })?;
    Ok(0)
}

fn man(folder: Option<&Path>) -> Result<u8> {
    if let Some(folder) = folder {
        fs::create_dir_all(folder)
            .and_then(|()| clap_mangen::generate_to(command(), folder))
            .context(|| format!("{}: no man pages", folder.display()))?;
        return Ok(0);
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(command().disable_help_subcommand(true))
        .render(&mut page)
        .context(|| "no man page".to_owned())?;
    output::print(&String::from_utf8_lossy(&page))?;
    Ok(0)
}
