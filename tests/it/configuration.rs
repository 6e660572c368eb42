//! `docs/configuration.md` is what the schema of `pacegate.yaml` says, and what it says of defaults and examples is true.
//!
//! To take a new page over: `PACEGATE_GOLDEN=write cargo test --test it configuration`, then look at its difference.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use pacegate::config::Config;
use serde_json::Value;

const INTRO: &str = "\
<!-- Made from the schema in src/config.rs by tests/it/configuration.rs. -->

# Configuration

`pacegate.yaml`, at the root of the repository, says what a project asks of its gate. Without the file every default holds, and
a file names only what differs from them. A wrong key or value is an error with line, column and what to write instead.

```yaml
tolerance: 2%               # the largest slowdown that is let through
exact:
  B: 0.5% and 64 B          # sizes: both must be exceeded
rules:
  - match: \"parse/*\"        # the last rule that matches and sets a key wins
    tolerance: 5%
  - match: \"*/cold\"
    gate: no
profiles:
  default:
    looks: [5, 10, 20]      # pairs of launches after which the gate may decide
    budget: 15m
  quick:                    # pacegate check --profile quick
    benchmarks: [\"parse/*\"]
    looks: [5, 10]
    budget: 3m
build:
  features: [fast]
```

`--config FILE` reads another file. [Reports on GitHub](publish.md) go by the file as it stands in the base commit.
`pacegate schema config` prints the [JSON schema](schema/config-1.json), from which editors complete keys and show what stands
here.
";

/// Part of the page: its title, and its keys in the order of reading. The keys of a key come under a title of their own.
const SECTIONS: &[(&str, &str, &[&str])] = &[
    (
        "What is let through",
        "",
        &["tolerance", "creep", "exact", "rules", "aliases", "missing", "on_inconclusive", "noisy"],
    ),
    (
        "How it is decided",
        "",
        &[
            "alpha",
            "alpha_pass",
            "correction",
            "statistic",
            "min_launches",
            "looks",
            "weights",
            "trust",
            "session_noise",
        ],
    ),
    ("What is measured", "", &["profiles", "experiment", "build", "env"]),
    ("Where it belongs", "", &["default_branch", "runner_class", "history"]),
    ("Keys of a rule", "rules", &["match", "metric", "tolerance", "better", "gate", "experiment"]),
    (
        "Keys of a profile",
        "profiles",
        &["benchmarks", "looks", "weights", "budget", "launch", "cpus", "stored"],
    ),
    ("Keys of `launch`", "profiles.launch", &["warm_up", "measurement", "samples"]),
    ("Keys of `stored`", "profiles.stored", &["launches", "budget"]),
    (
        "Keys of `build`",
        "build",
        &["packages", "features", "default_features", "profile", "benches", "layout"],
    ),
];

/// A key of the file.
struct Key {
    name: String,
    /// What the schema says of it.
    schema: Value,
    /// What leads to it from the top.
    way: Vec<Step>,
    /// Keys that must stand beside it, with an example of each.
    beside: Vec<(String, Value)>,
    required: bool,
}

#[derive(Clone)]
enum Step {
    /// Into the value of a key.
    Key(String),
    /// Into something with a name of the project's own.
    Named,
    /// Into an element of a list.
    Element,
}

impl Key {
    /// A file with this key, or with what must be there for it to stand in.
    fn file(&self, value: Option<&Value>) -> String {
        let beside = self.beside.iter().map(|(name, value)| (name.as_str(), value));
        let entries = beside.chain(value.map(|value| (self.name.as_str(), value)));
        let inner: String = entries.map(|(name, value)| entry(name, value)).collect();
        self.way.iter().rev().fold(inner, |inner, step| match step {
            Step::Key(name) => nested(name, &inner),
            Step::Named => nested("quick", &inner),
            Step::Element => element(&inner),
        })
    }

    fn examples(&self) -> &[Value] {
        self.schema["examples"].as_array().map_or(&[], Vec::as_slice)
    }
}

/// Every key of the file by its path.
fn keys() -> BTreeMap<String, Key> {
    let schema: Value = serde_json::from_str(&Config::schema()).unwrap();
    let mut keys = BTreeMap::new();
    collect(&schema, &schema, "", &[], &mut keys);
    keys
}

