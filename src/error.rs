//! The one error of the crate: what went wrong, from the outside in, and the exit code that it means.
//!
//! ```text
//! kind                 exit   said when
//! Usage                   2   a flag or the configuration is wrong
//! Judge                   1   an input, a build, a bench or the network failed: there is no verdict
//! NothingToCompare        3   no baseline, no common benchmark, empty input
//! NotComparable           4   the environments differ in a hard part
//! Interrupted             1   somebody stopped the work
//! ```

use std::fmt;

/// The result of everything that can fail because of the world.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What an error means for the one who waits for a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ErrorKind {
    /// A flag or the configuration is wrong.
    Usage,
    /// An input, a build, a bench or the network failed, so there is no verdict.
    Judge,
    /// No baseline, no common benchmark, empty input.
    NothingToCompare,
    /// The environments differ in a hard part.
    NotComparable,
    /// Somebody stopped the work.
    Interrupted,
}

impl ErrorKind {
    /// The exit code of the process.
    pub fn exit_code(self) -> u8 {
        match self {
            ErrorKind::Usage => 2,
            ErrorKind::Judge | ErrorKind::Interrupted => 1,
            ErrorKind::NothingToCompare => 3,
            ErrorKind::NotComparable => 4,
        }
    }
}

/// Something of the world that went wrong. Messages are lower-case fragments which name the file and line or
/// key, and end with what to do; they are shown from the outside in, joined by colons.
///
/// ```
/// use pacegate::error::{Context, Error, ErrorKind};
/// let error = Err::<(), _>(Error::judge("line 3: cut off; measure again"))
///     .context(|| "evidence.jsonl".into())
///     .unwrap_err();
/// assert_eq!(error.to_string(), "evidence.jsonl: line 3: cut off; measure again");
/// assert_eq!((error.kind(), error.kind().exit_code()), (ErrorKind::Judge, 1));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    /// Innermost first.
    messages: Vec<String>,
}

impl Error {
    /// An error of a kind.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error { kind, messages: vec![message.into()] }
    }

    /// A flag or the configuration is wrong.
    pub fn usage(message: impl Into<String>) -> Self {
        Error::new(ErrorKind::Usage, message)
    }

    /// An input, a build or a bench failed, so there is no verdict.
    pub fn judge(message: impl Into<String>) -> Self {
        Error::new(ErrorKind::Judge, message)
    }

    /// What it means.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Says around what this happened.
    #[must_use]
    pub fn within(mut self, message: impl Into<String>) -> Self {
        self.messages.push(message.into());
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (depth, message) in self.messages.iter().rev().enumerate() {
            if depth > 0 {
                f.write_str(": ")?;
            }
            f.write_str(message)?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Error::judge(error.to_string())
    }
}

/// Says around what a failure happened.
pub trait Context<T> {
    /// Puts a message in front of the error, which is only made when there is one.
    ///
    /// # Errors
    ///
    /// When `self` is one.
    fn context(self, message: impl FnOnce() -> String) -> Result<T>;
}

impl<T, E: Into<Error>> Context<T> for Result<T, E> {
    fn context(self, message: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|error| error.into().within(message()))
    }
}
