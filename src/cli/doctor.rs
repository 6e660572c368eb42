//! `doctor`: is this machine fit to measure on, and by which experiment?

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use schemars::{JsonSchema, schema_for};
use serde::Serialize;

use crate::compare::pair_score;
use crate::error::{ErrorKind, Result};
use crate::measure::doctor::{Finding, State, System};
use crate::measure::fingerprint::{Tools, fingerprint};
use crate::measure::launch::LaunchSettings;
use crate::measure::session::{Benchmark, Pair, Plan, session};
use crate::measure::{Interrupt, Reaper, Watch, cpu, noise};
use crate::model::{Environment, Experiment};
use crate::stats::power::smallest_caught;
use crate::stats::summary::{MAD_TO_SD, mad};
use crate::stats::{Statistic, paired};

use super::{Output, output};

/// Pairs of a check at its last look, which the detectable slowdown is told for.
const PAIRS: usize = 20;
/// Level of one test in a suite of a hundred.
const LEVEL: f64 = 0.05 / 100.0;
/// The usual tolerance.
const TOLERANCE: f64 = 0.02;
/// A machine on which even the best experiment overlooks a slowdown of this much is unfit.
const UNFIT_ABOVE: f64 = 0.10;
/// Time for the pairs of one experiment.
const BUDGET: Duration = Duration::from_millis(3300);

#[derive(Args, Debug)]
pub(super) struct DoctorArgs {
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Exit with 4 where the machine is unfit.
    #[arg(long)]
    strict: bool,
    /// Look at the settings only; nothing is measured.
    #[arg(long)]
    no_noise: bool,
    /// Read the settings of the machine whose root this is.
    #[arg(long, hide = true, default_value = "/")]
    sysroot: PathBuf,
}

/// What was found out about a machine.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "pacegate.doctor/1")]
struct Diagnosis {
    schema: &'static str,
    /// Whether measuring here makes sense.
    fit: bool,
    /// The experiment with the least noise, where noise was measured.
    recommended: Option<Experiment>,
    /// Settings, in a fixed order.
    settings: Vec<Finding>,
    /// Noise of pairs of equal programs, by experiment.
    noise: Vec<PairNoise>,
    /// The machine's fingerprint.
    environment: Environment,
}

/// The noise of pairs of launches of one and the same program.
#[derive(Serialize, JsonSchema)]
struct PairNoise {
    experiment: Experiment,
    /// Pairs that were measured; none where the experiment does not work here.
    pairs: usize,
    /// Robust standard deviation of one pair's ratio, as a share.
    deviation: Option<f64>,
    /// The ratio that was found, where the truth is 1, with its interval (95 %).
    ratio: Option<[f64; 3]>,
    /// The smallest slowdown that a check of a hundred such benchmarks would catch nine times in ten, as a share: 20 pairs,
    /// tolerance 2 %.
    detectable: Option<f64>,
    /// Why nothing was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<String>,
}

/// The JSON schema of what `doctor --json` prints.
pub(super) fn schema() -> String {
    serde_json::to_string_pretty(&schema_for!(Diagnosis)).expect("a schema is JSON") + "\n"
}

pub(super) fn doctor(arguments: &DoctorArgs, output: &Output) -> Result<u8> {
    let cpus = cpu::usable();
    let settings = System::new(arguments.sysroot.clone(), cpus.clone()).findings();
    let noise = if arguments.no_noise { Vec::new() } else { noises(&cpus, output)? };
    let best = noise
        .iter()
        .filter_map(|noise| Some((noise.detectable?, noise.experiment)))
        .min_by(|a, b| a.0.total_cmp(&b.0));
    let diagnosis = Diagnosis {
        schema: "pacegate.doctor/1",
        fit: settings.iter().all(|finding| finding.state != State::Fail)
            && (arguments.no_noise || best.is_some_and(|(share, _)| share <= UNFIT_ABOVE)),
        recommended: best.map(|(_, experiment)| experiment),
        settings,
        noise,
        environment: fingerprint(&Tools::default()),
    };
    output::print(&if arguments.json {
        serde_json::to_string_pretty(&diagnosis).expect("a diagnosis is JSON") + "\n"
    } else {
        page(&diagnosis)
    })?;
    Ok(if arguments.strict && !diagnosis.fit { ErrorKind::NotComparable.exit_code() } else { 0 })
}

