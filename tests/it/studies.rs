//! What the studies behind the benchmark suite published, judged by this program. `tests/studies` has the figures.

use serde_json::Value;

use crate::desk::Desk;

/// Every pair of contestants in the ten tables of the parse-and-write study: table, the one with the larger rate, the
/// other one, the ratio of their rates, and its 95 % interval by the delta method on logarithms with Welch's degrees of
/// freedom. Computed from the printed figures by another program.
const PAIRS: [(&str, &str, &str, f64, [f64; 2]); 38] = [
    ("NumberValueBeanTest", "fastjson2", "jackson", 1.7490152726, [1.7443245752, 1.7537185839]),
    ("NumberValueBeanTest", "wastjson", "fastjson2", 2.5313178391, [2.4950476966, 2.5681152353]),
    ("NumberValueBeanTest", "wastjson", "jackson", 4.4273135604, [4.3638241432, 4.4917266873]),
    ("StringParseTest", "fastjson2", "jackson", 1.0492764641, [1.0436382939, 1.0549450941]),
    ("StringParseTest", "wastjson", "fastjson2", 1.4649037993, [1.4581301671, 1.4717088979]),
    ("StringParseTest", "wastjson", "jackson", 1.5370890788, [1.5284794389, 1.5457472152]),
    ("DateParseTest", "wastjson", "fastjson2", 1.2717417703, [1.2633808316, 1.2801580409]),
    ("EishayParseTest", "fastjson2", "jackson", 1.8455081493, [1.8251008204, 1.8661436623]),
    ("EishayParseTest", "wastjson", "fastjson2", 1.0635375536, [1.0513548053, 1.0758614715]),
    ("EishayParseTest", "wastjson", "jackson", 1.9627672222, [1.9462403990, 1.9794343857]),
    ("SimpleBeanTest", "fastjson2", "jackson", 3.5853578331, [3.5398220831, 3.6314793483]),
    ("SimpleBeanTest", "wastjson", "fastjson2", 1.0674066767, [1.0502055701, 1.0848895169]),
    ("SimpleBeanTest", "wastjson", "jackson", 3.8270348896, [3.7695138820, 3.8854336406]),
    (
        "LongTextParse2Test",
        "fastjson2",
        "escapeFastjson2",
        9.2137493883,
        [9.1895855173, 9.2379767978],
    ),
    (
        "LongTextParse2Test",
        "jackson",
        "escapeFastjson2",
        2.5251039120,
        [2.4950461199, 2.5555238099],
    ),
    (
        "LongTextParse2Test",
        "escapeJackson",
        "escapeFastjson2",
        2.7552429421,
        [2.7439351667, 2.7665973169],
    ),
    (
        "LongTextParse2Test",
        "escapeWastjson",
        "escapeFastjson2",
        9.2241268695,
        [9.1011315045, 9.3487844300],
    ),
    (
        "LongTextParse2Test",
        "wastjson",
        "escapeFastjson2",
        10.8816708745,
        [10.6824568323, 11.0846000016],
    ),
    ("LongTextParse2Test", "fastjson2", "jackson", 3.6488594963, [3.6056574072, 3.6925792220]),
    (
        "LongTextParse2Test",
        "fastjson2",
        "escapeJackson",
        3.3440787553,
        [3.3299631137, 3.3582542328],
    ),
    (
        "LongTextParse2Test",
        "escapeWastjson",
        "fastjson2",
        1.0011263038,
        [0.9878388756, 1.0145924613],
    ),
    ("LongTextParse2Test", "wastjson", "fastjson2", 1.1810252717, [1.1594646875, 1.2029867812]),
    ("LongTextParse2Test", "escapeJackson", "jackson", 1.0911404196, [1.0783082499, 1.1041252957]),
    ("LongTextParse2Test", "escapeWastjson", "jackson", 3.6529692207, [3.5984375704, 3.7083272576]),
    ("LongTextParse2Test", "wastjson", "jackson", 4.3093952779, [4.2287842473, 4.3915429531]),
    (
        "LongTextParse2Test",
        "escapeWastjson",
        "escapeJackson",
        3.3478452040,
        [3.3037347221, 3.3925446360],
    ),
    ("LongTextParse2Test", "wastjson", "escapeJackson", 3.9494415205, [3.8777758451, 4.0224316585]),
    (
        "LongTextParse2Test",
        "wastjson",
        "escapeWastjson",
        1.1796965749,
        [1.1571001718, 1.2027342513],
    ),
    ("SuperLongText", "fastjson2", "jackson", 3.3381055201, [3.2490487467, 3.4296033492]),
    ("SuperLongText", "wastjson", "fastjson2", 1.5115235886, [1.4649643380, 1.5595625774]),
    ("SuperLongText", "wastjson", "jackson", 5.0456252347, [4.9173071224, 5.1772918338]),
    ("EishayWriterTest", "fastjson2", "jackson", 1.1286373694, [1.1198029871, 1.1375414481]),
    ("EishayWriterTest", "wastjson", "fastjson2", 1.2460391764, [1.2236862765, 1.2688003934]),
    ("EishayWriterTest", "wastjson", "jackson", 1.4063263782, [1.3811026550, 1.4320107740]),
    ("SimpleBeanWriteTest", "fastjson2", "jackson", 1.1513389676, [1.1272907503, 1.1759001996]),
    ("SimpleBeanWriteTest", "wastjson", "fastjson2", 1.9253088633, [1.8932861061, 1.9578732486]),
    ("SimpleBeanWriteTest", "wastjson", "jackson", 2.2166831189, [2.1732836985, 2.2609492047]),
    ("DateWriteTest", "wastjson", "fastjson2", 6.3320645892, [6.2567393165, 6.4082967075]),
];

