//! Twelve small workloads with a slowdown of exactly known size, to score the gate's own verdicts.
//!
//! An iteration repeats one unit of work `PACEGATE_WORK` times, 100 unless told otherwise. The same
//! executable with 101, 102, 105 or 110 is slower by 1, 2, 5 or 10 %, so what the gate finds
//! can be held against the truth:
//!
//! ```text
//! PACEGATE_WORK=100   |----------------------------------------|      baseline
//! PACEGATE_WORK=105   |----------------------------------------|--|   candidate, +5 %
//! ```
//!
//! The number is read at run time and hidden from the compiler, so both arms run the same machine
//! code. A unit keeps its state from one repetition to the next (the next array to sort, the next
//! place to chase to), so that 105 units are 105 equal shares of work and the branch
//! predictor cannot learn one input by heart.

mod data;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use rand::Rng as _;

/// Units of work in an iteration, unless `PACEGATE_WORK` says otherwise.
const WORK: u32 = 100;

/// One unit of work, some hundred nanoseconds to some microseconds long.
type Unit = Box<dyn FnMut()>;

/// The workloads: what stands behind a name is built only when it is about to be measured.
const WORKLOADS: [(&str, fn() -> Unit); 12] = [
    ("json/parse", json_parse),
    ("json/write", json_write),
    ("hash/fnv1k", hash_fnv),
    ("sort/100", sort),
    ("btree/insert30", btree_insert),
    ("fmt/float", fmt_float),
    ("alloc/vecs", alloc_vecs),
    ("mem/copy256k", mem_copy),
    ("mem/chase8m", mem_chase),
    ("math/matmul16", math_matmul),
    ("branch/fib12", branch_fib),
    ("text/split", text_split),
];

fn accuracy(criterion: &mut Criterion) {
    let work = black_box(work());
    for (id, build) in WORKLOADS {
        let mut unit = None;
        criterion.bench_function(id, |bencher| {
            let unit = unit.get_or_insert_with(build);
            bencher.iter(|| {
                for _ in 0..work {
                    unit();
                }
            });
        });
    }
}

fn work() -> u32 {
    let Ok(text) = std::env::var("PACEGATE_WORK") else { return WORK };
    match text.parse() {
        Ok(work) if 0 < work => work,
        _ => panic!("PACEGATE_WORK is {text:?}; give a number of units above zero"),
    }
}

fn json_parse() -> Unit {
    let document = serde_json::to_vec(&data::db_data(3)).expect("rows are plain data");
    Box::new(move || {
        let read: data::DbData =
            serde_json::from_slice(black_box(&document)).expect("the document binds to the type");
        black_box(read);
    })
}

fn json_write() -> Unit {
    let data = data::db_data(3);
    let mut out = Vec::with_capacity(1_024);
    Box::new(move || {
        out.clear();
        serde_json::to_writer(&mut out, black_box(&data)).expect("a vector takes every byte");
        black_box(&out);
    })
}

/// FNV-1a over 1 KiB: one chain of multiplications, each waiting for the one before.
fn hash_fnv() -> Unit {
    let mut generator = data::generator();
    let bytes: Vec<u8> = (0..1_024).map(|_| generator.next_u64() as u8).collect();
    Box::new(move || {
        let hash = black_box(&bytes).iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        black_box(hash);
    })
}

/// Sorts 100 numbers, one of 64 arrays in turn.
fn sort() -> Unit {
    let mut generator = data::generator();
    let arrays: Vec<[u64; 100]> =
        (0..64).map(|_| std::array::from_fn(|_| generator.next_u64())).collect();
    let mut turn = (0..arrays.len()).cycle();
    Box::new(move || {
        let mut array = arrays[turn.next().expect("a cycle has no end")];
        array.sort_unstable();
        black_box(array);
    })
}

/// Builds a map of 30 keys, one of 64 sets in turn, and drops it.
fn btree_insert() -> Unit {
    let mut generator = data::generator();
    let sets: Vec<[u64; 30]> =
        (0..64).map(|_| std::array::from_fn(|_| generator.next_u64())).collect();
    let mut turn = (0..sets.len()).cycle();
    Box::new(move || {
        let mut map = BTreeMap::new();
        for &key in &sets[turn.next().expect("a cycle has no end")] {
            map.insert(key, key);
        }
        black_box(map);
    })
}

