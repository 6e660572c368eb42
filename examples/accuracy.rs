//! Measures pairs whose true ratio is known, by every experiment, and tells how wide they scatter, how far off they are and
//! how often the interval holds the truth.
//!
//! ```text
//! cargo run --release --example accuracy                      some three minutes: two workloads, A/A and +5 %
//! scripts/accuracy                                            half an hour: everything
//! cargo run --release --example accuracy -- --from FILE       the tables again, from pairs that were measured before
//! ```
//!
//! Both arms are the executable of the `accuracy` bench; only `PACEGATE_WORK` differs. A cell is one workload, true ratio and
//! experiment. The cells go through the gate's own session: calibrated once, then in rounds of one pair of every
//! cell in drawn order, one worker per CPU, so that all cells share whatever the machine goes through.
//! The second session has a busy loop beside it on each CPU.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "an example talks to its reader")]

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use clap::Parser;
use pacegate::compare::pair_score;
use pacegate::measure::discover::{Contents, Executable, contents, executables};
use pacegate::measure::launch::LaunchSettings;
use pacegate::measure::session::{Benchmark, Plan, Progress, session};
use pacegate::measure::{Interrupt, Watch, cpu};
use pacegate::model::{Experiment, Sample};
use pacegate::stats::summary::{mad, mean, median, variance};
use pacegate::stats::{Statistic, paired};
use serde::{Deserialize, Serialize};
use statrs::distribution::{Beta, ContinuousCDF};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

#[derive(Parser)]
struct Arguments {
    /// Measure all workloads and true ratios, for half an hour.
    #[arg(long)]
    long: bool,
    /// Seed of everything that is drawn.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Where the pairs are kept; `target/accuracy/short.jsonl.zst` or `long.jsonl.zst` if absent.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Measure nothing and read these pairs.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["long", "out"])]
    from: Option<PathBuf>,
    /// Keep this CPU busy until standard input ends; how the program starts itself.
    #[arg(long, value_name = "CPU", hide = true)]
    busy_loop: Option<usize>,
}

/// Units of work of the baseline.
const WORK: u32 = 100;
/// Units of work of the candidate, in percent of the baseline's.
const WORKS: [u32; 5] = [WORK, 101, 102, 105, 110];
/// Those of which most is measured: a pass and a regression.
const MAIN_WORKS: [u32; 2] = [WORK, 105];
/// Two workloads of different kinds, for every day.
const SHORT_WORKLOADS: [&str; 2] = ["json/parse", "mem/copy256k"];
/// Pairs in one interval.
const BLOCK: usize = 10;
const CONFIDENCE: f64 = 0.95;
/// From the median absolute deviation to the standard deviation, where the noise is normal.
const MAD_TO_SD: f64 = 1.482_602_218_505_602;

const EXPERIMENTS: [Experiment; 3] =
    [Experiment::Corun, Experiment::Turnstile, Experiment::Interleaved];

/// What else runs on the CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Machine {
    Quiet,
    Busy,
}

/// What is measured again and again.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Cell {
    machine: Machine,
    workload: String,
    experiment: Experiment,
    /// Units of work of the candidate.
    work: u32,
}

/// A line of the file of pairs.
#[derive(Serialize, Deserialize)]
struct Row {
    #[serde(flatten)]
    cell: Cell,
    round: usize,
    /// When it was begun, seconds from the start of its session.
    started_s: f64,
    baseline: Sample,
    candidate: Sample,
}

/// What a pair comes down to.
#[derive(Clone, Copy, Debug)]
struct Pair {
    /// ln(candidate / baseline), as the gate scores it.
    score: f64,
    counts: Counts,
}

/// Whether both arms ran the same iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counts {
    Equal,
    Different,
}

/// Pairs of each cell, in the order of rounds.
type Cells = BTreeMap<Cell, Vec<Pair>>;

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    if let Some(cpu) = arguments.busy_loop {
        return keep_busy(cpu);
    }
    let path = match (arguments.from, arguments.out) {
        (Some(path), _) => path,
        (None, out) => {
            let form = if arguments.long { Form::long } else { Form::short };
            let name = if arguments.long { "long" } else { "short" };
            let path = out.unwrap_or_else(|| format!("target/accuracy/{name}.jsonl.zst").into());
            measure_all(form, arguments.seed, &path)?;
            path
        }
    };
    print!("{}", tables(&read(&path)?));
    println!("pairs: {}", path.display());
    Ok(())
}

/// How much is measured.
struct Form {
    workloads: Vec<String>,
    works: &'static [u32],
    /// Pairs of a cell.
    pairs: fn(&Cell) -> usize,
}

