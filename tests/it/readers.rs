//! Every reader at once: the corpus of real files, and what no two readers may do.

use std::path::Path;

#[path = "../../examples/readers_corpus.rs"]
#[allow(dead_code, reason = "the program's own main and table are not used here")]
mod corpus;

#[test]
fn every_file_of_the_corpus_is_read_as_expected() {
    let Some(folder) = std::env::var_os("PACEGATE_CORPUS") else {
        println!("skipped: PACEGATE_CORPUS does not name the folder of foreign files");
        return;
    };
    let outcomes = corpus::check(Path::new(&folder)).unwrap();
    let wrong: Vec<String> = outcomes
        .iter()
        .filter(|outcome| !outcome.is_right())
        .map(|outcome| {
            let corpus::Outcome { id, format, entries, values, .. } = outcome;
            format!("{id}: {format:?}, entries {entries:?}, values {values:?}")
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(outcomes.len() > 50, "the list names {} files", outcomes.len());
}
