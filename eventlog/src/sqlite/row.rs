//! Records as rows: payload and headers are JSON.

use rusqlite::Row;

use base::data::Data;

/// Writes a value as JSON into a reused buffer.
pub(super) fn encode<'a>(data: &Data, buffer: &'a mut Vec<u8>) -> &'a str {
    buffer.clear();
    let written = serde_json::to_writer(&mut *buffer, data).is_ok();
    match std::str::from_utf8(buffer) {
        Ok(text) if written => text,
        // Neither happens: keys are strings and the writer does not fail.
        _ => "null",
    }
}

/// Reads the output of [`encode`]. The depth limit is that of values in scripts.
pub(super) fn decode(text: &str) -> Result<Data, String> {
    Data::from_nested_json(text, Data::MAX_DEPTH).map_err(|error| error.message)
}

/// Reads a number of the file, which is never below 0.
pub(super) fn number(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(column).map(|number| u64::try_from(number).unwrap_or(0))
}

/// Converts a number to its form in the file.
pub(super) fn stored(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deep(levels: usize) -> Data {
        (0..levels).fold(Data::Nil, |inner, _| Data::list([inner]))
    }

    #[test]
    fn what_is_written_is_read_again() {
        let mut buffer = Vec::new();
        let data = Data::dict([("a", Data::from(1.0)), ("b", Data::str("\"[{\\ \u{0} é")), ("c", deep(400))]);
        assert_eq!(decode(encode(&data, &mut buffer)).unwrap(), data);
        assert_eq!(decode(encode(&Data::Nil, &mut buffer)).unwrap(), Data::Nil);
    }

    #[test]
    fn a_file_that_nests_too_deep_is_an_error_and_no_overflow() {
        assert!(decode(&"[".repeat(1_000_000)).is_err());
        assert!(decode("[1] x").is_err());
    }
}
