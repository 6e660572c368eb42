//! `init`: sets a repository up for the gate, and audits the workflows of one that is set up.

mod audit;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::error::{Context, Error, ErrorKind, Result};
use crate::git;
use crate::measure::build::default_branch;
use crate::measure::discover::{Target, targets};

use super::{Output, output};

use audit::audit;

/// Where GitHub looks for workflows.
const WORKFLOWS: &str = ".github/workflows";

#[derive(Args, Debug)]
pub(super) struct InitArgs {
    /// Write nothing: audit the workflows and the action that are there, and name file and line of whatever lets a
    /// change past the gate or a stranger in.
    #[arg(long, conflicts_with_all = ["force", "dry_run"])]
    check: bool,
    /// Overwrite files that differ from what would be written.
    #[arg(long)]
    force: bool,
    /// Tell what would be written, and write nothing.
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn init(arguments: &InitArgs, output: &Output) -> Result<u8> {
    if arguments.check { check() } else { set_up(arguments, output) }
}

fn check() -> Result<u8> {
    let mut files = workflows().context(|| WORKFLOWS.to_owned())?;
    files.extend(
        ["action.yml", "action.yaml"].map(PathBuf::from).into_iter().filter(|path| path.is_file()),
    );
    if files.is_empty() {
        return Err(Error::new(
            ErrorKind::NothingToCompare,
            format!("{WORKFLOWS}: no workflow is here; `pacegate init` writes some"),
        ));
    }
    let mut found = Vec::new();
    for path in &files {
        let name = path.display().to_string();
        let text = fs::read_to_string(path).context(|| name.clone())?;
        found.extend(audit(&name, &text));
    }
    let mut text: String = found.iter().map(|finding| format!("{finding}\n")).collect();
    let _ = writeln!(text, "{} files, {} findings", files.len(), found.len());
    output::print(&text)?;
    Ok(u8::from(!found.is_empty()))
}

/// The workflows that are here, sorted.
fn workflows() -> std::io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(WORKFLOWS) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut paths = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .filter(|path| {
            path.as_ref().map_or(true, |path| {
                path.extension().is_some_and(|end| end == "yml" || end == "yaml")
            })
        })
        .collect::<std::io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

fn set_up(arguments: &InitArgs, output: &Output) -> Result<u8> {
    let here = Path::new(".");
    let branch = branch(here)?;
    let found = targets(here)?;
    if !found.iter().any(|target| target.criterion) {
        return Err(Error::new(
            ErrorKind::NothingToCompare,
            "no criterion bench was found; give the project a bench target with `harness = false` that uses \
             criterion, or judge results of another harness by `pacegate check --from`",
        ));
    }
    let filled = |template: &str| {
        template
            .replace("{VERSION}", env!("CARGO_PKG_VERSION"))
            .replace("{BRANCH}", &branch)
            .replace("{BUILD}", &build(&found))
    };
    let files = [
        ("pacegate.yaml", include_str!("init/pacegate.yaml")),
        (".github/workflows/bench.yml", include_str!("init/bench.yml")),
        (".github/workflows/report.yml", include_str!("init/report.yml")),
        ("baselines/README.md", include_str!("init/baselines.md")),
    ]
    .map(|(name, template)| (name, filled(template)));
    let mut text = benches(&found);
    for (name, wanted) in &files {
        let what = settle(Path::new(name), wanted, arguments).context(|| (*name).to_owned())?;
        let _ = writeln!(text, "  {what}");
    }
    if !output.quiet {
        text += NEXT;
    }
    output::print(&text)?;
    Ok(0)
}

const NEXT: &str = "
Next
  1. Commit these files and open a pull request with them: Bench measures it, and its exit code is the verdict.
  2. Merge it. From then on Report puts the verdict on every pull request, also on those of forks.
  3. Require the check `benchmarks` in a ruleset of the default branch; docs/github.md of pacegate has the strict way.
  4. For a runner of your own, set the repository variable BENCH_RUNNER to its label; `pacegate doctor` says whether it is fit.
  `pacegate init --check` audits the workflows whenever they change.
";

/// The default branch of the repository whose top is here.
fn branch(here: &Path) -> Result<String> {
    let git = |arguments: &[&str]| {
        let output = git::command(here).args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim_end().to_owned())
    };
    match git(&["rev-parse", "--show-prefix"]).as_deref() {
        Some("") => {}
        Some(prefix) => {
            return Err(Error::usage(format!(
                "{prefix} is a folder inside of the repository, and workflows stand at its top; go there first"
            )));
        }
        None => return Err(Error::usage("no git repository is here; make one by `git init`")),
    }
    let named = default_branch(here).or_else(|| git(&["symbolic-ref", "--quiet", "HEAD"]));
    let name = named.as_deref().and_then(|name| {
        name.strip_prefix("refs/remotes/origin/").or_else(|| name.strip_prefix("refs/heads/"))
    });
    let name = name.ok_or_else(|| {
        Error::usage(
            "no default branch was found; switch to the branch that changes are merged into",
        )
    })?;
    // It is written into YAML, between quotes.
    let plain = |letter: char| letter.is_alphanumeric() || "-_./+@".contains(letter);
    if !name.chars().all(plain) {
        return Err(Error::usage(format!(
            "the branch `{name}` has a name that workflows would misread; switch to one of letters, digits and -_./"
        )));
    }
    Ok(name.to_owned())
}

