//! Audits GitHub workflows and actions: what would let a change past the gate, or a stranger in.
//!
//! ```text
//! anybody     pull_request_target; a job with rights that checks out a stranger's code; allow-unsafe-pr-checkout;
//!             actions that are not pinned; `${{ }}` inside `run`; no permissions, or all of them; no timeout-minutes; pull requests of forks on a machine of one's own
//! the gate    (a job that runs `pacegate check` on pull requests) filtered by paths; skipped by `if:` or by `needs:`,
//!             which GitHub counts as passed; red and not obeyed (`continue-on-error`)
//! ```

use serde_yaml::Spanned;

use crate::yaml::{Node, from_yaml};

/// What is wrong with a file, each as `NAME:LINE: what; what to do`, in the order of lines.
pub(super) fn audit(name: &str, text: &str) -> Vec<String> {
    let root: Spanned<Node> = match from_yaml(text) {
        Ok(root) => root,
        Err(fault) => return vec![fault.show(text, name).to_string()],
    };
    let mut audit = Audit { text, found: Vec::new() };
    match root.value.get("runs") {
        Some(runs) => audit.steps(&runs.value),
        None => audit.workflow(&root.value),
    }
    audit.found.sort();
    audit.found.into_iter().map(|(line, what)| format!("{name}:{line}: {what}")).collect()
}

struct Audit<'t> {
    text: &'t str,
    found: Vec<(u64, String)>,
}

/// How a job comes to run.
#[derive(Default)]
struct Triggers {
    /// For pull requests, which may come from forks.
    pull_request: bool,
    /// For pull requests or a merge queue, which ask for checks.
    gate: bool,
    /// With rights, by what a stranger did.
    privileged: bool,
}

