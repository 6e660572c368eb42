//! stub
use std::path::PathBuf;
/// A bench executable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Executable {
    /// The file.
    pub path: PathBuf,
    /// Package that the bench belongs to.
    pub package: String,
    /// Version of that package.
    pub version: String,
    /// Name of the bench target.
    pub target: String,
    /// Where it runs: the folder of the package.
    pub directory: PathBuf,
}
