//! Any bytes as the output of the tool that `PACEGATE_FORMAT` names, or of whichever claims them: no panic, and what is read is
//! kept as evidence and read again as the same.
#![no_main]

use std::collections::BTreeMap;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use pacegate::gate::Policy;
use pacegate::ingest::{Options, read_bytes, read_bytes_as};
use pacegate::model::Arm;
use pacegate::store::Limits;
use pacegate::store::evidence::{Ending, EvidenceFile};

static FORMAT: LazyLock<Option<String>> = LazyLock::new(|| std::env::var("PACEGATE_FORMAT").ok());

fuzz_target!(|bytes: &[u8]| {
    let limits = Limits { benchmarks: 100, samples: 1000, bytes: 1 << 24 };
    let options = Options { limits, ..Options::default() };
    let runs = match &*FORMAT {
        Some(format) => read_bytes_as(format, bytes.to_vec(), &options),
        None => read_bytes("input", bytes.to_vec(), &options),
    };
    for run in runs.unwrap_or_default() {
        let file = EvidenceFile {
            pacegate: String::new(),
            started: None,
            policy: Policy::default(),
            plan: None,
            notices: Vec::new(),
            runs: BTreeMap::from([(Arm::Candidate, run)]),
            ending: Ending::Complete,
        };
        let mut kept = Vec::new();
        file.to_writer(&mut kept).expect("what is read is finite");
        let again = EvidenceFile::from_reader(kept.as_slice(), &Limits::OWN).expect("it was just written");
        assert_eq!(again, file);
    }
});