impl Audit<'_> {
    fn say(&mut self, line: u64, what: impl Into<String>) {
        self.found.push((line, what.into()));
    }

    fn workflow(&mut self, root: &Node) {
        let triggers = self.triggers(root);
        let top = root.get("permissions");
        self.permissions(top);
        let gates = root.get("jobs").map_or(&[][..], |jobs| jobs.value.entries()).iter().filter(
            |(name, job)| {
                let job = &job.value;
                if top.is_none() && job.get("permissions").is_none() {
                    self.say(line(name), format!("the job `{}` has the permissions that the repository gives by default; write `permissions:` with what it needs", name.value));
                }
                self.job(name, job, &triggers);
                is_gate(job)
            },
        );
        if gates.count() > 0
            && let Some(on) = root.get("on")
        {
            self.filters(&on.value);
        }
    }

    fn triggers(&mut self, root: &Node) -> Triggers {
        let mut triggers = Triggers::default();
        let Some(on) = root.get("on") else { return triggers };
        let named = on.value.entries().iter().map(|(name, _)| (name.value.as_str(), line(name)));
        let listed = on.value.items().iter().chain([on]);
        let listed = listed.filter_map(|item| Some((item.value.text()?, line(item))));
        for (name, line) in named.chain(listed) {
            match name {
                "pull_request" => (triggers.pull_request, triggers.gate) = (true, true),
                "merge_group" => triggers.gate = true,
                "workflow_run" => triggers.privileged = true,
                "pull_request_target" => {
                    (triggers.pull_request, triggers.privileged) = (true, true);
                    self.say(line, "pull_request_target gives secrets and write access to a job that a stranger starts; use pull_request, and workflow_run for what must write");
                }
                _ => {}
            }
        }
        triggers
    }

    fn permissions(&mut self, given: Option<&Spanned<Node>>) {
        if let Some(given) = given
            && given.value.text() == Some("write-all")
        {
            self.say(line(given), "write-all lets every action write everything; name the permissions that are needed");
        }
    }

    fn job(&mut self, name: &Spanned<String>, job: &Node, triggers: &Triggers) {
        self.permissions(job.get("permissions"));
        if let Some(uses) = job.get("uses") {
            self.pinned(uses);
            return;
        }
        if job.get("timeout-minutes").is_none() {
            self.say(
                line(name),
                format!(
                    "the job `{}` may hang for six hours; give it `timeout-minutes:`",
                    name.value
                ),
            );
        }
        if triggers.pull_request
            && let Some(runs_on) = job.get("runs-on")
            && let Some(label) = own_machine(job, &runs_on.value)
        {
            self.say(line(runs_on), format!("pull requests of forks run on `{label}`, a machine that may keep what they leave; send them to a hosted one by an expression over `github.event.pull_request.head.repo.full_name == github.repository`"));
        }
        self.steps(job);
        if triggers.privileged {
            self.own_code(job);
        }
        if triggers.gate && is_gate(job) {
            self.obeyed(job);
        }
    }

    fn steps(&mut self, holder: &Node) {
        for step in holder.get("steps").map_or(&[][..], |steps| steps.value.items()) {
            let step = &step.value;
            if let Some(uses) = step.get("uses") {
                self.pinned(uses);
            }
            if let Some(run) = step.get("run")
                && run.value.text().is_some_and(|text| text.contains("${{"))
            {
                let line = self.line_of("${{", line(run));
                self.say(line, "an expression inside `run` is pasted into the script, whatever it holds; pass it by `env:` and use the variable");
            }
            if let Some(unsafe_checkout) =
                step.get("with").and_then(|with| with.value.get("allow-unsafe-pr-checkout"))
                && unsafe_checkout.value.text() != Some("false")
            {
                self.say(line(unsafe_checkout), "allow-unsafe-pr-checkout lets a job with rights check out what a stranger wrote; check nothing out there");
            }
        }
    }

    /// Whether a job with rights leaves alone what a stranger wrote.
    fn own_code(&mut self, job: &Node) {
        for step in job.get("steps").map_or(&[][..], |steps| steps.value.items()) {
            let checkout = step.value.get("with").and_then(|with| with.value.get("ref"));
            if let Some(checkout) = checkout
                && checkout.value.text().is_some_and(|text| text.contains("head"))
            {
                self.say(line(checkout), "this job has rights and checks out what a stranger wrote; check nothing out there");
            }
        }
    }

    /// Whether an action or a reusable workflow is one that cannot change under its name.
    fn pinned(&mut self, uses: &Spanned<Node>) {
        let Some(name) = uses.value.text() else { return };
        let fixed = match name.rsplit_once('@') {
            _ if name.starts_with("./") => true,
            Some((image, digest)) if image.starts_with("docker://") => {
                digest.starts_with("sha256:")
            }
            Some((_, commit)) => {
                matches!(commit.len(), 40 | 64)
                    && commit.bytes().all(|byte| byte.is_ascii_hexdigit())
            }
            None => false,
        };
        if !fixed {
            self.say(line(uses), format!("`{name}` may be another program tomorrow; pin it by its full commit id, with the version in a comment"));
        }
    }

    /// Whether a red gate stops the change.
    fn obeyed(&mut self, job: &Node) {
        let condition = job.get("if");
        let always = |condition: &Spanned<Node>| {
            let bare: String = condition
                .value
                .text()
                .unwrap_or_default()
                .chars()
                .filter(|c| !" ${}".contains(*c))
                .collect();
            bare == "always()" || bare == "!cancelled()"
        };
        match (condition, job.get("needs")) {
            (Some(condition), _) if !always(condition) => self.say(line(condition), "a job that `if:` skips counts as passed; let the gate run always, and choose its runner by an expression"),
            (None, Some(needs)) => self.say(line(needs), "where a needed job fails the gate is skipped, which counts as passed; let it need nothing"),
            _ => {}
        }
        let steps = job.get("steps").map_or(&[][..], |steps| steps.value.items());
        let checks = steps.iter().map(|step| &step.value).filter(|step| runs_check(step));
        for (holder, skips) in std::iter::once((job, false)).chain(checks.map(|step| (step, true)))
        {
            if let Some(lenient) = holder.get("continue-on-error")
                && lenient.value.text() != Some("false")
            {
                self.say(line(lenient), "continue-on-error makes a red gate green; take it away");
            }
            if skips && let Some(condition) = holder.get("if") {
                self.say(
                    line(condition),
                    "where `if:` skips the check the job passes without it; take it away",
                );
            }
        }
    }

    fn filters(&mut self, on: &Node) {
        for trigger in ["pull_request", "merge_group"] {
            for filter in ["paths", "paths-ignore"] {
                if let Some(filter) = on.get(trigger).and_then(|trigger| trigger.value.get(filter))
                {
                    self.say(line(filter), "a required check of a workflow that paths filter out never comes, and the pull request waits for ever; take the filter away");
                }
            }
        }
    }

    /// The first line from `start` on that holds a text.
    fn line_of(&self, wanted: &str, start: u64) -> u64 {
        let before = usize::try_from(start).unwrap_or(usize::MAX).saturating_sub(1);
        let ahead = self.text.lines().skip(before).position(|line| line.contains(wanted));
        start + ahead.unwrap_or(0) as u64
    }
}