fn collect(
    schema: &Value,
    object: &Value,
    prefix: &str,
    way: &[Step],
    keys: &mut BTreeMap<String, Key>,
) {
    let properties = object["properties"].as_object().unwrap();
    let names = |list: &Value| -> Vec<String> {
        let names = list.as_array().into_iter().flatten();
        names.map(|name| name.as_str().unwrap().to_owned()).collect()
    };
    let required = names(&object["required"]);
    for (name, property) in properties {
        let beside = required.iter().cloned().chain(names(&object["dependentRequired"][name]));
        let beside = beside.filter(|other| other != name);
        let key = Key {
            name: name.clone(),
            schema: property.clone(),
            way: way.to_vec(),
            beside: beside
                .map(|other| {
                    let example = properties[&other]["examples"][0].clone();
                    (other, example)
                })
                .collect(),
            required: required.contains(name),
        };
        keys.insert(format!("{prefix}{name}"), key);

        let inside = definition(schema, property);
        let list = definition(schema, &property["items"]);
        let named = definition(schema, &property["additionalProperties"]);
        for (inner, step) in
            [(inside, None), (list, Some(Step::Element)), (named, Some(Step::Named))]
        {
            if inner["properties"].is_object() {
                let way: Vec<Step> =
                    way.iter().cloned().chain([Step::Key(name.clone())]).chain(step).collect();
                collect(schema, inner, &format!("{prefix}{name}."), &way, keys);
            }
        }
    }
}

/// What a value refers to, whether it may be left out or not.
fn definition<'s>(schema: &'s Value, value: &'s Value) -> &'s Value {
    let reference = [value, &value["anyOf"][0]].into_iter().find_map(|one| one["$ref"].as_str());
    match reference.and_then(|path| path.strip_prefix("#/$defs/")) {
        Some(name) => &schema["$defs"][name],
        None => &Value::Null,
    }
}

/// A value in one line of YAML.
fn flow(value: &Value) -> String {
    match value {
        Value::String(text) => {
            let plain = |c: char| c.is_ascii_alphanumeric() || " _-+./:%()".contains(c);
            let begins = text.starts_with(|c: char| c.is_ascii_alphanumeric());
            if begins && text.chars().all(plain) { text.clone() } else { format!("{text:?}") }
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", "))
        }
        Value::Object(entries) => {
            let entries = entries.iter().map(|(name, value)| {
                format!("{}: {}", flow(&Value::String(name.clone())), flow(value))
            });
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// A key with its value, in as many lines as a person would take.
fn entry(name: &str, value: &Value) -> String {
    match value {
        Value::Object(entries) if !entries.is_empty() => nested(name, &block(value)),
        Value::Array(items) if items.iter().any(Value::is_object) => {
            let elements: String = items.iter().map(|item| element(&block(item))).collect();
            nested(name, &elements)
        }
        _ => format!("{}: {}\n", flow(&Value::String(name.to_owned())), flow(value)),
    }
}

/// The entries of a mapping, what they are for first.
fn block(mapping: &Value) -> String {
    let mut entries: Vec<(&String, &Value)> = mapping.as_object().into_iter().flatten().collect();
    entries.sort_by_key(|(name, _)| *name != "match");
    entries.into_iter().map(|(name, value)| entry(name, value)).collect()
}

fn nested(name: &str, inner: &str) -> String {
    if inner.is_empty() {
        return format!("{name}: {{}}\n");
    }
    let lines: String = inner.lines().map(|line| format!("  {line}\n")).collect();
    format!("{name}:\n{lines}")
}

fn element(inner: &str) -> String {
    let lines = inner.lines().enumerate();
    lines.map(|(n, line)| format!("{}{line}\n", if n == 0 { "- " } else { "  " })).collect()
}

/// What may be written for a key, in words.
fn kind(value: &Value) -> &'static str {
    let (one, many) = ("a text", "a list of texts");
    let name = |value: &Value| -> String {
        let name = value["type"].as_array().map_or(&value["type"], |names| &names[0]);
        name.as_str().unwrap_or_default().to_owned()
    };
    match (name(value).as_str(), name(&value["items"]).as_str()) {
        ("string", _) => one,
        ("boolean", _) => "`true` or `false`",
        ("integer", _) => "a whole number",
        ("number", _) => "a number",
        ("array", "string") => many,
        ("array", "integer") => "a list of whole numbers",
        ("array", "number") => "a list of numbers",
        ("object", _) => "texts by name",
        _ => panic!("a kind of value that the page has no words for: {value}"),
    }
}

