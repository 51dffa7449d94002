//! Escapes of surrogates. Programs whose strings are UTF-16 write half of a character if they cut a text inside of it.

/// A half of a character outside of the Basic Multilingual Plane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Half {
    /// The first half, U+D800 to U+DBFF.
    High,
    /// The second half, U+DC00 to U+DFFF.
    Low,
}

/// An escape of a surrogate without its other half.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Surrogate {
    /// The offset of its backslash, in bytes. The escape has [`Surrogate::LEN`] bytes.
    pub(crate) at: usize,
    /// The half.
    pub(crate) half: Half,
    /// The code unit.
    pub(crate) unit: u16,
}

impl Surrogate {
    /// The length of an escape, in bytes.
    pub(crate) const LEN: usize = r"\uxxxx".len();
}

/// Returns the unpaired surrogates of a JSON text, in order.
pub(crate) fn unpaired(json: &str) -> impl Iterator<Item = Surrogate> + '_ {
    let (bytes, mut at) = (json.as_bytes(), 0);
    std::iter::from_fn(move || {
        loop {
            at += bytes.get(at..)?.iter().position(|byte| *byte == b'\\')?;
            let Some((half, unit)) = escaped(bytes, at) else {
                // An escape of another kind: a backslash and at least one byte.
                at += 2;
                continue;
            };
            let start = at;
            at += Surrogate::LEN;
            if half == Half::High && matches!(escaped(bytes, at), Some((Half::Low, _))) {
                at += Surrogate::LEN;
                continue;
            }
            return Some(Surrogate { at: start, half, unit });
        }
    })
}

/// Returns whether a JSON text has an unpaired surrogate.
#[must_use]
pub fn has_unpaired(json: &str) -> bool {
    unpaired(json).next().is_some()
}

/// Reads an escape at an offset, if it is one of a surrogate.
fn escaped(bytes: &[u8], at: usize) -> Option<(Half, u16)> {
    let digits = bytes.get(at..at + Surrogate::LEN)?.strip_prefix(br"\u")?;
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let unit = u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    match unit {
        0xd800..=0xdbff => Some((Half::High, unit)),
        0xdc00..=0xdfff => Some((Half::Low, unit)),
        _ => None,
    }
}

/// Returns the text with U+FFFD for each unpaired surrogate, or `None` if it has none. The length stays the same.
pub(crate) fn replaced(json: &str) -> Option<String> {
    let (mut repaired, mut copied) = (String::new(), 0);
    for surrogate in unpaired(json) {
        repaired.push_str(&json[copied..surrogate.at]);
        repaired.push_str(r"\ufffd");
        copied = surrogate.at + Surrogate::LEN;
    }
    if copied == 0 {
        return None;
    }
    repaired.push_str(&json[copied..]);
    Some(repaired)
}