fn line<T>(placed: &Spanned<T>) -> u64 {
    placed.referenced.line()
}

fn is_gate(job: &Node) -> bool {
    job.get("steps")
        .is_some_and(|steps| steps.value.items().iter().any(|step| runs_check(&step.value)))
}

/// Whether a step runs `pacegate check`, by its program or by its action.
fn runs_check(step: &Node) -> bool {
    let text = |key| step.get(key).and_then(|value| value.value.text()).unwrap_or_default();
    let action = text("uses").split('@').next().unwrap_or_default();
    action.ends_with("/pacegate")
        || text("run").lines().any(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            words.windows(2).any(|pair| {
                pair[0].trim_end_matches(".exe").ends_with("pacegate") && pair[1] == "check"
            })
        })
}

/// The label of a runner that is not GitHub's, on which a fork's pull request may come to run.
fn own_machine(job: &Node, runs_on: &Node) -> Option<String> {
    let condition = job.get("if").and_then(|condition| condition.value.text()).unwrap_or_default();
    let labels: Vec<&str> = texts(runs_on);
    let guarded = |text: &str| {
        let bare: String = text.chars().filter(|letter| !letter.is_whitespace()).collect();
        bare.contains("head.repo.full_name==github.repository") || bare.contains("head.repo.fork")
    };
    if guarded(condition) || labels.iter().any(|label| guarded(label)) {
        return None;
    }
    let matrix = job.get("strategy").and_then(|strategy| strategy.value.get("matrix"));
    let values = |axis: &str| {
        let Some(matrix) = matrix else { return Vec::new() };
        let included = matrix.value.get("include").map_or(&[][..], |include| include.value.items());
        let rows = included.iter().map(|row| &row.value).chain([&matrix.value]);
        rows.filter_map(|row| row.get(axis)).flat_map(|value| texts(&value.value)).collect()
    };
    labels
        .into_iter()
        .flat_map(|label| match label.split_once("${{").map(|(_, inside)| inside.trim_start()) {
            Some(inside) => match inside.strip_prefix("matrix.") {
                Some(axis) => values(axis.split([' ', '}']).next().unwrap_or_default()),
                None => vec![label],
            },
            None => vec![label],
        })
        .find(|label| !is_hosted(label))
        .map(str::to_owned)
}

/// All scalars in a value.
fn texts(node: &Node) -> Vec<&str> {
    match node {
        Node::Scalar(text) => vec![text],
        Node::Sequence(items) => items.iter().flat_map(|item| texts(&item.value)).collect(),
        Node::Mapping(entries) => {
            entries.iter().flat_map(|(_, value)| texts(&value.value)).collect()
        }
    }
}

