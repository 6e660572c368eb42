//! What the settings of a machine do to measurements, read from the system's own files. It changes nothing.
//!
//! ```text
//!   a file under the root ──> a value ──> ok       as a bench machine should be
//!                                         warn     measurements get noisier or less like each other
//!                                         fail     what is measured here says little
//!   no such file ───────────> unknown              a virtual machine shows few of them: never taken for ok
//! ```

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use super::fingerprint::chosen;

/// How a setting serves measuring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// As it should be on a bench machine.
    Ok,
    /// The system does not show it.
    Unknown,
    /// Measurements get noisier, or less like those of yesterday.
    Warn,
    /// What is measured here says little.
    Fail,
}

impl State {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            State::Ok => "ok",
            State::Unknown => "unknown",
            State::Warn => "warn",
            State::Fail => "fail",
        }
    }
}

/// One setting, and what it means.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Finding {
    /// Stable name: `governor`.
    pub check: String,
    /// How it serves measuring.
    pub state: State,
    /// What was read; absent where the system does not show it.
    pub value: Option<String>,
    /// Why it matters.
    pub why: String,
    /// What to do where it is not ok: a sentence or a command.
    pub fix: String,
}

/// A machine as its files show it.
#[derive(Clone, Debug)]
pub struct System {
    root: PathBuf,
    cpus: Vec<usize>,
}

/// What a check saw: a value and what it means; `None` where the system does not show it.
type Seen = Option<(String, State)>;

struct Check {
    name: &'static str,
    look: fn(&System) -> Seen,
    why: &'static str,
    fix: &'static str,
}