impl Form {
    fn short(_: Vec<String>) -> Self {
        Form {
            workloads: SHORT_WORKLOADS.map(str::to_owned).to_vec(),
            works: &MAIN_WORKS,
            pairs: |cell| if cell.experiment == Experiment::Corun { 2 * BLOCK } else { BLOCK },
        }
    }

    /// Most goes to the experiment that the gate prefers; the small changes and the largest are there to show a bias, which
    /// all workloads show together.
    fn long(workloads: Vec<String>) -> Self {
        let pairs = |cell: &Cell| match (MAIN_WORKS.contains(&cell.work), cell.experiment) {
            (true, Experiment::Corun) => 2 * BLOCK,
            (true, _) => BLOCK,
            (false, _) => 4,
        };
        Form { workloads, works: &WORKS, pairs }
    }

    fn cells(&self, machine: Machine) -> Vec<Cell> {
        let mut cells = Vec::new();
        for workload in &self.workloads {
            for &work in self.works {
                cells.extend(EXPERIMENTS.map(|experiment| Cell {
                    machine,
                    workload: workload.clone(),
                    experiment,
                    work,
                }));
            }
        }
        cells
    }
}

/// Measures on a quiet machine and then on a busy one, and writes the pairs.
fn measure_all(form: fn(Vec<String>) -> Form, seed: u64, path: &Path) -> Result<()> {
    let watch = Watch { interrupt: Interrupt::on_signals()?, ..Watch::default() };
    let executable = build()?;
    let form = match contents(&executable, &watch)? {
        Contents::Criterion(workloads) => form(workloads),
        Contents::Foreign(why) => return Err(format!("the accuracy bench: {why}").into()),
    };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut out = zstd::Encoder::new(BufWriter::new(File::create(path)?), 3)?;
    for machine in [Machine::Quiet, Machine::Busy] {
        let cpus = cpu::usable();
        let busy: Vec<BusyLoop> = match machine {
            Machine::Quiet => Vec::new(),
            Machine::Busy => cpus.iter().map(|&cpu| BusyLoop::start(cpu)).collect::<Result<_>>()?,
        };
        let rows = measure_cells(&form, machine, &executable, cpus, seed, &watch)?;
        drop(busy);
        for row in rows {
            serde_json::to_writer(&mut out, &row)?;
            out.write_all(b"\n")?;
        }
        if watch.interrupt.is_raised() {
            break;
        }
    }
    out.finish()?.flush()?;
    Ok(())
}

fn measure_cells(
    form: &Form,
    machine: Machine,
    executable: &Executable,
    cpus: Vec<usize>,
    seed: u64,
    watch: &Watch,
) -> Result<Vec<Row>> {
    let cells = form.cells(machine);
    let arm = |work: u32| Executable {
        variables: vec![("PACEGATE_WORK".to_owned(), work.to_string())],
        ..executable.clone()
    };
    let benchmarks: Vec<Benchmark> = cells
        .iter()
        .map(|cell| Benchmark {
            id: cell.workload.clone(),
            arms: vec![arm(WORK), arm(cell.work)],
            experiment: Some(cell.experiment),
        })
        .collect();
    let pairs: Vec<usize> = cells.iter().map(form.pairs).collect();
    let looks: BTreeSet<usize> = pairs.iter().copied().collect();
    let plan = Plan {
        settings: LaunchSettings { sample_size: 40, ..LaunchSettings::default() },
        looks: looks.iter().copied().collect(),
        cpus,
        seed,
        budget: None,
    };
    let progress = |now: Progress| {
        if now.done == now.planned || now.done.is_multiple_of(50) {
            let Progress { stage, done, planned, elapsed } = now;
            eprintln!("{machine:?} {stage:?}: {done} of {planned}, {} s", elapsed.as_secs());
        }
    };
    let mut taken = looks.iter();
    let measured = session(&benchmarks, &plan, watch, &progress, &mut |_| {
        let taken = taken.next().expect("decided once a look");
        (0..cells.len()).filter(|&place| *taken < pairs[place]).collect()
    })?;
    let mut rows = Vec::new();
    for (cell, series) in cells.into_iter().zip(measured.series) {
        if let Some(failed) = series.failed {
            eprintln!("{cell:?} failed: {}", failed.failed);
        }
        for pair in series.pairs {
            let [baseline, candidate] = pair.launches.as_slice() else {
                return Err("a pair has two launches".into());
            };
            rows.push(Row {
                cell: cell.clone(),
                round: pair.round,
                started_s: pair.started.as_secs_f64(),
                baseline: baseline.sample.clone(),
                candidate: candidate.sample.clone(),
            });
        }
    }
    Ok(rows)
}

