//! Any bytes as an evidence file: no panic, and what is read is written and read again as the same bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pacegate::store::Limits;
use pacegate::store::evidence::EvidenceFile;

fuzz_target!(|bytes: &[u8]| {
    let limits = Limits { benchmarks: 100, samples: 1000, bytes: 1 << 20 };
    if let Ok(file) = EvidenceFile::from_reader(bytes, &limits) {
        let mut once = Vec::new();
        file.to_writer(&mut once).expect("JSON holds finite values only");
        let again =
            EvidenceFile::from_reader(once.as_slice(), &limits).expect("it was just written");
        let mut twice = Vec::new();
        again.to_writer(&mut twice).expect("as before");
        assert_eq!(once, twice);
    }
});