const CHECKS: &[Check] = &[
    Check {
        name: "virtual-machine",
        look: |system| {
            let virtual_machine = system.cpu_flags()?.iter().any(|flag| flag == "hypervisor");
            Some(if virtual_machine { warn("yes") } else { ok("no") })
        },
        why: "neighbours on the same hardware come and go, and much of what follows is hidden",
        fix: "measure in a co-run, which cancels neighbours; or use a dedicated machine",
    },
    Check {
        name: "container",
        look: |system| {
            let inside = system.exists(".dockerenv") || system.exists("run/.containerenv");
            Some(if inside { warn("yes") } else { ok("no") })
        },
        why: "limits of a container throttle without notice",
        fix: "give it CPUs of its own (`--cpuset-cpus`), not a share",
    },
    Check {
        name: "governor",
        look: |system| {
            system.alike("cpufreq/scaling_governor", |governor| governor == "performance")
        },
        why: "a clock that rises with the load makes the first launches slow",
        fix: "cpupower frequency-set -g performance",
    },
    Check {
        name: "frequency",
        look: |system| {
            let cpu = system.first_cpu();
            let low = system.read(&format!("{cpu}/cpufreq/scaling_min_freq"))?;
            let high = system.read(&format!("{cpu}/cpufreq/scaling_max_freq"))?;
            let value = format!("{low} to {high} kHz");
            Some(if low == high { ok(value) } else { warn(value) })
        },
        why: "a clock that moves is seen as a change of the code",
        fix: "cpupower frequency-set -d BASE -u BASE",
    },
    Check {
        name: "turbo",
        look: |system| {
            let off = |path: &str, off: &str| {
                system.read(path).map(|value| if value == off { ok("off") } else { warn("on") })
            };
            off("sys/devices/system/cpu/intel_pstate/no_turbo", "1")
                .or_else(|| off("sys/devices/system/cpu/cpufreq/boost", "0"))
        },
        why: "turbo depends on temperature and on what the other cores do",
        fix: "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo, or echo 0 > /sys/devices/system/cpu/cpufreq/boost",
    },
    Check {
        name: "smt",
        look: |system| {
            let active = system.read("sys/devices/system/cpu/smt/active")?;
            let control = system.read("sys/devices/system/cpu/smt/control").unwrap_or_default();
            match (active.as_str(), control.as_str()) {
                // A guest sees no siblings, and may well share a core with somebody.
                (_, "notsupported" | "notimplemented") => None,
                ("0", _) => Some(ok("off")),
                _ => Some(warn("on")),
            }
        },
        why: "the other thread of a core takes up to half of its speed",
        fix: "echo off > /sys/devices/system/cpu/smt/control",
    },
    Check {
        name: "isolation",
        look: |system| {
            let isolated = numbers(&system.read("sys/devices/system/cpu/isolated")?);
            let all = system.cpus.iter().all(|cpu| isolated.contains(cpu));
            Some(if all { ok(listed(&isolated)) } else { warn(listed(&isolated)) })
        },
        why: "the scheduler puts other work on a CPU that is not isolated",
        fix: "boot with isolcpus=CPUS, or make a cpuset partition of kind `isolated`",
    },
    Check {
        name: "cpus",
        look: |system| Some(ok(listed(&system.cpus))),
        why: "launches are pinned to these; pairs are measured on all of them at once",
        fix: "",
    },
    Check {
        name: "quota",
        look: |system| {
            let group = system.control_group();
            if let Some(max) = system.read(&format!("sys/fs/cgroup{group}/cpu.max")) {
                return Some(if max.starts_with("max") { ok("none") } else { fail(max) });
            }
            let quota = system.read("sys/fs/cgroup/cpu/cpu.cfs_quota_us")?;
            Some(if quota == "-1" { ok("none") } else { fail(format!("{quota} µs")) })
        },
        why: "a process that has used its share is stopped until the next period",
        fix: "lift the limit (`cpu.max`, `--cpus`), and give whole CPUs instead",
    },
    Check {
        name: "throttled",
        look: |system| {
            let group = system.control_group();
            let stat = system
                .read(&format!("sys/fs/cgroup{group}/cpu.stat"))
                .or_else(|| system.read("sys/fs/cgroup/cpu/cpu.stat"))?;
            let count = field(&stat, "nr_throttled")?;
            Some(if count == "0" { ok("never") } else { fail(format!("{count} times")) })
        },
        why: "it was stopped for using too much CPU",
        fix: "lift the quota",
    },
    Check {
        name: "pressure",
        look: |system| {
            let pressure = system.read("proc/pressure/cpu")?;
            let share: f64 = pressure
                .lines()
                .find_map(|line| line.strip_prefix("some "))?
                .split_whitespace()
                .find_map(|word| word.strip_prefix("avg10="))?
                .parse()
                .ok()?;
            let value = format!("{share} % of the last 10 s");
            Some(match share {
                share if share < 1.0 => ok(value),
                share if share < 20.0 => warn(value),
                _ => fail(value),
            })
        },
        why: "processes wait for a CPU: something else is running",
        fix: "let the machine do one thing at a time",
    },
    Check {
        name: "load",
        look: |system| {
            let load = system.read("proc/loadavg")?;
            let load: f64 = load.split_whitespace().next()?.parse().ok()?;
            let share = load / system.cpus.len().max(1) as f64;
            let value = format!("{load} on {} CPUs", system.cpus.len());
            Some(if share < 0.2 { ok(value) } else { warn(value) })
        },
        why: "something else is running, or was a minute ago",
        fix: "let the machine do one thing at a time",
    },
    Check {
        name: "agents",
        look: |system| {
            let agents = system.processes("Runner.Listener")?;
            Some(match agents {
                0 | 1 => ok(agents.to_string()),
                _ => warn(agents.to_string()),
            })
        },
        why: "two agents of a CI service on one machine run two jobs at once",
        fix: "one agent on a bench machine",
    },
    Check {
        name: "clocksource",
        look: |system| {
            let clock =
                system.read("sys/devices/system/clocksource/clocksource0/current_clocksource")?;
            // A guest's clock is read in user space as well.
            let fast = ["tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page"];
            Some(if fast.contains(&clock.as_str()) { ok(clock) } else { warn(clock) })
        },
        why: "reading another clock costs a system call, a microsecond of each sample",
        fix: "boot with clocksource=tsc",
    },
    Check {
        name: "aslr",
        look: |system| {
            let level = system.read("proc/sys/kernel/randomize_va_space")?;
            Some(if level == "0" { warn("off") } else { ok("on") })
        },
        why: "launches then sample memory layouts; without it all have the same, lucky or unlucky one",
        fix: "sysctl kernel.randomize_va_space=2",
    },
    Check {
        name: "huge-pages",
        look: |system| {
            let mode = chosen(&system.read("sys/kernel/mm/transparent_hugepage/enabled")?)?;
            Some(if mode == "always" { warn(mode) } else { ok(mode) })
        },
        why: "whether memory gets huge pages then depends on how fragmented it is today",
        fix: "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
    },
    Check {
        name: "idle-states",
        look: |system| {
            let cpu = system.first_cpu();
            let states: Vec<bool> = (0..16)
                .map_while(|i| system.read(&format!("{cpu}/cpuidle/state{i}/disable")))
                .map(|disabled| disabled != "0")
                .collect();
            // The first two, polling and a light sleep, cost next to nothing to leave.
            let deep = states.iter().skip(2).filter(|disabled| !**disabled).count();
            match states.len() {
                0 => None,
                _ if deep == 0 => Some(ok("light ones only")),
                _ => Some(warn(format!("{deep} deep ones"))),
            }
        },
        why: "waking from a deep sleep takes up to 100 µs",
        fix: "cpupower idle-set -D 10",
    },
    Check {
        name: "interrupts",
        look: |system| {
            let mask = system.read("proc/irq/default_smp_affinity")?;
            let mask: String = mask.chars().filter(|c| *c != ',').collect();
            let mask = u128::from_str_radix(&mask, 16).ok()?;
            let hit = system.cpus.iter().any(|&cpu| cpu < 128 && mask >> cpu & 1 == 1);
            Some(if hit { warn("on the bench CPUs") } else { ok("elsewhere") })
        },
        why: "devices interrupt what is measured",
        fix: "take the bench CPUs out of /proc/irq/default_smp_affinity, and out of irqbalance's list",
    },
    Check {
        name: "thermal",
        look: |system| {
            let path = format!("{}/thermal_throttle/core_throttle_count", system.first_cpu());
            let count = system.read(&path)?;
            Some(if count == "0" { ok("never throttled") } else { warn(format!("{count} times")) })
        },
        why: "a hot processor slows down",
        fix: "cool it, or fix the clock lower",
    },
    Check {
        name: "memory",
        look: |system| {
            let meminfo = system.read("proc/meminfo")?;
            let gib = |name: &str| -> Option<f64> {
                Some(field(&meminfo, name)?.parse::<f64>().ok()? / 1024.0 / 1024.0)
            };
            let free = gib("MemAvailable:")?;
            let swapped = gib("SwapTotal:")? - gib("SwapFree:")?;
            let value = format!("{free:.1} GiB free, {swapped:.1} GiB swapped out");
            Some(if free > 1.0 && swapped < 0.1 { ok(value) } else { warn(value) })
        },
        why: "a bench whose memory comes back from a disk measures the disk",
        fix: "free memory, and turn swap off while measuring",
    },
    Check {
        name: "counters",
        look: |system| {
            let paranoid: i32 = system.read("proc/sys/kernel/perf_event_paranoid")?.parse().ok()?;
            let value = format!("perf_event_paranoid {paranoid}");
            Some(if paranoid <= 1 { ok(value) } else { warn(value) })
        },
        why: "benches that count instructions need them; times do not",
        fix: "sysctl kernel.perf_event_paranoid=1",
    },
    Check {
        name: "mitigations",
        look: |system| {
            let folder = system.root.join("sys/devices/system/cpu/vulnerabilities");
            let all: Vec<String> = fs::read_dir(folder)
                .ok()?
                .filter_map(|entry| fs::read_to_string(entry.ok()?.path()).ok())
                .collect();
            let active = all.iter().filter(|text| text.starts_with("Mitigation")).count();
            Some(ok(format!("{active} of {} vulnerabilities mitigated", all.len())))
        },
        why: "they cost time at every system call, so a kernel update may look like a change of the code",
        fix: "",
    },
];

