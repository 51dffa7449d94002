//! The options of the calls that work with facts: `{root?, namespace?, now?}`, and `limit?` where facts are recalled.

use std::sync::Arc;

use base::data::Data;

use super::record::known_keys;
use super::{FactCode, FactError, FactLocation, moment};

/// The options of a call beside its facts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// The folder of namespaces.
    pub root: Option<Arc<str>>,
    /// The namespace.
    pub namespace: Option<Arc<str>>,
    /// The present, in milliseconds since 1970-01-01 UTC.
    pub now_ms: Option<u64>,
    /// The maximum number of facts.
    pub limit: Option<usize>,
}

impl Options {
    /// Reads them strictly; `limit` only where facts are recalled.
    ///
    /// # Errors
    /// Unknown keys, what does not fit.
    pub fn read(data: &Data, recalls: bool) -> Result<Options, FactError> {
        if data.is_nil() {
            return Ok(Options::default());
        }
        let keys: &[&'static str] =
            if recalls { &["root", "namespace", "now", "limit"] } else { &["root", "namespace", "now"] };
        known_keys(data, "the options", "", keys)?;
        let text = |key: &str| match data.get(key) {
            Data::Nil => Ok(None),
            Data::Str(text) if !text.is_empty() => Ok(Some(text.clone())),
            other => Err(FactError::wrong(key, "a string that is not empty", other)),
        };
        let namespace = text("namespace")?;
        namespace.as_deref().map_or(Ok(()), FactLocation::check)?;
        let limit = match data.get("limit") {
            Data::Nil => None,
            limit => {
                Some(limit.as_int().and_then(|n| usize::try_from(n).ok()).filter(|n| *n > 0).ok_or_else(|| {
                    FactError::new(FactCode::Shape, "limit", format!("`limit` must be an integer above 0, got {limit}"))
                        .help("omit it to get all matching facts")
                })?)
            }
        };
        Ok(Options { root: text("root")?, namespace, now_ms: moment(data.get("now"), "now")?, limit })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_strictly() {
        let read = |json: &str| Options::read(&Data::from_json(json).unwrap(), true);
        assert_eq!(read("null").unwrap(), Options::default());
        let all = read(r#"{"root":"r","namespace":"a/b","now":"1970-01-01T00:00:01Z","limit":3}"#).unwrap();
        assert_eq!((all.root.as_deref(), all.namespace.as_deref()), (Some("r"), Some("a/b")));
        assert_eq!((all.now_ms, all.limit), (Some(1000), Some(3)));
        for (json, field) in [
            (r#"{"rot":"r"}"#, "rot"),
            (r#"{"root":""}"#, "root"),
            (r#"{"root":7}"#, "root"),
            (r#"{"namespace":"../x"}"#, "namespace"),
            (r#"{"now":"soon"}"#, "now"),
            (r#"{"limit":0}"#, "limit"),
            (r#"{"limit":1.5}"#, "limit"),
            ("[]", ""),
        ] {
            assert_eq!(read(json).unwrap_err().field, field, "{json}");
        }
        let limited = Data::from_json(r#"{"limit":1}"#).unwrap();
        assert_eq!(
            Options::read(&limited, false).unwrap_err().field,
            "limit",
            "nothing is limited where nothing is recalled"
        );
    }
}
