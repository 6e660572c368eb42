//! Names that become part of a route: checked where they come in, so that none can lead a request, which carries the
//! token, anywhere else.

use std::fmt;
use std::str::FromStr;

/// `owner/name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository {
    owner: String,
    name: String,
}

/// The full name of a commit: 40 hexadecimal digits, or 64.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sha(String);

/// The path of a file within a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePath(String);

/// The name of a check or a label: visible ASCII and blanks between, at most 50 characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Title(String);

impl Repository {
    /// Who owns it.
    pub fn owner(&self) -> &str {
        &self.owner
    }
}

impl FromStr for Repository {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_name = |name: &str| {
            (1..=100).contains(&name.len())
                && !name.starts_with('.')
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
        };
        match text.split_once('/') {
            Some((owner, name)) if is_name(owner) && is_name(name) => {
                Ok(Repository { owner: owner.into(), name: name.into() })
            }
            _ => Err(format!("`{}` is no repository; write owner/name", text.escape_debug())),
        }
    }
}

impl FromStr for Sha {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let hex = text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
        if hex && [40, 64].contains(&text.len()) {
            return Ok(Sha(text.to_owned()));
        }
        Err(format!("`{}` is no commit; it takes 40 hexadecimal digits", text.escape_debug()))
    }
}

impl FromStr for FilePath {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_part = |part: &str| {
            !part.is_empty() && part != "." && part != ".." && !part.contains(['\\', '\0'])
        };
        let fits = text.len() <= 500 && !text.chars().any(char::is_control);
        if fits && text.split('/').all(is_part) {
            return Ok(FilePath(text.to_owned()));
        }
        Err(format!(
            "`{}` is no path within a repository; write for example pacegate.yaml",
            text.escape_debug()
        ))
    }
}

impl FromStr for Title {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let visible = text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
        if (1..=50).contains(&text.len()) && visible && text.trim() == text {
            return Ok(Title(text.to_owned()));
        }
        Err(format!("`{}` is no name; write 1 to 50 letters and digits", text.escape_debug()))
    }
}

impl FilePath {
    /// As part of a route.
    pub(super) fn encoded(&self) -> String {
        self.0.split('/').map(encode).collect::<Vec<_>>().join("/")
    }
}

/// A value of a query, or one part of a path.
pub(super) fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

impl fmt::Display for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.owner, self.name)
    }
}

macro_rules! shown {
    ($($name:ident),*) => {$(
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }
    )*};
}

shown!(Sha, FilePath, Title);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_leads_elsewhere() {
        for text in ["o/r", "a-b/c.d_e", "O1/R2"] {
            assert_eq!(text.parse::<Repository>().unwrap().to_string(), text);
        }
        for text in
            ["", "o", "o/", "/r", "../r", "o/..", "o/r/x", "o/r?y=1", "o/r#", "o%2f/r", "o/r\n"]
        {
            assert!(text.parse::<Repository>().is_err(), "{text}");
        }
        let sha = "0123456789abcdef0123456789abcdef01234567";
        assert!(sha.parse::<Sha>().is_ok());
        for text in [&sha[1..], &sha.to_uppercase(), &format!("{sha}0"), "main", "../x"] {
            assert!(text.parse::<Sha>().is_err(), "{text}");
        }
        for text in ["pacegate.yaml", ".github/workflows/bench.yml", "a b/ü.yaml"] {
            assert!(text.parse::<FilePath>().is_ok(), "{text}");
        }
        for text in ["", "/etc/passwd", "a/../b", "..", "a//b", "a\\b", "a\nb", "./a"] {
            assert!(text.parse::<FilePath>().is_err(), "{text}");
        }
        for text in ["", " a", "a\nb", "ä", &"a".repeat(51)] {
            assert!(text.parse::<Title>().is_err(), "{text}");
        }
    }

    #[test]
    fn everything_special_is_encoded() {
        let path: FilePath = "a b/ü?#%.yaml".parse().unwrap();
        assert_eq!(path.encoded(), "a%20b/%C3%BC%3F%23%25.yaml");
    }
}