/// How long the hypervisor's share is watched.
const STEAL_WATCH: Duration = Duration::from_secs(1);

impl System {
    /// The machine whose files lie under `root`, `/` for this one, measuring on these CPUs.
    #[must_use]
    pub fn new(root: PathBuf, cpus: Vec<usize>) -> Self {
        System { root, cpus }
    }

    /// Looks at every setting. Takes a second, for which it watches what the hypervisor takes away.
    #[must_use]
    pub fn findings(&self) -> Vec<Finding> {
        let finding = |name: &str, seen: Seen, why: &str, fix: &str| {
            let (value, state) =
                seen.map_or((None, State::Unknown), |(value, state)| (Some(value), state));
            Finding { check: name.into(), state, value, why: why.into(), fix: fix.into() }
        };
        let mut findings: Vec<Finding> = CHECKS
            .iter()
            .map(|check| finding(check.name, (check.look)(self), check.why, check.fix))
            .collect();
        findings.push(finding(
            "steal",
            self.stolen(),
            "the hypervisor gave the CPU to somebody else",
            "measure in a co-run on the CPU clock, which does not count it; or use a dedicated machine",
        ));
        findings
    }

    /// The share of the CPUs' time that the hypervisor took within a second.
    fn stolen(&self) -> Seen {
        let ticks = || -> Option<(f64, f64)> {
            let stat = self.read("proc/stat")?;
            let numbers: Vec<f64> = stat
                .lines()
                .next()?
                .split_whitespace()
                .skip(1)
                .filter_map(|word| word.parse().ok())
                .collect();
            Some((*numbers.get(7)?, numbers.iter().take(8).sum()))
        };
        let before = ticks()?;
        std::thread::sleep(STEAL_WATCH);
        let after = ticks()?;
        let share = (after.0 - before.0) / (after.1 - before.1).max(1.0);
        let value = format!("{:.1} %", 100.0 * share);
        Some(match share {
            share if share < 0.001 => ok(value),
            share if share < 0.1 => warn(value),
            _ => fail(value),
        })
    }