/// Formats four numbers, of 256 in turn.
fn fmt_float() -> Unit {
    let mut generator = data::generator();
    let numbers: Vec<f64> = (0..256).map(|_| f64::from(generator.next_u32()) / 1e4 - 1e5).collect();
    let mut turn = (0..numbers.len()).step_by(4).cycle();
    let mut out = String::with_capacity(256);
    Box::new(move || {
        let first = turn.next().expect("a cycle has no end");
        out.clear();
        for number in &numbers[first..first + 4] {
            write!(out, "{number} {number:.3} ").expect("a string takes every character");
        }
        black_box(&out);
    })
}

/// Makes sixteen vectors of 16 bytes to 1 KiB, then drops them all.
fn alloc_vecs() -> Unit {
    Box::new(|| {
        let vecs: [Vec<u8>; 16] = std::array::from_fn(|number| {
            let mut vec = Vec::with_capacity(16 << (number * 5 % 7));
            vec.push(number as u8);
            vec
        });
        black_box(vecs);
    })
}

/// Copies the next 16 KiB of 256.
fn mem_copy() -> Unit {
    const PIECE: usize = 16 << 10;
    let from = vec![7_u8; 16 * PIECE];
    let mut to = vec![0_u8; 16 * PIECE];
    let mut turn = (0..from.len()).step_by(PIECE).cycle();
    Box::new(move || {
        let start = turn.next().expect("a cycle has no end");
        to[start..start + PIECE].copy_from_slice(&black_box(&from)[start..start + PIECE]);
        black_box(&to);
    })
}

/// Follows sixteen links of one random ring through all cache lines of 8 MiB.
fn mem_chase() -> Unit {
    const LINES: usize = (8 << 20) / 64;
    const WORDS: usize = 64 / size_of::<u32>();
    let mut generator = data::generator();
    // Sattolo's shuffle: a permutation that is a single ring.
    let mut next: Vec<u32> = (0..LINES as u32).collect();
    for line in (1..LINES).rev() {
        next.swap(line, (generator.next_u64() % line as u64) as usize);
    }
    let mut lines = vec![0_u32; LINES * WORDS];
    for (line, &next) in next.iter().enumerate() {
        lines[line * WORDS] = next;
    }
    let mut at = 0;
    Box::new(move || {
        for _ in 0..16 {
            at = lines[at as usize * WORDS];
        }
        black_box(at);
    })
}

/// Multiplies two matrices of 16 by 16.
fn math_matmul() -> Unit {
    const N: usize = 16;
    let mut generator = data::generator();
    let mut matrix = || -> [[f64; N]; N] {
        std::array::from_fn(|_| std::array::from_fn(|_| f64::from(generator.next_u32())))
    };
    let (left, right) = (matrix(), matrix());
    Box::new(move || {
        let (left, right) = (black_box(&left), black_box(&right));
        let mut product = [[0.0; N]; N];
        for (row, out) in left.iter().zip(&mut product) {
            for (factor, right_row) in row.iter().zip(right) {
                for (sum, value) in out.iter_mut().zip(right_row) {
                    *sum += factor * value;
                }
            }
        }
        black_box(product);
    })
}

/// The twelfth Fibonacci number by double recursion: calls and branches.
fn branch_fib() -> Unit {
    fn fib(n: u32) -> u32 {
        if n < 2 { n } else { black_box(fib(n - 1)) + fib(n - 2) }
    }
    Box::new(|| {
        black_box(fib(black_box(12)));
    })
}

/// Splits a line of 64 words and sums the lengths of those that begin with a vowel.
fn text_split() -> Unit {
    let mut generator = data::generator();
    let mut line = String::new();
    for _ in 0..64 {
        for _ in 0..1 + generator.next_u32() % 9 {
            line.push(char::from(b'a' + (generator.next_u32() % 26) as u8));
        }
        line.push(' ');
    }
    Box::new(move || {
        let length: usize = black_box(&line)
            .split_whitespace()
            .filter(|word| word.starts_with(['a', 'e', 'i', 'o', 'u']))
            .map(str::len)
            .sum();
        black_box(length);
    })
}

criterion_group!(benches, accuracy);
criterion_main!(benches);