const TABLES: &str = include_str!("../studies/wast.jmh.txt");

/// The rows of `compare --within` over the tables.
fn judged(configuration: &str, arguments: &[&str]) -> Vec<Value> {
    let desk = Desk::new();
    desk.put("pacegate.yaml", configuration);
    rows(&within(&desk, TABLES, arguments))
}

/// The verdict of `compare --within` over a file.
fn within(desk: &Desk, results: &str, arguments: &[&str]) -> Value {
    desk.put("results", results);
    desk.run(&[&["compare", "--within", "results"], arguments].concat());
    desk.verdict()
}

fn rows(verdict: &Value) -> Vec<Value> {
    verdict["benchmarks"].as_array().unwrap().clone()
}

fn told(verdict: &Value, kind: &str) -> Vec<String> {
    let own = verdict["benchmarks"].as_array().unwrap().iter().map(|row| &row["notices"]);
    own.chain([&verdict["notices"]])
        .flat_map(|notices| notices.as_array().unwrap())
        .filter(|notice| notice["kind"] == kind)
        .map(|notice| notice["seen"].as_str().unwrap().to_owned())
        .collect()
}

/// The row of two contestants, whichever is the baseline.
fn row<'r>(rows: &'r [Value], table: &str, one: &str, other: &str) -> &'r Value {
    let ids = [format!("{table}.{one} vs {other}"), format!("{table}.{other} vs {one}")];
    let mut found = rows.iter().filter(|row| ids.iter().any(|id| row["id"] == id.as_str()));
    let row = found.next().unwrap_or_else(|| panic!("{ids:?} is missing"));
    assert!(found.next().is_none());
    row
}

/// The larger rate over the smaller one, with its interval.
fn ratio(row: &Value, larger: &str) -> (f64, [f64; 2]) {
    let [ratio, low, high] =
        [&row["ratio"], &row["ci"][0], &row["ci"][1]].map(|value| value.as_f64().unwrap());
    let candidate_is_larger = row["id"].as_str().unwrap().contains(&format!(".{larger} vs "));
    if candidate_is_larger { (ratio, [low, high]) } else { (1.0 / ratio, [1.0 / high, 1.0 / low]) }
}

#[test]
fn one_process_a_contestant_proves_nothing() {
    let rows = judged("", &[]);
    assert_eq!(rows.len(), PAIRS.len());
    for (table, larger, smaller, expected, interval) in PAIRS {
        let row = row(&rows, table, larger, smaller);
        assert_eq!(row["verdict"], "inconclusive", "{row}");
        let (shown, bounds) = ratio(row, larger);
        assert!((shown / expected - 1.0).abs() < 1e-9, "{table}, {larger}: {shown}");
        for (shown, expected) in bounds.into_iter().zip(interval) {
            assert!(
                (shown / expected - 1.0).abs() < 1e-6,
                "{table}, {larger}: {shown}, {expected}"
            );
        }
    }
}

#[test]
fn with_trust_in_samples_37_pairs_differ_and_one_does_not() {
    let rows = judged("", &["--trust-samples"]);
    for (table, larger, smaller, ..) in PAIRS {
        let row = row(&rows, table, larger, smaller);
        let alike = larger == "escapeWastjson" && smaller == "fastjson2";
        let candidate_is_larger = row["id"].as_str().unwrap().contains(&format!(".{larger} vs "));
        let expected = match (alike, candidate_is_larger) {
            (true, _) => "unchanged",
            (false, true) => "improvement",
            (false, false) => "regression",
        };
        assert_eq!(row["verdict"], expected, "{row}");
    }
}

#[test]
fn five_percent_is_the_same_both_ways() {
    // The two that exceed it most narrowly, and two that do not show it, with each contestant as the baseline.
    for (table, larger, smaller, exceeds) in [
        ("EishayParseTest", "wastjson", "fastjson2", true),
        ("SimpleBeanTest", "wastjson", "fastjson2", true),
        ("StringParseTest", "fastjson2", "jackson", false),
        ("LongTextParse2Test", "escapeWastjson", "fastjson2", false),
    ] {
        for reference in [smaller, larger] {
            let rows = judged("", &["--trust-samples", "--reference", reference]);
            let (_, [low, _]) = ratio(row(&rows, table, larger, smaller), larger);
            assert_eq!(1.05 < low, exceeds, "{table}, {larger} against {reference}: {low}");
        }
    }
}

