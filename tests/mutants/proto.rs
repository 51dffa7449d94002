//! Changes of protobuf messages by their fields: missing, repeated and unknown ones, other types, wrong lengths.

use crate::random::Random;
use std::ops::Range;

/// A field: where it is, where its value is, and its type on the wire.
struct Field {
    whole: Range<usize>,
    value: Range<usize>,
    wire_type: u8,
}

fn varint(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.get(*at)?;
        *at += 1;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

fn encoded(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let low = u8::try_from(value & 0x7f).unwrap_or(0);
        value >>= 7;
        bytes.push(if value == 0 { low } else { low | 0x80 });
        if value == 0 {
            return bytes;
        }
    }
}

/// Returns the fields of a message; `None` if the bytes are not one.
fn fields(bytes: &[u8]) -> Option<Vec<Field>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        let tag = varint(bytes, &mut at)?;
        let mut value = at;
        match tag & 7 {
            0 => drop(varint(bytes, &mut at)?),
            1 => at += 8,
            2 => {
                let length = usize::try_from(varint(bytes, &mut at)?).ok()?;
                value = at;
                at = at.checked_add(length)?;
            }
            5 => at += 4,
            _ => return None,
        }
        if at > bytes.len() || tag >> 3 == 0 {
            return None;
        }
        found.push(Field { whole: start..at, value: value..at, wire_type: u8::try_from(tag & 7).unwrap_or(0) });
    }
    Some(found)
}

/// Makes one change. `donor` is another message.
pub(crate) fn changed(random: &mut Random, message: &[u8], donor: &[u8]) -> Vec<u8> {
    let own = fields(message).unwrap_or_default();
    let Some(field) = random.one_of(&own) else { return donor.to_vec() };
    let whole = &message[field.whole.clone()];
    let (before, after) = (&message[..field.whole.start], &message[field.whole.end..]);
    let put = |middle: &[u8]| [before, middle, after].concat();
    let tag = varint(whole, &mut 0).unwrap_or(0);
    if field.wire_type == 2 && !random.one_in(3) {
        let value = inside(random, &message[field.value.clone()], donor);
        return put(&[encoded(tag), encoded(value.len() as u64), value].concat());
    }
    match random.below(8) {
        0 => put(b""),
        1 => put(&whole.repeat([2, 300][random.below(2)])),
        2 => {
            let theirs = fields(donor).unwrap_or_default();
            put(random.one_of(&theirs).map_or(&b""[..], |field| &donor[field.whole.clone()]))
        }
        3 => put(&[encoded(u64::MAX >> random.below(60)), message[field.value.clone()].to_vec()].concat()),
        // Another type, and numbers that are too large.
        4 => put(&[encoded((tag & !7) | random.below(8) as u64), message[field.value.clone()].to_vec()].concat()),
        5 => put(&[encoded(tag & !7), encoded(u64::MAX >> random.below(40))].concat()),
        6 => put(&[encoded(tag & !7), vec![0xff; 11]].concat()),
        // A length beyond the end.
        _ => {
            put(&[encoded((tag & !7) | 2), encoded([1 << 20, 1 << 31, u64::MAX][random.below(3)]), whole.to_vec()]
                .concat())
        }
    }
}

/// Changes a text, bytes or a message in a field.
fn inside(random: &mut Random, value: &[u8], donor: &[u8]) -> Vec<u8> {
    match (fields(value), random.below(6)) {
        (Some(fields), 0..=3) if !fields.is_empty() => changed(random, value, donor),
        (Some(fields), 4) if !fields.is_empty() => {
            // A message in itself, again and again.
            let tag = encoded(varint(value, &mut 0).unwrap_or(0) & !7 | 2);
            let depth = [5, 90, 150, 2_000][random.below(4)];
            (0..depth).fold(value.to_vec(), |inner, _| [&tag[..], &encoded(inner.len() as u64), &inner].concat())
        }
        (_, 5) => Vec::new(),
        _ => [&b"\xff\xfe"[..], b"\0", b"", b"99999999999999999999", "é\u{202e}".as_bytes(), &[b'x'; 5_000]]
            [random.below(6)]
        .to_vec(),
    }
}