/// What `pacegate.yaml` says of the build: nothing where every bench target is criterion's.
fn build(found: &[Target]) -> String {
    if found.iter().all(|target| target.criterion) {
        return String::new();
    }
    let ours = found.iter().filter(|target| target.criterion);
    let names: Vec<String> = ours.map(|target| format!("{:?}", target.name)).collect();
    format!(
        "\n# The bench targets that use criterion.\nbuild:\n  benches: [{}]\n",
        names.join(", ")
    )
}

fn benches(found: &[Target]) -> String {
    let mut text = String::from("bench targets\n");
    for Target { package, name, criterion } in found {
        let what = if *criterion {
            "criterion"
        } else {
            "left out: its source does not speak of criterion"
        };
        let _ = writeln!(text, "  {package}::{name}  {what}");
    }
    text + "files\n"
}

/// Brings a file to what is wanted, unless it is there and differs; tells what was done.
fn settle(path: &Path, wanted: &str, arguments: &InitArgs) -> Result<String> {
    let shown = path.display();
    let (done, todo) = match fs::read(path) {
        Ok(there) if there == wanted.as_bytes() => return Ok(format!("unchanged  {shown}")),
        Ok(there) if !arguments.force => {
            return Ok(format!(
                "kept       {shown}: {}; --force overwrites it",
                difference(&there, wanted)
            ));
        }
        Ok(_) => ("replaced", "would replace"),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => ("written", "would write"),
        Err(error) => return Err(error.into()),
    };
    if arguments.dry_run {
        return Ok(format!("{todo} {shown}"));
    }
    fs::create_dir_all(path.parent().expect("every file is named with its folder"))?;
    fs::write(path, wanted)?;
    Ok(format!("{done:10} {shown}"))
}

/// Where a file first differs from what is wanted.
fn difference(there: &[u8], wanted: &str) -> String {
    let there = String::from_utf8_lossy(there);
    let same = there.lines().zip(wanted.lines()).take_while(|(a, b)| a == b).count();
    let side = |text: &str| {
        text.lines().nth(same).map_or("its end".to_owned(), |line| format!("`{}`", line.trim()))
    };
    format!("it differs from line {} on, {} instead of {}", same + 1, side(&there), side(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_benches_of_criterion_are_built_where_there_are_others() {
        let target =
            |name: &str, criterion| Target { package: "p".into(), name: name.into(), criterion };
        assert_eq!(build(&[target("a", true)]), "");
        assert!(build(&[target("a", true), target("b", false)]).contains("benches: [\"a\"]"));
    }

    #[test]
    fn a_difference_is_told_by_its_first_line() {
        let said = difference(b"a\nb\nc\n", "a\nx\n");
        assert_eq!(said, "it differs from line 2 on, `b` instead of `x`");
        assert!(difference(b"a\n", "a\nb\n").contains("its end instead of `b`"));
    }
}
