//! How git is called: with everything kept out that could lead it elsewhere, run hooks, ask, or write to the user's index.

use std::path::Path;
use std::process::Command;

/// git in a folder, still without arguments.
pub(crate) fn command(directory: &Path) -> Command {
    let mut command = Command::new("git");
    command
        .args(["-c", "core.hooksPath=/dev/null", "-c", "advice.detachedHead=false", "-C"])
        .arg(directory);
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR"] {
        command.env_remove(name);
    }
    command.env("GIT_OPTIONAL_LOCKS", "0").env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C");
    command
}