/// Builds the bench, or finds it built.
fn build() -> Result<Executable> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["bench", "--no-run", "--bench", "accuracy"])
        .arg("--message-format=json-render-diagnostics")
        .stderr(Stdio::inherit())
        .output()?;
    let messages = String::from_utf8(output.stdout)?;
    executables(&messages).pop().ok_or_else(|| "cargo built no accuracy bench".into())
}

/// A child process that keeps one CPU busy until it is dropped, or its parent is gone.
struct BusyLoop(Child);

impl BusyLoop {
    fn start(cpu: usize) -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["--busy-loop", &cpu.to_string()]).stdin(Stdio::piped());
        Ok(BusyLoop(command.spawn()?))
    }
}

impl Drop for BusyLoop {
    fn drop(&mut self) {
        // It can only have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn keep_busy(cpu: usize) -> Result<()> {
    cpu::pin(&[cpu])?;
    std::thread::spawn(|| {
        loop {
            std::hint::spin_loop();
        }
    });
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

fn read(path: &Path) -> Result<Cells> {
    let mut cells = Cells::new();
    for line in BufReader::new(zstd::Decoder::new(File::open(path)?)?).lines() {
        let Row { cell, baseline, candidate, .. } = serde_json::from_str(&line?)?;
        let score = pair_score(cell.experiment, &baseline, &candidate, Statistic::default());
        let counts =
            if baseline.iters() == candidate.iters() { Counts::Equal } else { Counts::Different };
        cells.entry(cell).or_default().push(Pair { score, counts });
    }
    Ok(cells)
}

/// All tables, as Markdown.
fn tables(cells: &Cells) -> String {
    [Machine::Quiet, Machine::Busy].map(|machine| table(cells, machine)).concat()
}

/// The spread and bias of each workload, then the coverage, of one machine; nothing without pairs.
fn table(cells: &Cells, machine: Machine) -> String {
    let cells: Vec<(&Cell, &[Pair])> = cells
        .iter()
        .filter(|(cell, _)| cell.machine == machine)
        .map(|(cell, pairs)| (cell, pairs.as_slice()))
        .collect();
    if cells.is_empty() {
        return String::new();
    }
    let works: BTreeSet<u32> = cells.iter().map(|(cell, _)| cell.work).collect();
    let workloads: BTreeSet<&str> = cells.iter().map(|(cell, _)| cell.workload.as_str()).collect();
    let title = match machine {
        Machine::Quiet => "Quiet machine",
        Machine::Busy => "A busy loop on the same CPU",
    };
    let heads = works.iter().map(|work| match work - WORK {
        0 => "A/A".to_owned(),
        more => format!("+{more} %"),
    });
    let heads: Vec<String> = ["workload", "experiment", "pairs", "sd", "robust sd"]
        .map(str::to_owned)
        .into_iter()
        .chain(heads)
        .collect();
    let mut text = format!("\n## {title}\n\n");
    text += "Percent of one pair's ratio; below a true ratio the bias with its standard error.\n\n";
    text += &line(&heads);
    text += &line(&heads.iter().map(|_| "---:".to_owned()).collect::<Vec<_>>());
    let mut covered = line(&[
        "experiment",
        "intervals",
        "hold the truth",
        "95 % interval of that",
        "equal counts",
    ]);
    covered += &line(&["---:"; 5]);
    for experiment in EXPERIMENTS {
        let of = |cell: &Cell| cell.experiment == experiment;
        let all: Vec<_> = cells.iter().copied().filter(|(cell, _)| of(cell)).collect();
        if all.is_empty() {
            continue;
        }
        let of_workload = |workload: &str| {
            let cells = all.iter().copied().filter(|(cell, _)| cell.workload == workload);
            Accuracy::of(&cells.collect::<Vec<_>>(), &works)
        };
        let each: Vec<Accuracy> = workloads.iter().map(|workload| of_workload(workload)).collect();
        for (workload, accuracy) in workloads.iter().zip(&each) {
            text += &accuracy.line(workload, experiment);
        }
        text += &Accuracy::median(&each).line("**median**", experiment);
        text += &Accuracy::mean(&each).line("**mean**", experiment);
        covered += &Coverage::of(&all).line(experiment);
    }
    text += &format!("\nIntervals of {BLOCK} pairs, {CONFIDENCE}, no prior:\n\n{covered}");
    text
}

fn line<T: AsRef<str>>(fields: &[T]) -> String {
    let fields: Vec<&str> = fields.iter().map(AsRef::as_ref).collect();
    format!("| {} |\n", fields.join(" | "))
}

/// How well one workload was measured by one experiment; all logarithms.
struct Accuracy {
    pairs: usize,
    /// Standard deviation of a pair's error, all true ratios together.
    sd: f64,
    /// The same from the median absolute deviation.
    robust: f64,
    /// Of each true ratio.
    bias: Vec<Bias>,
}

/// Mean error of the pairs of one true ratio.
#[derive(Clone, Copy)]
struct Bias {
    mean: f64,
    /// Standard error; NaN where it has none.
    error: f64,
}

impl Accuracy {
    fn of(cells: &[(&Cell, &[Pair])], works: &BTreeSet<u32>) -> Self {
        let errors = |work: Option<u32>| -> Vec<f64> {
            let cells = cells.iter().filter(|(cell, _)| work.is_none_or(|work| work == cell.work));
            cells.flat_map(|(cell, pairs)| pairs.iter().map(|p| p.score - truth(cell))).collect()
        };
        let all = errors(None);
        let bias = |&work: &u32| {
            let errors = errors(Some(work));
            Bias { mean: mean(&errors), error: (variance(&errors) / errors.len() as f64).sqrt() }
        };
        Accuracy {
            pairs: all.len(),
            sd: variance(&all).sqrt(),
            robust: MAD_TO_SD * mad(&all),
            bias: works.iter().map(bias).collect(),
        }
    }

    /// The median of each number over workloads.
    fn median(each: &[Accuracy]) -> Self {
        Accuracy::over(each, median, |_| f64::NAN)
    }

    /// The mean of each number over workloads.
    fn mean(each: &[Accuracy]) -> Self {
        let of_mean = |errors: &[f64]| {
            errors.iter().map(|error| error * error).sum::<f64>().sqrt() / errors.len() as f64
        };
        Accuracy::over(each, mean, of_mean)
    }

    fn over(each: &[Accuracy], center: fn(&[f64]) -> f64, error: fn(&[f64]) -> f64) -> Self {
        // A cell that failed has no numbers.
        let all = |of: &dyn Fn(&Accuracy) -> f64| -> Vec<f64> {
            each.iter().map(of).filter(|number| number.is_finite()).collect()
        };
        let works = each.iter().map(|accuracy| accuracy.bias.len()).min().unwrap_or(0);
        let bias = |place: usize| Bias {
            mean: center(&all(&|accuracy| accuracy.bias[place].mean)),
            error: error(&all(&|accuracy| accuracy.bias[place].error)),
        };
        Accuracy {
            pairs: each.iter().map(|accuracy| accuracy.pairs).sum(),
            sd: center(&all(&|accuracy| accuracy.sd)),
            robust: center(&all(&|accuracy| accuracy.robust)),
            bias: (0..works).map(bias).collect(),
        }
    }

    fn line(&self, workload: &str, experiment: Experiment) -> String {
        let mut fields = vec![
            workload.to_owned(),
            experiment.to_string(),
            self.pairs.to_string(),
            format!("{:.2}", 100.0 * self.sd),
            format!("{:.2}", 100.0 * self.robust),
        ];
        fields.extend(self.bias.iter().map(|&Bias { mean, error }| {
            let error =
                if error.is_nan() { String::new() } else { format!(" ± {:.2}", 100.0 * error) };
            format!("{:+.2}{error}", 100.0 * mean)
        }));
        line(&fields)
    }
}

/// The logarithm of the true ratio.
fn truth(cell: &Cell) -> f64 {
    (f64::from(cell.work) / f64::from(WORK)).ln()
}

/// How often the interval of ten pairs of a cell, in a row, holds the truth.
#[derive(Debug, PartialEq)]
struct Coverage {
    intervals: u64,
    held: u64,
    pairs: usize,
    equal_counts: usize,
}

impl Coverage {
    fn of(cells: &[(&Cell, &[Pair])]) -> Self {
        let mut coverage = Coverage { intervals: 0, held: 0, pairs: 0, equal_counts: 0 };
        for (cell, pairs) in cells {
            coverage.pairs += pairs.len();
            coverage.equal_counts += pairs.iter().filter(|p| p.counts == Counts::Equal).count();
            for block in pairs.chunks_exact(BLOCK) {
                let scores: Vec<f64> = block.iter().map(|pair| pair.score).collect();
                let held = paired(&scores, None).is_some_and(|estimate| {
                    let (low, high) = estimate.interval(CONFIDENCE);
                    (low..=high).contains(&truth(cell))
                });
                coverage.intervals += 1;
                coverage.held += u64::from(held);
            }
        }
        coverage
    }

    fn line(&self, experiment: Experiment) -> String {
        let (low, high) = clopper_pearson(self.held, self.intervals);
        let percent = |share: f64| format!("{:.1} %", 100.0 * share);
        let contains = if (low..=high).contains(&CONFIDENCE) { "holds" } else { "misses" };
        line(&[
            experiment.to_string(),
            self.intervals.to_string(),
            percent(self.held as f64 / self.intervals as f64),
            format!("{} to {}, {contains} {}", percent(low), percent(high), percent(CONFIDENCE)),
            percent(self.equal_counts as f64 / self.pairs as f64),
        ])
    }
}

/// The exact interval of a share, of which `successes` in `trials` were seen (Clopper and Pearson 1934), by the quantiles
/// of the beta distribution.
fn clopper_pearson(successes: u64, trials: u64) -> (f64, f64) {
    let tail = 0.5 * (1.0 - CONFIDENCE);
    let (k, n) = (successes as f64, trials as f64);
    let quantile = |a: f64, b: f64, level: f64| {
        Beta::new(a, b).expect("both shapes are positive").inverse_cdf(level)
    };
    (
        if successes == 0 { 0.0 } else { quantile(k, n - k + 1.0, tail) },
        if successes == trials { 1.0 } else { quantile(k + 1.0, n - k, 1.0 - tail) },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(workload: &str, work: u32) -> Cell {
        let (machine, experiment) = (Machine::Quiet, Experiment::Corun);
        Cell { machine, workload: workload.to_owned(), experiment, work }
    }

    /// Errors of -1, 0 and 1 % around a bias, repeated.
    fn pairs(cell: &Cell, bias: f64, count: usize) -> Vec<Pair> {
        let errors = [-0.01, 0.0, 0.01].into_iter().cycle().take(count);
        errors.map(|e| Pair { score: truth(cell) + bias + e, counts: Counts::Equal }).collect()
    }

    #[test]
    fn clopper_pearson_intervals() {
        // All of ten: the lower end is the tenth root of .025. The middle ones are those of any table.
        let check = |(k, n), expected: (f64, f64)| {
            let (low, high) = clopper_pearson(k, n);
            let near = (low - expected.0).abs() < 1e-4 && (high - expected.1).abs() < 1e-4;
            assert!(near, "{k} of {n}: {low} to {high}, not {expected:?}");
        };
        check((10, 10), (0.025f64.powf(0.1), 1.0));
        check((0, 10), (0.0, 1.0 - 0.025f64.powf(0.1)));
        check((19, 20), (0.7513, 0.9987));
        check((5, 10), (0.1871, 0.8129));
    }

    #[test]
    fn tables_of_few_pairs() {
        let (same, slower, other) = (cell("a", 100), cell("a", 105), cell("b", 100));
        let other_slower = cell("b", 105);
        let cells = Cells::from([
            (same.clone(), pairs(&same, 0.001, 24)),
            (slower.clone(), pairs(&slower, 0.001, 3)),
            (other.clone(), pairs(&other, 0.03, 12)),
            (other_slower.clone(), pairs(&other_slower, 0.03, 3)),
        ]);
        let text = tables(&cells);
        // 27 errors, 18 of them of 1 %: sqrt(18 / 26) %. The median deviation is 1 %. Of 24, sqrt(16 / 23 / 24) %.
        for expected in [
            "| workload | experiment | pairs | sd | robust sd | A/A | +5 % |",
            "| a | co-run | 27 | 0.83 | 1.48 | +0.10 ± 0.17 | +0.10 ± 0.58 |",
            "| b | co-run | 15 | 0.85 | 1.48 | +3.00 ± 0.25 | +3.00 ± 0.58 |",
            "| **median** | co-run | 42 | 0.84 | 1.48 | +1.55 | +1.55 |",
            "| **mean** | co-run | 42 | 0.84 | 1.48 | +1.55 ± 0.15 | +1.55 ± 0.41 |",
            // Two blocks of `a` hold the truth, the one of `b` does not.
            "| co-run | 3 | 66.7 % | 9.4 % to 99.2 %, holds 95.0 % | 100.0 % |",
        ] {
            assert!(text.contains(expected), "{expected}\nis not in\n{text}");
        }
        assert!(!text.contains("busy"), "{text}");
    }
}
