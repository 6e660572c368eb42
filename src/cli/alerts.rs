//! `watch --issues`: alerts as issues, and news of them for a chat.

use std::time::Duration;

use clap::Args;

use crate::error::{Error, Result};
use crate::github::{alerts, tell_chat};
use crate::report::{AlertPage, log_line};

use super::output;
use super::publish::{Login, complain};

#[derive(Args, Debug)]
pub(super) struct AlertArgs {
    /// Open, update and close an issue for each open alert, in the repository named by GITHUB_REPOSITORY.
    #[arg(long)]
    issues: bool,
    /// Who the issues are by, where the token is an App's; its own user, or that of Actions, if absent.
    #[arg(long, value_name = "LOGIN", requires = "issues")]
    author: Option<String>,
    /// Environment variable that holds the address of a chat (Slack and the like), which is told of issues that were
    /// opened or closed.
    #[arg(long, value_name = "NAME", requires = "issues")]
    webhook_env: Option<String>,
    #[command(flatten)]
    login: Login,
}

/// When to give up, waiting for GitHub's limits included.
const DEADLINE: Duration = Duration::from_secs(600);

impl AlertArgs {
    /// Whether everything was done that was asked for; what was not is said.
    pub(super) fn tell(&self, pages: impl FnOnce() -> Vec<AlertPage>) -> Result<bool> {
        if !self.issues {
            return Ok(true);
        }
        // Before anything is written, since news is told once.
        let address = |name: &String| {
            let value = std::env::var(name).ok().filter(|value| !value.is_empty());
            value.map(|value| (name.clone(), value)).ok_or_else(|| {
                Error::usage(format!("{name} is not set; it holds the address of a chat"))
            })
        };
        let chat = self.webhook_env.as_ref().map(address).transpose()?;
        let client = self.login.client(DEADLINE)?;
        let mut alerted = alerts(&client, &pages(), self.author.as_deref())?;
        for line in &alerted.news {
            output::say(&format!("pacegate: {}", log_line(line)));
        }
        if let Some((name, address)) = chat.filter(|_| !alerted.news.is_empty()) {
            let about = format!("pacegate, {}", client.repository());
            let news: Vec<String> = std::iter::once(about).chain(alerted.news).collect();
            if let Err(error) = tell_chat(&name, &address, &news) {
                alerted.undone.push(error.to_string());
            }
        }
        alerted.undone.iter().for_each(|line| complain(line));
        Ok(alerted.undone.is_empty())
    }
}