/// Measures pairs of one program with itself, in each experiment for some seconds.
fn noises(cpus: &[usize], output: &Output) -> Result<Vec<PairNoise>> {
    let program = std::env::current_exe()?;
    let watch = Watch { interrupt: Interrupt::on_signals()?, reaper: Reaper::start(&program)? };
    // Every launch copies the executable beside itself, and the folder of an installed program may not be ours.
    let place = tempfile::tempdir()?;
    let copy = place.path().join("pacegate").with_extension(std::env::consts::EXE_EXTENSION);
    std::fs::copy(&program, &copy)?;
    let bench = noise::executable(copy, place.path().to_owned());
    let plan = Plan {
        settings: LaunchSettings {
            warm_up: Duration::from_millis(50),
            ..LaunchSettings::default()
        },
        looks: vec![10 * PAIRS],
        cpus: cpus.to_vec(),
        seed: 1,
        budget: Some(BUDGET),
    };
    let mut noises = Vec::new();
    for experiment in [Experiment::Corun, Experiment::Turnstile, Experiment::Interleaved] {
        if !output.quiet {
            output::say(&format!("measuring noise: {experiment}"));
        }
        let benchmark = Benchmark {
            id: noise::BENCHMARK.into(),
            arms: vec![bench.clone(), bench.clone()],
            experiment: Some(experiment),
        };
        let measured = session(&[benchmark], &plan, &watch, &|_| {}, &mut |_| BTreeSet::new())?;
        let series = &measured.series[0];
        // Where an experiment does not work here, the session falls back to one that does.
        let used = series.choice.as_ref().filter(|choice| choice.experiment != experiment);
        let failed = series
            .failed
            .as_ref()
            .map(|failed| failed.failed.to_string())
            .or_else(|| used.map(|choice| choice.why.clone()));
        noises.push(PairNoise::of(experiment, &series.pairs, failed));
    }
    Ok(noises)
}

impl PairNoise {
    fn of(experiment: Experiment, pairs: &[Pair], failed: Option<String>) -> Self {
        let scores: Vec<f64> = pairs
            .iter()
            .filter(|_| failed.is_none())
            .map(|pair| {
                let [ours, theirs] = [0, 1].map(|arm| &pair.launches[arm].sample);
                pair_score(experiment, ours, theirs, Statistic::default())
            })
            .collect();
        let estimate = paired(&scores, None).filter(|estimate| estimate.se > 0.0);
        // The standard error of this many pairs, carried over to those of a check.
        let se = estimate.map(|estimate| estimate.se * (scores.len() as f64 / PAIRS as f64).sqrt());
        PairNoise {
            experiment,
            pairs: scores.len(),
            deviation: (scores.len() > 1).then(|| MAD_TO_SD * mad(&scores)),
            ratio: estimate.map(|estimate| {
                let (low, high) = estimate.interval(0.95);
                [estimate.delta, low, high].map(f64::exp)
            }),
            detectable: se
                .map(|se| smallest_caught(TOLERANCE.ln_1p(), LEVEL, se, (PAIRS - 1) as f64)),
            failed,
        }
    }
}

fn page(diagnosis: &Diagnosis) -> String {
    let mut page = String::new();
    let mut line = |text: &str| {
        page.push_str(text.trim_end());
        page.push('\n');
    };
    let count = |state| diagnosis.settings.iter().filter(|found| found.state == state).count();
    let fit = match (diagnosis.fit, diagnosis.recommended) {
        (true, Some(experiment)) => format!("FIT: measure in a {experiment} here"),
        (true, None) => "FIT, as far as its settings tell".into(),
        (false, _) => "UNFIT: what is measured here says little".into(),
    };
    line(&fit);
    line(&format!(
        "  {} settings are ok, {} may disturb, {} do, and {} are not shown.",
        count(State::Ok),
        count(State::Warn),
        count(State::Fail),
        count(State::Unknown)
    ));
    if !diagnosis.noise.is_empty() {
        line("");
        line("Noise: one program against itself; a check of 20 pairs, tolerance 2 %");
        line("  experiment   pairs  noise of a pair  found                   would catch");
        for noise in &diagnosis.noise {
            let percent = |share: f64| format!("{:.1} %", 100.0 * share);
            let signed = |ratio: f64| format!("{:+.1}", 100.0 * (ratio - 1.0));
            let text = match (noise.deviation, noise.ratio, noise.detectable) {
                (Some(deviation), Some([ratio, low, high]), Some(detectable)) => format!(
                    "{:5}  {:>15}  {:22}  +{}",
                    noise.pairs,
                    percent(deviation),
                    format!("{} % [{}, {}]", signed(ratio), signed(low), signed(high)),
                    percent(detectable)
                ),
                _ => noise.failed.clone().unwrap_or_else(|| "too few pairs in its time".into()),
            };
            line(&format!("  {:11}  {text}", noise.experiment.to_string()));
        }
    }
    for (state, heading) in [
        (State::Fail, "Disturbs"),
        (State::Warn, "May disturb"),
        (State::Ok, "Ok"),
        (State::Unknown, "Not shown by this system (a virtual machine?), so neither good nor bad"),
    ] {
        let found: Vec<&Finding> =
            diagnosis.settings.iter().filter(|found| found.state == state).collect();
        if found.is_empty() {
            continue;
        }
        line("");
        if state == State::Unknown {
            let names: Vec<&str> = found.iter().map(|found| found.check.as_str()).collect();
            line(&format!("{heading}:"));
            line(&format!("  {}", names.join(", ")));
            continue;
        }
        line(heading);
        for found in found {
            line(&format!("  {:16} {}", found.check, found.value.as_deref().unwrap_or("")));
            if state != State::Ok {
                line(&format!("                   {}", found.why));
                line(&format!("                   {}", found.fix));
            }
        }
    }
    line("");
    line("Fingerprint");
    let environment = &diagnosis.environment;
    for (part, facts) in [("hard", &environment.hard), ("soft", &environment.soft)] {
        let facts: Vec<String> = facts
            .iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(fact, value)| format!("{fact} {value}"))
            .collect();
        line(&format!("  {part}: {}", facts.join("; ")));
    }
    page
}
