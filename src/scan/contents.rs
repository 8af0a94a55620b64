//! A file's bytes as text, read once, or why not.

use std::io::Read;
use std::path::Path;

use super::recorded;
use crate::facts::words::{grouped, in_words};

/// Bytes of a file that tell what it begins as.
const HEAD: u64 = 1024;

/// What a file holds.
#[derive(Clone)]
pub enum Contents {
    /// Text; bytes that are no UTF-8 have become U+FFFD.
    Text(String),
    /// Not to be read. `matters`: whether to say so even of a file that nobody named.
    Unreadable { message: String, matters: bool, size: u64 },
}

/// Reads a file of at most `max` bytes. `speaks`: whether a text is worth a word if it cannot be read.
pub fn read(path: &Path, max: u64, speaks: impl Fn(&str) -> bool) -> Contents {
    let mut bytes = Vec::new();
    // One byte more than allowed tells a file that is too large, whatever its metadata says.
    let most = max.saturating_add(1);
    let read = std::fs::File::open(path).and_then(|file| {
        // With room for all of it, it is read at once; the byte more is the end of it.
        let size = file.metadata().map_or(0, |about| about.len().saturating_add(1).min(most));
        bytes.reserve(usize::try_from(size).unwrap_or_default());
        file.take(most).read_to_end(&mut bytes)
    });
    match read {
        Err(error) => Contents::Unreadable { message: in_words(&error), matters: true, size: 0 },
        Ok(_) if bytes.len() as u64 > max => {
            let size = std::fs::metadata(path).map_or(bytes.len() as u64, |about| about.len());
            too_large(size.max(bytes.len() as u64), max)
        }
        Ok(_) => decode(bytes, speaks),
    }
}

/// Whether a file begins as a file of facts does.
pub fn begins_as_facts(path: &Path) -> bool {
    // What is no regular file can be read once only.
    let is_file = std::fs::metadata(path).is_ok_and(|about| about.is_file());
    let mut head = Vec::new();
    let read = || std::fs::File::open(path)?.take(HEAD).read_to_end(&mut head);
    is_file && { read }().is_ok() && recorded::begins(&head)
}

/// The same of bytes that are there already.
pub fn given(bytes: &[u8], max: u64, speaks: impl Fn(&str) -> bool) -> Contents {
    if bytes.len() as u64 > max { too_large(bytes.len() as u64, max) } else { decode(bytes.to_vec(), speaks) }
}

/// A file of `size` bytes is larger than `max`.
fn too_large(size: u64, max: u64) -> Contents {
    let mib = |bytes: u64| match bytes < 1 << 20 {
        true => format!("{} bytes", grouped(u128::from(bytes))),
        false => format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20)),
    };
    let message = format!(
        "it has {}, and more than {} is not read; `max-file-size` under [scan] in retrylint.toml raises the limit",
        mib(size),
        mib(max)
    );
    Contents::Unreadable { message, matters: true, size }
}

/// Bytes as text.
fn decode(bytes: Vec<u8>, speaks: impl Fn(&str) -> bool) -> Contents {
    let is_utf16 = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
    if is_utf16 {
        let message = "it is UTF-16; save it as UTF-8".to_string();
        return Contents::Unreadable { message, matters: speaks(&utf16(&bytes)), size: bytes.len() as u64 };
    }
    Contents::Text(
        String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()),
    )
}

/// UTF-16 as text, as far as it is text.
fn utf16(bytes: &[u8]) -> String {
    let is_little = bytes.starts_with(&[0xff, 0xfe]);
    let units = bytes
        .as_chunks::<2>()
        .0
        .iter()
        .map(|pair| if is_little { u16::from_le_bytes(*pair) } else { u16::from_be_bytes(*pair) });
    char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}