/// The table of the serializer study: times are means of one process without spread or number, sizes do not vary.
const SERIALIZERS: &str = include_str!("../studies/serializers.txt");

#[test]
fn times_of_the_serializer_table_are_shown_and_sizes_are_exact() {
    let desk = Desk::new();
    desk.put("baseline.txt", SERIALIZERS);
    let slower = SERIALIZERS.replace("7421    5065   12485    486", "8421    5065   13485    487");
    assert_ne!(slower, SERIALIZERS);
    desk.put("candidate.txt", &slower);
    let said = desk.check(&["compare", "baseline.txt", "candidate.txt"], 10, &["larger"]);
    assert!(!said.stdout.contains("slower"), "{}", said.stdout);
    let verdict = desk.verdict();
    let rows = rows(&verdict);
    assert_eq!(rows.len(), 18 * 6);
    for row in &rows {
        let gson = row["id"] == "json/google-gson/databind";
        let expected = match row["metric"].as_str().unwrap() {
            "size" if gson => "regression",
            "size" | "+dfl" => "unchanged",
            _ => "inconclusive",
        };
        assert_eq!(row["verdict"], expected, "{row}");
    }
    let ser = rows
        .iter()
        .find(|row| row["id"] == "json/google-gson/databind" && row["metric"] == "ser")
        .unwrap();
    assert!((ser["ratio"].as_f64().unwrap() - 8421.0 / 7421.0).abs() < 1e-12, "{ser}");
    assert_eq!(ser["gated"], false, "{ser}");
}

#[test]
fn a_format_of_the_serializer_table_ranks_as_published() {
    let rows = rows(&within(&Desk::new(), SERIALIZERS, &[]));
    // Saved by the library with generated code, of the total: 22.0 % as JSON, 23.2 % as Smile.
    for (format, saved) in [("json", 0.220), ("smile", 0.232)] {
        let id = format!("{format}/jackson/db-afterburner vs databind");
        let row =
            rows.iter().find(|row| row["id"] == id.as_str() && row["metric"] == "total").unwrap();
        assert!((1.0 - row["ratio"].as_f64().unwrap() - saved).abs() < 5e-4, "{row}");
    }
}

/// Ten batches of three libraries in one process, milliseconds.
const PERSON: &str = include_str!("../studies/person.json");

#[test]
fn a_first_batch_that_stands_apart_is_told() {
    let verdict = within(&Desk::new(), PERSON, &[]);
    for row in rows(&verdict) {
        assert_eq!(row["verdict"], "inconclusive", "{row}");
    }
    let told = told(&verdict, "first-batch");
    for first in ["2.21 times", "1.11 times", "1.68 times"] {
        assert!(told.iter().any(|seen| seen.contains(first)), "{first}: {told:?}");
    }
    // Which is no obstacle: with the first batch or without it, the second library takes 42 % longer.
    let verdict = within(&Desk::new(), PERSON, &["--trust-samples", "--reference", "Json.NET"]);
    for (library, without_the_first) in [("fastJSON", 1.424), ("ServiceStack.Text", 1.110)] {
        let id = format!("person/{library} vs Json.NET");
        let row = rows(&verdict).into_iter().find(|row| row["id"] == id.as_str()).unwrap();
        assert_eq!(row["verdict"], "regression", "{row}");
        let [low, high] = [0, 1].map(|end| row["ci"][end].as_f64().unwrap());
        assert!((low..high).contains(&without_the_first), "{row}");
    }
}

#[test]
fn a_table_whose_cells_run_together_is_refused() {
    let desk = Desk::new();
    let glued = "Json.NETfastJSONServiceStack.Text\n1480342406\n2218308251\n10218306269\n";
    desk.put("glued.txt", glued);
    desk.check(
        &["compare", "--within", "glued.txt"],
        1,
        &["glued.txt: no line of it is a result of a known tool; line 1 is `Json.NETfastJSON"],
    );
}

/// Trimmed means of the samples study in milliseconds; those of parsing different samples as they were published,
/// which, up to 10,000 samples, are those of writing the same samples.
const SAMPLES: &str = include_str!("../studies/samples.json");

#[test]
fn a_published_table_that_is_a_copy_of_another_is_told() {
    let desk = Desk::new();
    let verdict = within(&desk, SAMPLES, &[]);
    assert_eq!(
        told(&verdict, "copied-results"),
        [
            "`deser/different/*/*` and `ser/same/*/*` have the same time, digit for digit, in 20 of 24 benchmarks"
        ]
    );
    let said = desk.run(&["compare", "--within", "results"]);
    let headline = "INCONCLUSIVE: none of 144 benchmarks can be guarded";
    assert!(said.stdout.starts_with(headline), "{}", said.stdout);
}
