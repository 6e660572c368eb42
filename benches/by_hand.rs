//! JSON by hand, for types known in advance: the bound that the general libraries are held against.
//!
//! The reader accepts the grammar of RFC 8259 as far as objects, arrays, strings and whole numbers
//! go: white space anywhere, keys in any order, every escape with surrogate pairs, UTF-8 checked.
//! So it does the work of a library, and not a shortcut that only this document allows. It answers
//! `None` where a library would answer an error, also for a field that it was not told of.

#![allow(dead_code, reason = "each bench target compiles this module and uses a part of it")]

use std::borrow::Cow;

/// Whether a byte stands for itself inside a string.
static PLAIN: [bool; 256] = {
    let mut plain = [true; 256];
    let mut control = 0;
    while control < b' ' {
        plain[control as usize] = false;
        control += 1;
    }
    plain[b'"' as usize] = false;
    plain[b'\\' as usize] = false;
    plain
};

/// Reads one document from its start to its end.
pub(crate) struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    /// A reader at the start of `document`, which must be UTF-8.
    pub(crate) fn new(document: &'a [u8]) -> Option<Self> {
        Some(Reader { text: std::str::from_utf8(document).ok()?, at: 0 })
    }

    /// Succeeds if nothing but white space is left.
    pub(crate) fn end(&mut self) -> Option<()> {
        self.next_token().is_none().then_some(())
    }

    /// Reads an object and calls `field` at each value, with its key.
    pub(crate) fn object(
        &mut self,
        mut field: impl FnMut(&mut Self, &str) -> Option<()>,
    ) -> Option<()> {
        self.take(b'{')?;
        if self.take(b'}').is_some() {
            return Some(());
        }
        loop {
            let key = self.string()?;
            self.take(b':')?;
            field(self, &key)?;
            if self.take(b',').is_none() {
                return self.take(b'}');
            }
        }
    }

    /// Reads an array and calls `item` at each value.
    pub(crate) fn array(&mut self, mut item: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.take(b'[')?;
        if self.take(b']').is_some() {
            return Some(());
        }
        loop {
            item(self)?;
            if self.take(b',').is_none() {
                return self.take(b']');
            }
        }
    }

    /// Reads a string; borrows it from the document where it holds no escape.
    pub(crate) fn string(&mut self) -> Option<Cow<'a, str>> {
        self.take(b'"')?;
        let text = self.text;
        let start = self.at;
        let mut unescaped = String::new();
        loop {
            let run = self.at;
            let length =
                text.as_bytes()[run..].iter().position(|&byte| !PLAIN[usize::from(byte)])?;
            self.at = run + length + 1;
            let plain = &text[run..run + length];
            match text.as_bytes()[run + length] {
                b'"' if run == start => return Some(Cow::Borrowed(plain)),
                b'"' => return Some(Cow::Owned(unescaped + plain)),
                b'\\' => {
                    unescaped.push_str(plain);
                    unescaped.push(self.escape()?);
                }
                _ => return None,
            }
        }
    }

    /// Reads a whole number.
    pub(crate) fn integer(&mut self) -> Option<i64> {
        let minus = self.take(b'-').is_some();
        let digits = &self.text.as_bytes()[self.at..];
        let length = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if length == 0 || (length > 1 && digits[0] == b'0') {
            return None;
        }
        self.at += length;
        // Negative, since the smallest number has no positive counterpart.
        let negative = digits[..length].iter().try_fold(0_i64, |number, digit| {
            number.checked_mul(10)?.checked_sub(i64::from(digit - b'0'))
        })?;
        if minus { Some(negative) } else { negative.checked_neg() }
    }

    fn escape(&mut self) -> Option<char> {
        let byte = *self.text.as_bytes().get(self.at)?;
        self.at += 1;
        match byte {
            b'"' | b'\\' | b'/' => Some(char::from(byte)),
            b'b' => Some('\u{8}'),
            b'f' => Some('\u{c}'),
            b'n' => Some('\n'),
            b'r' => Some('\r'),
            b't' => Some('\t'),
            b'u' => self.code_point(),
            _ => None,
        }
    }

    fn code_point(&mut self) -> Option<char> {
        let unit = self.four_hex_digits()?;
        if !(0xD800..0xDC00).contains(&unit) {
            return char::from_u32(unit);
        }
        let rest = self.text.get(self.at..)?;
        self.at += rest.starts_with("\\u").then_some(2)?;
        let low = self.four_hex_digits().filter(|low| (0xDC00..0xE000).contains(low))?;
        char::from_u32(0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00))
    }

    fn four_hex_digits(&mut self) -> Option<u32> {
        let digits = self.text.as_bytes().get(self.at..self.at + 4)?;
        self.at += 4;
        digits.iter().try_fold(0, |unit, &digit| Some(unit * 16 + char::from(digit).to_digit(16)?))
    }

    fn take(&mut self, token: u8) -> Option<()> {
        (self.next_token()? == token).then(|| self.at += 1)
    }

    fn next_token(&mut self) -> Option<u8> {
        loop {
            let byte = *self.text.as_bytes().get(self.at)?;
            if !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
                return Some(byte);
            }
            self.at += 1;
        }
    }
}

/// Writes `text` in quotes, with the escapes that JSON demands and no others.
pub(crate) fn write_string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut run = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        if PLAIN[usize::from(byte)] {
            continue;
        }
        out.extend_from_slice(&bytes[run..at]);
        run = at + 1;
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0x08 => out.extend_from_slice(b"\\b"),
            0x0c => out.extend_from_slice(b"\\f"),
            _ => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
        }
    }
    out.extend_from_slice(&bytes[run..]);
    out.push(b'"');
}

/// Writes a whole number.
pub(crate) fn write_integer(out: &mut Vec<u8>, number: i64) {
    // The longest one, the smallest of all, has 19 digits and a sign.
    let mut digits = [0; 20];
    let mut at = digits.len();
    let mut rest = number.unsigned_abs();
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if number < 0 {
        at -= 1;
        digits[at] = b'-';
    }
    out.extend_from_slice(&digits[at..]);
}
