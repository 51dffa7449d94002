//! A record from a dict: what [`Record::to_data`] made, for logs that are kept as JSON lines.

use crate::data::Data;

use super::Record;

impl Record {
    /// Reads a record. A log that was written manually may lack numbers; `cursor` then replaces them.
    ///
    /// # Errors
    /// Describes the missing part, as the end of a sentence.
    pub fn from_data(data: &Data, cursor: u64) -> Result<Record, String> {
        if data.as_dict().is_none() {
            return Err(format!("a record must be a dict, got {}", data.type_name()));
        }
        let text = |field: &str| match data.get(field) {
            Data::Str(text) if !text.is_empty() => Ok(text.clone()),
            Data::Nil => Err(format!("`{field}` is missing")),
            _ => Err(format!("`{field}` is not a string")),
        };
        let number = |field: &str, otherwise: u64| match data.get(field) {
            Data::Nil => Ok(otherwise),
            given => given
                .as_int()
                .and_then(|number| u64::try_from(number).ok())
                .ok_or_else(|| format!("`{field}` is not a number of at least 0")),
        };
        Ok(Record {
            topic: text("topic")?,
            kind: text("kind")?,
            payload: data.get("payload").clone().into(),
            headers: data.get("headers").clone(),
            occurred_at_ms: number("occurred_at_ms", 0)?,
            id: number("id", cursor)?,
            cursor: number("cursor", cursor)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let record = Record {
            topic: "t".into(),
            kind: "k".into(),
            payload: Data::dict([("a", Data::from(1))]).into(),
            headers: Data::Nil,
            occurred_at_ms: 5,
            id: 2,
            cursor: 7,
        };
        assert_eq!(Record::from_data(&record.to_data(), 99).unwrap(), record);
        let least = Data::from_json(r#"{"topic":"t","kind":"k"}"#).unwrap();
        assert_eq!(Record::from_data(&least, 3).unwrap().cursor, 3);
    }

    #[test]
    fn what_is_missing_is_named() {
        for (json, part) in [
            ("[]", "got list"),
            ("{}", "`topic` is missing"),
            (r#"{"topic":1}"#, "`topic` is not a string"),
            (r#"{"topic":"t"}"#, "`kind` is missing"),
            (r#"{"topic":"t","kind":"k","cursor":-1}"#, "`cursor` is not a number"),
        ] {
            let error = Record::from_data(&Data::from_json(json).unwrap(), 1).unwrap_err();
            assert!(error.contains(part), "{json}: {error}");
        }
    }
}
