//! `selftest`: proof, on real evidence or on simulated launches, that the gate can go red and stays green.

use std::path::PathBuf;

use clap::Args;
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::compare::{Method, compare};
use crate::error::{Error, ErrorKind, Result};
use crate::gate::{Policy, Row, Verdict, judge};
use crate::model::{Arm, BenchmarkId, Evidence, Mode, Reference, Run, Sample, Series};
use crate::store::EvidenceFile;

use super::evidence::EVIDENCE;
use super::{Output, output};
