//! What machine and tools a run was made with, as stable facts.
//!
//! A fact that is measured (a clock rate, a load) never decides whether two runs are comparable: it jitters, and a
//! key that jitters splits every history. What cannot be read is left out rather than guessed.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use crate::model::Environment;

/// Facts of the tools that a fingerprint holds beside those of the machine.
#[derive(Clone, Debug, Default)]
pub struct Tools {
    /// Cargo profile that the benches were built with.
    pub profile: String,
    /// `RUSTFLAGS` that they were built with.
    pub rustflags: String,
    /// Version of criterion in the lock file.
    pub criterion: Option<String>,
}

/// Reads the fingerprint of this machine. Missing files and commands leave their facts out.
pub fn fingerprint(tools: &Tools) -> Environment {
    let mut hard = BTreeMap::new();
    let mut soft = BTreeMap::new();
    let mut info = BTreeMap::new();
    machine(&mut hard);
    compiler(&mut hard);
    hard.insert("profile".into(), tools.profile.clone());
    hard.insert("rustflags".into(), tools.rustflags.clone());
    set(&mut hard, "criterion", tools.criterion.clone());
    kernel(&mut soft);
    set(&mut info, "load", read("/proc/loadavg").and_then(|text| first_word(&text)));
    let facts: String = ["arch", "cpu", "cpus", "memory"]
        .iter()
        .filter_map(|key| hard.get(*key))
        .map(|fact| slug(fact))
        .collect::<Vec<_>>()
        .join("-");
    info.insert("machine".into(), facts);
    Environment { hard, soft, info }
}

fn machine(hard: &mut BTreeMap<String, String>) {
    hard.insert("arch".into(), std::env::consts::ARCH.into());
    hard.insert("os".into(), std::env::consts::OS.into());
    let cpuinfo = read("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        cpuinfo.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            (key.trim() == name).then(|| value.trim().to_owned())
        })
    };
    set(hard, "cpu", field("model name"));
    let model: Vec<String> =
        ["vendor_id", "cpu family", "model", "stepping"].into_iter().filter_map(field).collect();
    set(hard, "cpu-model", (!model.is_empty()).then(|| model.join("/")));
    let cpus = std::thread::available_parallelism().map(|n| n.get().to_string()).ok();
    set(hard, "cpus", cpus);
    set(
        hard,
        "smt",
        read("/sys/devices/system/cpu/smt/active").map(|text| match text.trim() {
            "1" => "on".into(),
            _ => "off".into(),
        }),
    );
    let caches: Vec<String> = (0..8)
        .filter_map(|i| read(format!("/sys/devices/system/cpu/cpu0/cache/index{i}/size")))
        .map(|size| size.trim().to_owned())
        .collect();
    set(hard, "caches", (!caches.is_empty()).then(|| caches.join("/")));
    set(hard, "memory", memory_gib());
    let virtual_machine = field("flags")
        .map(|flags| flags.split_whitespace().any(|flag| flag == "hypervisor"))
        .map(|yes| if yes { "virtual" } else { "metal" }.to_owned());
    set(hard, "virtualisation", virtual_machine);
}

fn memory_gib() -> Option<String> {
    let meminfo = read("/proc/meminfo")?;
    let kib: f64 = meminfo.lines().find_map(|line| {
        line.strip_prefix("MemTotal:")?.trim().strip_suffix("kB")?.trim().parse().ok()
    })?;
    Some(format!("{:.0} GiB", kib / 1024.0 / 1024.0))
}

fn compiler(hard: &mut BTreeMap<String, String>) {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let Ok(output) = Command::new(rustc).arg("-vV").output() else { return };
    let text = String::from_utf8_lossy(&output.stdout);
    let mut lines = text.lines();
    set(hard, "rustc", lines.next().map(str::to_owned));
    for line in lines {
        match line.split_once(": ") {
            Some(("LLVM version", version)) => set(hard, "llvm", Some(version.to_owned())),
            Some(("host", host)) => set(hard, "host", Some(host.to_owned())),
            _ => {}
        }
    }
}

fn kernel(soft: &mut BTreeMap<String, String>) {
    let release = read("/proc/sys/kernel/osrelease")
        .map(|text| text.trim().splitn(3, ['.', '-']).take(2).collect::<Vec<_>>().join("."));
    set(soft, "kernel", release);
    let word = |path: &str| read(path).map(|text| text.trim().to_owned());
    set(soft, "governor", word("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"));
    set(soft, "no-turbo", word("/sys/devices/system/cpu/intel_pstate/no_turbo"));
    set(soft, "boost", word("/sys/devices/system/cpu/cpufreq/boost"));
    set(soft, "aslr", word("/proc/sys/kernel/randomize_va_space"));
    set(
        soft,
        "huge-pages",
        word("/sys/kernel/mm/transparent_hugepage/enabled").and_then(|text| chosen(&text)),
    );
    set(
        soft,
        "clocksource",
        word("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
    );
    let cpuinfo = read("/proc/cpuinfo").unwrap_or_default();
    set(
        soft,
        "microcode",
        cpuinfo.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            (key.trim() == "microcode").then(|| value.trim().to_owned())
        }),
    );
}

/// The chosen word of a list such as `always [madvise] never`.
pub(super) fn chosen(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('[')?;
    Some(rest.split_once(']')?.0.to_owned())
}

fn first_word(text: &str) -> Option<String> {
    text.split_whitespace().next().map(str::to_owned)
}

fn slug(text: &str) -> String {
    text.to_lowercase()
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|w| !w.is_empty())
        .collect::<Vec<_>>()
        .join("-")
}

fn set(facts: &mut BTreeMap<String, String>, key: &str, value: Option<String>) {
    if let Some(value) = value.filter(|value| !value.is_empty()) {
        facts.insert(key.into(), value);
    }
}

fn read(path: impl AsRef<Path>) -> Option<String> {
    std::fs::read_to_string(path).ok()
}