/// What stands on the page about a key.
fn about(schema: &Value, path: &str, key: &Key) -> String {
    let description = key.schema["description"].as_str().unwrap_or_default();
    let default = match &key.schema["default"] {
        _ if key.required => "it must be there".to_owned(),
        Value::Null => "not set by default".to_owned(),
        value => format!("default `{}`", flow(value)),
    };
    let choices = definition(schema, &key.schema)["oneOf"].as_array();
    let section = SECTIONS.iter().find(|(_, under, _)| *under == path);
    let takes = match (choices, section) {
        (Some(_), _) => format!("One of these; {default}:"),
        (_, Some((title, _, _))) => {
            let title = title.replace('`', "");
            let anchor = title.to_lowercase().replace(' ', "-");
            // A list or a mapping has a type; what has keys itself refers to where they are defined.
            let what = if key.schema["type"].is_null() { "It has" } else { "Each has" };
            format!("{what} [keys of its own](#{anchor}); {default}.")
        }
        _ => format!("Takes {}; {default}.", kind(&key.schema)),
    };
    let mut text = format!("\n### `{path}`\n\n{description}\n\n{takes}\n");
    if let Some(choices) = choices {
        text += "\n| value | meaning |\n| --- | --- |\n";
        for choice in choices {
            let [value, meaning] = ["const", "description"].map(|of| choice[of].as_str().unwrap());
            text += &format!("| `{value}` | {meaning} |\n");
        }
    }
    for example in key.examples() {
        text += &format!("\n```yaml\n{}```\n", key.file(Some(example)));
    }
    text
}

fn page() -> String {
    let schema: Value = serde_json::from_str(&Config::schema()).unwrap();
    let keys = keys();
    let mut page = INTRO.to_owned();
    for (title, under, names) in SECTIONS {
        page += &format!("\n## {title}\n");
        for name in *names {
            let path = path(under, name);
            let key = keys.get(&path).unwrap_or_else(|| panic!("no key is called {path}"));
            page += &about(&schema, &path, key);
        }
    }
    page
}

fn path(under: &str, name: &str) -> String {
    if under.is_empty() { name.to_owned() } else { format!("{under}.{name}") }
}

fn parse(file: &str) -> Config {
    Config::parse(file, "pacegate.yaml").unwrap_or_else(|error| panic!("{error}\n{file}"))
}

#[test]
fn the_page_on_configuration_is_what_the_schema_says() {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/configuration.md");
    let page = page();
    if std::env::var("PACEGATE_GOLDEN").is_ok_and(|mode| mode == "write") {
        fs::write(&place, &page).unwrap();
    }
    assert_eq!(
        fs::read_to_string(&place).unwrap_or_default(),
        page,
        "how to take it over: tests/it/configuration.rs"
    );
}

#[test]
fn the_page_on_configuration_leaves_no_key_out() {
    let listed: Vec<String> = SECTIONS
        .iter()
        .flat_map(|(_, under, names)| names.iter().map(|name| path(under, name)))
        .collect();
    let once: BTreeSet<&String> = listed.iter().collect();
    assert_eq!(once.len(), listed.len(), "a key stands on the page twice: {listed:?}");
    let keys = keys();
    assert_eq!(once, keys.keys().collect());
    for (path, key) in &keys {
        let described = key.schema["description"].as_str().is_some_and(|text| !text.is_empty());
        assert!(described, "`{path}` has no description");
        assert!(!key.examples().is_empty(), "`{path}` has no example");
        let default = key.schema.get("default");
        assert_eq!(default.is_some(), !key.required, "`{path}` has no default, or one too many");
    }
}

#[test]
fn a_default_that_is_written_changes_nothing() {
    for (path, key) in keys() {
        if let Some(default) = key.schema.get("default") {
            let file = key.file(Some(default));
            assert_eq!(parse(&file), parse(&key.file(None)), "`{path}`:\n{file}");
        }
    }
}

#[test]
fn an_example_of_a_key_changes_what_is_asked() {
    for (path, key) in keys() {
        for example in key.examples() {
            let file = key.file(Some(example));
            let without = if key.required { Config::default() } else { parse(&key.file(None)) };
            assert_ne!(parse(&file), without, "`{path}`:\n{file}");
        }
    }
}