    /// A file's text without its surrounding blanks; some files are there and empty.
    fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.root.join(path)).ok().map(|text| text.trim().to_owned())
    }

    fn exists(&self, path: &str) -> bool {
        self.root.join(path).exists()
    }

    fn first_cpu(&self) -> String {
        format!("sys/devices/system/cpu/cpu{}", self.cpus.first().copied().unwrap_or(0))
    }

    /// One setting of all bench CPUs: each of its values, and whether all are good and alike.
    fn alike(&self, path: &str, good: fn(&str) -> bool) -> Seen {
        let mut values: Vec<String> = self
            .cpus
            .iter()
            .map(|cpu| self.read(&format!("sys/devices/system/cpu/cpu{cpu}/{path}")))
            .collect::<Option<_>>()?;
        values.sort();
        values.dedup();
        let all_good = values.len() == 1 && values.iter().all(|value| good(value));
        let value = values.join(", ");
        Some(if all_good { ok(value) } else { warn(value) })
    }

    fn cpu_flags(&self) -> Option<Vec<String>> {
        let cpuinfo = self.read("proc/cpuinfo")?;
        let flags = cpuinfo.lines().find_map(|line| {
            let (name, flags) = line.split_once(':')?;
            ["flags", "Features"].contains(&name.trim()).then_some(flags)
        })?;
        Some(flags.split_whitespace().map(str::to_owned).collect())
    }

    /// The path of our group in the unified hierarchy, which may be the root.
    fn control_group(&self) -> String {
        let groups = self.read("proc/self/cgroup").unwrap_or_default();
        let own = groups.lines().find_map(|line| line.strip_prefix("0::")).unwrap_or_default();
        own.trim_end_matches('/').to_owned()
    }

    fn processes(&self, name: &str) -> Option<usize> {
        let is_it = |folder: &Path| {
            let comm = fs::read_to_string(folder.join("comm")).unwrap_or_default();
            // The kernel cuts names after fifteen letters.
            comm.trim() == name.get(..15).unwrap_or(name)
        };
        let entries = fs::read_dir(self.root.join("proc")).ok()?;
        let mut seen = entries.flatten().map(|entry| entry.path()).filter(|path| {
            let number = path.file_name().and_then(|name| name.to_str());
            number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
        });
        // A system without a list of processes does not say that there is none.
        let first = seen.next()?;
        Some(std::iter::once(first).chain(seen).filter(|path| is_it(path)).count())
    }
}