/// GitHub's own machines by their names. An expression is one if no variable or input can lead it elsewhere.
fn is_hosted(label: &str) -> bool {
    if label.contains("${{") {
        return !["vars.", "inputs.", "self-hosted", "secrets.", "outputs."]
            .iter()
            .any(|word| label.contains(word));
    }
    ["ubuntu-", "windows-", "macos-"].iter().any(|system| label.starts_with(system))
}

#[cfg(test)]
mod tests {
    use super::audit;

    const HEAD: &str = "on: pull_request\npermissions: {}\njobs:\n  gate:\n";

    #[track_caller]
    fn check(text: &str, expected: &[(u64, &str)]) {
        let found = audit("w.yml", text);
        assert_eq!(found.len(), expected.len(), "{found:#?}");
        for (found, (line, word)) in found.iter().zip(expected) {
            assert!(
                found.starts_with(&format!("w.yml:{line}: ")) && found.contains(word),
                "{found}"
            );
        }
    }

    #[track_caller]
    fn job(body: &str, expected: &[(u64, &str)]) {
        check(&format!("{HEAD}{body}"), expected);
    }

    #[test]
    fn nothing_is_found_where_nothing_is_wrong() {
        job(
            "    runs-on: ubuntu-24.04\n    timeout-minutes: 5\n    steps:\n      - run: pacegate check\n",
            &[],
        );
        check("on: push\njobs: {}\n", &[]);
    }

    #[test]
    fn triggers_are_found_in_every_form() {
        let rest = "\npermissions: {}\njobs: {}\n";
        check(&format!("on: pull_request_target{rest}"), &[(1, "pull_request_target")]);
        check(&format!("on: [push, pull_request_target]{rest}"), &[(1, "pull_request_target")]);
        check(
            &format!("on:\n  push:\n  pull_request_target:{rest}"),
            &[(3, "pull_request_target")],
        );
    }

    #[test]
    fn rights_are_few_and_named() {
        let body = "    runs-on: ubuntu-24.04\n    timeout-minutes: 5\n    steps: []\n";
        check(&format!("on: push\njobs:\n  a:\n{body}"), &[(3, "permissions")]);
        check(&format!("on: push\njobs:\n  a:\n    permissions: {{}}\n{body}"), &[]);
        check(
            &format!("on: push\npermissions: write-all\njobs:\n  a:\n{body}"),
            &[(2, "write-all")],
        );
        job(&format!("    permissions: write-all\n{body}"), &[(5, "write-all")]);
    }

    #[test]
    fn an_action_is_pinned_by_its_commit() {
        let steps = |uses: &str| {
            format!(
                "    runs-on: ubuntu-24.04\n    timeout-minutes: 5\n    steps:\n      - uses: {uses}\n"
            )
        };
        let commit = "0123456789abcdef0123456789abcdef01234567";
        job(&steps(&format!("a/b@{commit} # v1.0.0")), &[]);
        job(&steps("./here"), &[]);
        job(&steps("a/b@v1"), &[(8, "`a/b@v1`")]);
        job(&steps("a/b@0123456"), &[(8, "pin it")]);
        job(&steps("docker://alpine:3"), &[(8, "pin it")]);
        job(&steps("docker://alpine@sha256:0123"), &[]);
        job("    uses: a/b/.github/workflows/c.yml@main\n", &[(5, "pin it")]);
    }

    #[test]
    fn an_expression_in_a_script_is_found_at_its_line() {
        job(
            "    runs-on: ubuntu-24.04\n    timeout-minutes: 5\n    steps:\n      - run: |\n          true\n          echo ${{ github.head_ref }}\n",
            &[(10, "env:")],
        );
        check(
            "runs:\n  using: composite\n  steps:\n    - shell: bash\n      run: echo ${{ inputs.x }}\n",
            &[(5, "env:")],
        );
    }

