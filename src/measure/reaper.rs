//! The reaper: a second process that ends the children of pacegate when pacegate itself is gone.
//!
//! ```text
//!   pacegate --- pipe: "+4711", "-4711" ---> pacegate __reaper TOKEN
//!                end of file                 kills the groups that were not taken back
//! ```
//!
//! The pipe closes however pacegate ends, SIGKILL included. A child that was started in the last moment and
//! not announced, or that left its group, is found by the token in its environment (Linux).

use std::collections::BTreeSet;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Mutex;

use super::launch::MEMORY_FOLDER;

/// The hidden first argument that makes the binary a reaper.
pub const REAPER_ARGUMENT: &str = "__reaper";
/// Marks the environment of every child.
const TOKEN_VARIABLE: &str = "PACEGATE_SESSION";

/// Handle of the reaper process; the default one watches nothing. Dropping it ends the process.
#[derive(Debug, Default)]
pub struct Reaper(Option<Running>);

#[derive(Debug)]
struct Running {
    token: String,
    child: Child,
    pipe: Mutex<Option<ChildStdin>>,
}

impl Reaper {
    /// Starts `program` (pacegate itself) with [`REAPER_ARGUMENT`], in a process group of its own so that
    /// an interrupt from the terminal does not end it first.
    ///
    /// # Errors
    /// If the program can't be started.
    pub fn start(program: &Path) -> io::Result<Self> {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let token = format!("{}.{}", std::process::id(), now.map_or(0, |time| time.as_nanos()));
        let mut command = Command::new(program);
        command.arg(REAPER_ARGUMENT).arg(&token).stdin(Stdio::piped());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn()?;
        let pipe = Mutex::new(child.stdin.take());
        Ok(Reaper(Some(Running { token, child, pipe })))
    }

    /// Writes the token into the environment of a child to come.
    pub(super) fn mark(&self, command: &mut Command) {
        if let Some(running) = &self.0 {
            command.env(TOKEN_VARIABLE, &running.token);
        }
    }

    /// What the names of the folders begin with that are removed when this reaper ends. Nobody else's begin so.
    pub(super) fn folder_prefix(&self) -> String {
        match &self.0 {
            Some(running) => folder_prefix(&running.token),
            None => folder_prefix(&std::process::id().to_string()),
        }
    }

    pub(super) fn add(&self, group: u32) {
        self.tell('+', group);
    }

    pub(super) fn remove(&self, group: u32) {
        self.tell('-', group);
    }

    fn tell(&self, sign: char, group: u32) {
        let Some(running) = &self.0 else { return };
        if let Ok(mut pipe) = running.pipe.lock()
            && let Some(pipe) = pipe.as_mut()
        {
            // A reaper that was killed leaves us as we would be without one.
            let _ = pipe.write_all(format!("{sign}{group}\n").as_bytes());
        }
    }
}

impl Drop for Reaper {
    fn drop(&mut self) {
        if let Some(running) = &mut self.0 {
            if let Ok(mut pipe) = running.pipe.lock() {
                pipe.take();
            }
            let _ = running.child.wait();
        }
    }
}

/// The reaper process: `arguments` are those after [`REAPER_ARGUMENT`]. Returns when pacegate has ended and
/// its children too.
pub fn reaper_main(arguments: impl Iterator<Item = String>) {
    let token = arguments.last().unwrap_or_default();
    let mut groups = BTreeSet::new();
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        match line.split_at_checked(1) {
            Some(("+", group)) => groups.insert(group.to_owned()),
            Some(("-", group)) => groups.remove(group),
            _ => false,
        };
    }
    for group in groups {
        kill(&group, Reach::Group);
    }
    if !token.is_empty() {
        // Twice, since a process that is found may have started another meanwhile.
        (0..2).for_each(|_| marked_with(&token).iter().for_each(|id| kill(id, Reach::Process)));
        sweep(&token);
    }
}

fn folder_prefix(token: &str) -> String {
    format!("pacegate-{token}-")
}

/// Removes the folders of launches that had no time to do so themselves.
fn sweep(token: &str) {
    let prefix = folder_prefix(token);
    for place in [PathBuf::from(MEMORY_FOLDER), std::env::temp_dir()] {
        for entry in std::fs::read_dir(place).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with(&prefix) {
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
    }
}

#[derive(Clone, Copy)]
enum Reach {
    Process,
    Group,
}

fn kill(id: &str, reach: Reach) {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, Signal, kill_process, kill_process_group};
        let Some(id) = id.parse().ok().filter(|&id: &i32| id > 1).and_then(Pid::from_raw) else {
            return;
        };
        let _ = match reach {
            Reach::Process => kill_process(id, Signal::KILL),
            Reach::Group => kill_process_group(id, Signal::KILL),
        };
    }
    #[cfg(not(unix))]
    {
        let tree: &[&str] = match reach {
            Reach::Process => &[],
            Reach::Group => &["/T"],
        };
        let _ = Command::new("taskkill").args(["/F", "/PID", id]).args(tree).output();
    }
}

/// The processes that carry the token in their environment, as the names of their folders in `/proc`.
fn marked_with(token: &str) -> Vec<String> {
    let mark = format!("{TOKEN_VARIABLE}={token}");
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    processes
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
        .filter(|name| {
            let environment = std::fs::read(format!("/proc/{name}/environ")).unwrap_or_default();
            environment.split(|&byte| byte == 0).any(|entry| entry == mark.as_bytes())
        })
        .collect()
}
