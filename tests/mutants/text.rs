//! Changes of a text by its bytes, tokens and lines, for every format that is written as text.

use crate::random::Random;
use std::ops::Range;

/// Words that are at the edge of what a format can say.
const EDGES: &[&[u8]] = &[
    b"9223372036854775807",
    b"-9223372036854775808",
    b"18446744073709551616",
    b"4294967296",
    b"-1",
    b"0",
    b"1e999",
    b"-0.0",
    b"NaN",
    b"99999999999999999999999999999999999999",
    b"null",
    b"nil",
    b"true",
    b"\"\"",
    b"''",
    b"[]",
    b"{}",
    b"\"\\ud800\"",
    b"\"\\u{10FFFF}\"",
    b"1970-01-01T00:00:00Z",
    b"\xf0\x9f\x98\x80",
    b"\xe2\x80\xae",
    b"\xef\xbb\xbf",
];

/// Bytes that no text contains, or that few expect.
const ODD_BYTES: &[&[u8]] = &[
    b"\xff",
    b"\xc3",
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
    b"\x00",
    b"\x1b[2J",
    b"\r",
    b"\r\n",
    b"\x7f",
    b"\xc0\xaf",
];

/// Brackets that nest, and what opens without an end.
const NESTS: &[(&[u8], &[u8])] = &[
    (b"[", b"]"),
    (b"(", b")"),
    (b"{", b"}"),
    (b"{\"a\":", b"}"),
    (b"{a = ", b"}"),
    (b"{ x -> ", b" }"),
    (b"-", b""),
    (b"!", b""),
    (b"\"${", b"}\""),
    (b"/*", b"*/"),
    (b"a.", b""),
    (b"[1, ", b"]"),
];

const DEPTHS: &[usize] = &[2, 40, 130, 300, 3_000];

/// Returns the tokens of a text: words, strings of a line, blanks, and single signs.
fn tokens(text: &[u8]) -> Vec<Range<usize>> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(&first) = text.get(at) {
        let rest = &text[at..];
        let length = match first {
            byte if is_word(byte) => rest.iter().take_while(|&&byte| is_word(byte)).count(),
            b' ' | b'\t' => rest.iter().take_while(|&&byte| byte == b' ' || byte == b'\t').count(),
            b'"' | b'\'' => string_length(rest).unwrap_or(1),
            _ => 1,
        };
        found.push(at..at + length);
        at += length;
    }
    found
}

/// Returns the length of the string that a text starts with, if it ends on its line.
fn string_length(text: &[u8]) -> Option<usize> {
    let mut escaped = false;
    for (at, &byte) in text.iter().enumerate().skip(1) {
        match byte {
            b'\n' => return None,
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            _ if byte == text[0] => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// Returns the lines of a text, with their ends.
pub(crate) fn lines(text: &[u8]) -> Vec<Range<usize>> {
    let mut start = 0;
    let ends = text.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::len);
    ends.map(|length| {
        start += length;
        start - length..start
    })
    .collect()
}

/// Returns a range of up to `most` neighbours, from the first byte to the last.
fn some(random: &mut Random, parts: &[Range<usize>], most: usize) -> Range<usize> {
    if parts.is_empty() {
        return 0..0;
    }
    let first = random.below(parts.len());
    let last = (first + random.below(most)).min(parts.len() - 1);
    parts[first].start..parts[last].end
}

fn replaced(text: &[u8], range: Range<usize>, with: &[u8]) -> Vec<u8> {
    [&text[..range.start], with, &text[range.end..]].concat()
}

/// Swaps two parts, unless they overlap.
fn swapped(text: &[u8], one: &Range<usize>, other: &Range<usize>) -> Vec<u8> {
    let (first, second) = if one.start <= other.start { (one, other) } else { (other, one) };
    if first.end > second.start {
        return text.to_vec();
    }
    let between = &text[first.end..second.start];
    [&text[..first.start], &text[second.clone()], between, &text[first.clone()], &text[second.end..]].concat()
}

/// Makes one change. `donors` are other texts of the format.
pub(crate) fn changed(random: &mut Random, text: &[u8], donors: &[Vec<u8>]) -> Vec<u8> {
    let donor = random.one_of(donors).map_or(&b""[..], Vec::as_slice);
    match random.below(10) {
        0..=3 => token_changed(random, text, donor),
        4..=6 => line_changed(random, text, donor),
        7 => nested(random, text),
        8 => byte_changed(random, text),
        _ => {
            let (own, theirs) = (random.below(text.len() + 1), random.below(donor.len() + 1));
            if random.one_in(2) { text[..own].to_vec() } else { [&text[..own], &donor[theirs..]].concat() }
        }
    }
}

fn token_changed(random: &mut Random, text: &[u8], donor: &[u8]) -> Vec<u8> {
    let own = tokens(text);
    let one = some(random, &own, 1);
    match random.below(8) {
        0 => replaced(text, some(random, &own, 4), b""),
        1 => {
            let again = text[one.clone()].repeat(if random.one_in(8) { 200 } else { 1 });
            replaced(text, one.end..one.end, &again)
        }
        2 => swapped(text, &one, &some(random, &own, 1)),
        3 | 4 => replaced(text, one, random.one_of(EDGES).unwrap_or(&EDGES[0])),
        5 => replaced(text, one, &text[some(random, &own, 2)]),
        6 => replaced(text, one.start..one.start, &donor[some(random, &tokens(donor), 4)]),
        _ => replaced(text, one, &donor[some(random, &tokens(donor), 2)]),
    }
}

fn line_changed(random: &mut Random, text: &[u8], donor: &[u8]) -> Vec<u8> {
    let (own, theirs) = (lines(text), lines(donor));
    let one = some(random, &own, 1);
    match random.below(5) {
        0 => replaced(text, some(random, &own, 3), b""),
        1 => replaced(text, one.start..one.start, &text[one.clone()]),
        2 => swapped(text, &one, &some(random, &own, 2)),
        3 => replaced(text, one.start..one.start, &donor[some(random, &theirs, 5)]),
        _ => replaced(text, one, &donor[some(random, &theirs, 2)]),
    }
}

fn nested(random: &mut Random, text: &[u8]) -> Vec<u8> {
    let own = tokens(text);
    let inside = some(random, &own, 3);
    let (open, close) = random.one_of(NESTS).unwrap_or(&NESTS[0]);
    let depth = *random.one_of(DEPTHS).unwrap_or(&2);
    let close = if random.one_in(4) { Vec::new() } else { close.repeat(depth) };
    let nested = [&open.repeat(depth), &text[inside.clone()], &close].concat();
    replaced(text, inside, &nested)
}

fn byte_changed(random: &mut Random, text: &[u8]) -> Vec<u8> {
    let at = random.below(text.len() + 1);
    let end = (at + 1).min(text.len());
    match random.below(4) {
        0 => replaced(text, at..end, b""),
        1 => replaced(text, at..end, &[u8::try_from(random.below(256)).unwrap_or(0)]),
        2 => text.get(at).map_or_else(Vec::new, |byte| replaced(text, at..end, &[byte ^ (1 << random.below(8))])),
        _ => replaced(text, at..at, random.one_of(ODD_BYTES).unwrap_or(&ODD_BYTES[0])),
    }
}

/// Makes one to four changes, none of which lets the text grow beyond `most` bytes.
pub(crate) fn mutant(random: &mut Random, text: &[u8], donors: &[Vec<u8>], most: usize) -> Vec<u8> {
    let mut text = text.to_vec();
    for _ in 0..=random.below(4) {
        let next = changed(random, &text, donors);
        if next.len() <= most {
            text = next;
        }
    }
    text
}