fn ok(value: impl Into<String>) -> (String, State) {
    (value.into(), State::Ok)
}

fn warn(value: impl Into<String>) -> (String, State) {
    (value.into(), State::Warn)
}

fn fail(value: impl Into<String>) -> (String, State) {
    (value.into(), State::Fail)
}

/// The second word of the line that begins with `name`.
fn field<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        (words.next() == Some(name)).then(|| words.next())?
    })
}

/// The numbers of a list such as `0-2,5`.
fn numbers(list: &str) -> Vec<usize> {
    list.split(',')
        .filter_map(|part| match part.trim().split_once('-') {
            Some((from, to)) => Some(from.parse().ok()?..=to.parse().ok()?),
            None => part.trim().parse().ok().map(|one| one..=one),
        })
        .flatten()
        .collect()
}

fn listed(numbers: &[usize]) -> String {
    let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
    if numbers.is_empty() { "none".into() } else { numbers.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine of these files, and what is said of the checks named.
    fn check(files: &[(&str, &str)], expected: &[(&str, State, Option<&str>)]) {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let system = System::new(root.path().to_owned(), vec![0, 1]);
        for (name, state, value) in expected {
            let check = CHECKS.iter().find(|check| check.name == *name).unwrap();
            let seen = (check.look)(&system);
            let found = seen.as_ref().map_or(State::Unknown, |(_, state)| *state);
            assert_eq!(found, *state, "{name}: {seen:?}");
            assert_eq!(seen.as_ref().map(|(value, _)| value.as_str()), *value, "{name}");
        }
    }

    const CPU0: &str = "sys/devices/system/cpu/cpu0";

    #[test]
    fn a_bare_machine_that_is_set_up_is_ok() {
        let path = |name: &str| format!("{CPU0}/{name}");
        check(
            &[
                ("proc/cpuinfo", "model name\t: Some CPU\nflags\t\t: fpu tsc sse2\n"),
                (&path("cpufreq/scaling_governor"), "performance\n"),
                ("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance\n"),
                (&path("cpufreq/scaling_min_freq"), "3000000\n"),
                (&path("cpufreq/scaling_max_freq"), "3000000\n"),
                ("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n"),
                ("sys/devices/system/cpu/smt/active", "0\n"),
                ("sys/devices/system/cpu/smt/control", "off\n"),
                ("sys/devices/system/cpu/isolated", "0-1,3\n"),
                ("proc/self/cgroup", "0::/bench\n"),
                ("sys/fs/cgroup/bench/cpu.max", "max 100000\n"),
                ("sys/fs/cgroup/bench/cpu.stat", "usage_usec 12\nnr_throttled 0\n"),
                ("proc/pressure/cpu", "some avg10=0.12 avg60=0.50 avg300=0.40 total=1\n"),
                ("proc/loadavg", "0.05 0.10 0.20 1/100 4242\n"),
                ("proc/irq/default_smp_affinity", "fffffffc\n"),
                (&path("cpuidle/state0/disable"), "0\n"),
                (&path("cpuidle/state1/disable"), "0\n"),
                (&path("cpuidle/state2/disable"), "1\n"),
            ],
            &[
                ("virtual-machine", State::Ok, Some("no")),
                ("governor", State::Ok, Some("performance")),
                ("frequency", State::Ok, Some("3000000 to 3000000 kHz")),
                ("turbo", State::Ok, Some("off")),
                ("smt", State::Ok, Some("off")),
                ("isolation", State::Ok, Some("0, 1, 3")),
                ("quota", State::Ok, Some("none")),
                ("throttled", State::Ok, Some("never")),
                ("pressure", State::Ok, Some("0.12 % of the last 10 s")),
                ("load", State::Ok, Some("0.05 on 2 CPUs")),
                ("interrupts", State::Ok, Some("elsewhere")),
                ("idle-states", State::Ok, Some("light ones only")),
            ],
        );
    }

    #[test]
    fn what_disturbs_is_told() {
        let path = |name: &str| format!("{CPU0}/{name}");
        check(
            &[
                (&path("cpufreq/scaling_governor"), "performance\n"),
                ("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave\n"),
                ("sys/devices/system/cpu/cpufreq/boost", "1\n"),
                ("sys/devices/system/cpu/smt/active", "1\n"),
                ("sys/devices/system/cpu/isolated", "\n"),
                ("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "150000\n"),
                ("sys/fs/cgroup/cpu/cpu.stat", "nr_periods 9\nnr_throttled 4\n"),
                ("proc/pressure/cpu", "some avg10=97.00 avg60=0.50 avg300=0.40 total=1\n"),
                ("proc/irq/default_smp_affinity", "ffff,ffffffff\n"),
                ("proc/1/comm", "init\n"),
                ("proc/20/comm", "Runner.Listener\n"),
                ("proc/30/comm", "Runner.Listener\n"),
                ("sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n"),
                ("proc/sys/kernel/randomize_va_space", "0\n"),
            ],
            &[
                ("governor", State::Warn, Some("performance, powersave")),
                ("turbo", State::Warn, Some("on")),
                ("smt", State::Warn, Some("on")),
                ("isolation", State::Warn, Some("none")),
                ("quota", State::Fail, Some("150000 µs")),
                ("throttled", State::Fail, Some("4 times")),
                ("pressure", State::Fail, Some("97 % of the last 10 s")),
                ("interrupts", State::Warn, Some("on the bench CPUs")),
                ("agents", State::Warn, Some("2")),
                ("huge-pages", State::Warn, Some("always")),
                ("aslr", State::Warn, Some("off")),
            ],
        );
    }

    #[test]
    fn what_a_virtual_machine_hides_is_unknown_and_never_ok() {
        check(
            &[
                ("proc/cpuinfo", "flags\t\t: fpu hypervisor\n"),
                ("sys/devices/system/cpu/smt/active", "0\n"),
                ("sys/devices/system/cpu/smt/control", "notsupported\n"),
            ],
            &[
                ("virtual-machine", State::Warn, Some("yes")),
                ("smt", State::Unknown, None),
                ("governor", State::Unknown, None),
                ("turbo", State::Unknown, None),
                ("quota", State::Unknown, None),
                ("pressure", State::Unknown, None),
                ("agents", State::Unknown, None),
            ],
        );
        let empty = tempfile::tempdir().unwrap();
        let findings = System::new(empty.path().to_owned(), vec![0]).findings();
        let known: Vec<&str> = findings
            .iter()
            .filter(|finding| finding.state != State::Unknown)
            .map(|finding| finding.check.as_str())
            .collect();
        assert_eq!(known, ["container", "cpus"]);
    }
}