    #[test]
    fn forks_stay_away_from_machines_that_keep_things() {
        let runs_on = |runs_on: &str| {
            format!("    timeout-minutes: 5\n    steps: []\n    runs-on: {runs_on}\n")
        };
        let wrong = &[(7, "forks")][..];
        job(&runs_on("self-hosted"), wrong);
        job(&runs_on("[self-hosted, linux]"), wrong);
        job(&runs_on("{ group: bench }"), wrong);
        job(&runs_on("\"${{ vars.BENCH_RUNNER || 'ubuntu-24.04' }}\""), wrong);
        job(
            &runs_on(
                "\"${{ github.event.pull_request.head.repo.full_name == github.repository && vars.R || 'ubuntu-24.04' }}\"",
            ),
            &[],
        );
        let matrix = |value: &str| {
            format!(
                "{}    strategy: {{ matrix: {{ os: [{value}] }} }}\n",
                runs_on("\"${{ matrix.os }}\"")
            )
        };
        job(&matrix("ubuntu-24.04, macos-15"), &[]);
        job(&matrix("ubuntu-24.04, pinned"), wrong);
        let guard = "    if: '!github.event.pull_request.head.repo.fork'\n";
        job(&format!("{}{guard}", runs_on("pinned")), &[]);
    }

    #[test]
    fn a_gate_that_can_be_passed_by_is_found() {
        let gate = |more: &str| {
            format!(
                "    runs-on: ubuntu-24.04\n    timeout-minutes: 5\n    steps:\n      - run: ./bin/pacegate check\n{more}"
            )
        };
        job(&gate("    if: github.actor != 'x'\n"), &[(9, "skips")]);
        job(&gate("    if: ${{ always() }}\n    needs: other\n"), &[]);
        job(&gate("    needs: other\n"), &[(9, "skipped")]);
        job(&gate("    continue-on-error: true\n"), &[(9, "green")]);
        job(&gate("        continue-on-error: true\n"), &[(9, "green")]);
        job(&gate("        if: success()\n"), &[(9, "passes without it")]);
        let filtered = "on:\n  pull_request:\n    paths: [src]\npermissions: {}\njobs:\n  gate:\n";
        check(&format!("{filtered}{}", gate("")), &[(3, "waits for ever")]);
    }

    #[test]
    fn a_limit_of_time_and_a_safe_checkout() {
        job(
            "    runs-on: ubuntu-24.04\n    steps:\n      - uses: ./a\n        with:\n          allow-unsafe-pr-checkout: true\n",
            &[(4, "timeout-minutes"), (9, "allow-unsafe")],
        );
    }

    #[test]
    fn a_job_with_rights_checks_out_no_strangers_code() {
        let text = "on: workflow_run\npermissions: {}\njobs:\n  a:\n    runs-on: ubuntu-24.04\n    timeout-minutes: 5\n    \
             steps:\n      - uses: ./a\n        with:\n          ref: ${{ github.event.workflow_run.head_sha }}\n";
        check(text, &[(10, "stranger")]);
        check(&text.replace("workflow_run\n", "push\n"), &[]);
    }

    #[test]
    fn whatever_is_missing_the_rest_is_audited() {
        let whole = include_str!("bench.yml");
        assert!(audit("w.yml", whole).is_empty());
        let lines: Vec<&str> = whole.lines().collect();
        for gone in 0..lines.len() {
            let rest = [&lines[..gone], &lines[gone + 1..]].concat().join("\n");
            audit("w.yml", &rest);
            // What is cut off anywhere is read, or said to be no YAML.
            audit("w.yml", &lines[..gone].join("\n"));
        }
    }

    #[test]
    fn what_is_no_yaml_is_a_finding() {
        let found = audit("w.yml", "on: [push\njobs: {}\n");
        assert!(found.len() == 1 && found[0].starts_with("w.yml:"), "{found:?}");
    }
}
