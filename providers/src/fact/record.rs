//! A fact, strictly read from a script, and as the memory record that is stored.

use std::sync::Arc;

use base::data::Data;

use super::{EvidenceKind, FactCode, FactError, FactKind, moment};

/// A fact as a script hands it in.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// The kind of the claim.
    pub kind: FactKind,
    /// The claim, byte for byte.
    pub claim: Arc<str>,
    /// The confidence, from 0 to 1.
    pub confidence: f64,
    /// The evidence for the claim.
    pub evidence: Vec<Evidence>,
    /// The provenance: any data.
    pub provenance: Data,
    /// The moment from which on it no longer holds, as it was written.
    pub valid_until: Data,
}

/// A piece of evidence for a fact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// The kind of object that it refers to.
    pub kind: EvidenceKind,
    /// The reference to that object.
    pub reference: Arc<str>,
}

/// A fact as it is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Fact {
    /// Its id.
    pub id: Arc<str>,
    /// The draft as the caller passed it.
    pub draft: Draft,
    /// The time of storing, in milliseconds since 1970-01-01 UTC.
    pub recorded_at_ms: u64,
    /// The moment from which on it no longer holds.
    valid_until_ms: Option<u64>,
}

/// Reads a confidence.
///
/// # Errors
/// Fails if the value is not a number from 0 to 1.
pub fn confidence(data: &Data, field: &str) -> Result<f64, FactError> {
    data.as_float().filter(|number| (0.0..=1.0).contains(number)).ok_or_else(|| {
        FactError::new(FactCode::Confidence, field, format!("`{field}` must be a number from 0 to 1, got {data}"))
            .help("1 is certain, 0.5 is as likely as not")
    })
}

impl Draft {
    const KEYS: &[&'static str] = &["kind", "claim", "confidence", "evidence", "provenance", "valid_until"];
    /// Bytes of a claim.
    pub const MAX_CLAIM: usize = 8 << 10;
    /// Pieces of evidence.
    pub const MAX_EVIDENCE: usize = 64;
    /// Bytes of the reference of a piece of evidence.
    pub const MAX_REFERENCE: usize = 1 << 10;

    /// Reads a fact strictly.
    ///
    /// # Errors
    /// Unknown keys, missing ones, what does not fit; with the path of the field.
    pub fn from_data(data: &Data) -> Result<Draft, FactError> {
        known_keys(data, "a fact", "", Self::KEYS)?;
        moment(data.get("valid_until"), "valid_until")?;
        Ok(Draft {
            kind: FactKind::read(required(data, "kind")?, "kind")?,
            claim: text(required(data, "claim")?, "claim", Self::MAX_CLAIM)?,
            confidence: confidence(required(data, "confidence")?, "confidence")?,
            evidence: evidence(data.get("evidence"))?,
            provenance: data.get("provenance").clone(),
            valid_until: data.get("valid_until").clone(),
        })
    }
}

fn required<'a>(data: &'a Data, field: &str) -> Result<&'a Data, FactError> {
    match data.get(field) {
        Data::Nil => Err(FactError::new(FactCode::Shape, field, format!("missing `{field}` in a fact"))
            .help("write `{kind: \"decision\", claim: \"…\", confidence: 0.9}`")),
        value => Ok(value),
    }
}

/// Rejects a value that is not a dict, and keys that are not in `known`.
pub(super) fn known_keys(data: &Data, what: &str, at: &str, known: &[&'static str]) -> Result<(), FactError> {
    let Some(entries) = data.as_dict() else {
        return Err(FactError::new(FactCode::Shape, at, format!("{what} must be a dict, got {}", data.type_name())));
    };
    match entries.keys().find(|key| !known.contains(&key.as_ref())) {
        None => Ok(()),
        Some(key) => {
            let field = if at.is_empty() { key.to_string() } else { format!("{at}.{key}") };
            let error = FactError::unknown(FactCode::Shape, &field, "key", key, known);
            Err(FactError { message: format!("unknown key `{key}` in {what}"), ..error })
        }
    }
}

fn text(data: &Data, field: &str, most: usize) -> Result<Arc<str>, FactError> {
    match data {
        Data::Str(text) if text.trim().is_empty() => {
            Err(FactError::new(FactCode::Shape, field, format!("`{field}` of a fact is empty")))
        }
        Data::Str(text) if text.len() > most => {
            let message = format!("`{field}` of a fact has {} bytes; at most {most} are allowed", text.len());
            Err(FactError::new(FactCode::TooLarge, field, message)
                .help("put the long text into a file and refer to it as evidence"))
        }
        Data::Str(text) => Ok(text.clone()),
        other => Err(FactError::wrong(field, "a string", other)),
    }
}

fn evidence(data: &Data) -> Result<Vec<Evidence>, FactError> {
    let items = match data {
        Data::Nil => return Ok(Vec::new()),
        Data::List(items) => items,
        other => return Err(FactError::wrong("evidence", "a list of {kind, ref}", other)),
    };
    if items.len() > Draft::MAX_EVIDENCE {
        let message =
            format!("a fact has {} pieces of evidence; at most {} are allowed", items.len(), Draft::MAX_EVIDENCE);
        return Err(FactError::new(FactCode::TooLarge, "evidence", message).help("keep the strongest ones"));
    }
    let one = |(i, item): (usize, &Data)| {
        let at = format!("evidence.{i}");
        known_keys(item, "a piece of evidence", &at, &["kind", "ref"])?;
        let present = |key: &str| match item.get(key) {
            Data::Nil => {
                let message = format!("missing `{key}` in a piece of evidence");
                Err(FactError::new(FactCode::Shape, &at, message)
                    .help("write `{kind: \"file_range\", ref: \"src/a.rs:1-9\"}`"))
            }
            value => Ok(value),
        };
        Ok(Evidence {
            kind: EvidenceKind::read(present("kind")?, &format!("{at}.kind"))?,
            reference: text(present("ref")?, &format!("{at}.ref"), Draft::MAX_REFERENCE)?,
        })
    };
    items.iter().enumerate().map(one).collect()
}

impl Fact {
    /// The schema of its value.
    pub const SCHEMA: &str = "harn.fact.v1";

    /// Makes a fact of a draft.
    pub fn new(id: Arc<str>, draft: Draft, recorded_at_ms: u64) -> Fact {
        // It was read when the draft was.
        let valid_until_ms = moment(&draft.valid_until, "valid_until").ok().flatten();
        Fact { id, draft, recorded_at_ms, valid_until_ms }
    }

    /// Returns what is equal in equal facts: the kind and the claim.
    #[must_use]
    pub(super) fn content(&self) -> (FactKind, &Arc<str>) {
        (self.draft.kind, &self.draft.claim)
    }

    /// `fact:<kind>:<id>`
    #[must_use]
    pub fn key(&self) -> String {
        format!("fact:{}:{}", self.draft.kind, self.id)
    }

    /// Tags by which it is found: kind, and each piece of evidence with and without the kind.
    #[must_use]
    pub fn tags(&self) -> Vec<String> {
        let kind = self.draft.kind;
        let mut tags = vec!["fact".to_owned(), format!("fact:{kind}")];
        for Evidence { kind: evidence, reference } in &self.draft.evidence {
            tags.push(format!("fact:evidence:{evidence}:{reference}"));
            tags.push(format!("fact:{kind}:evidence:{evidence}:{reference}"));
        }
        let mut distinct: Vec<String> = Vec::with_capacity(tags.len());
        for tag in tags {
            if !distinct.contains(&tag) {
                distinct.push(tag);
            }
        }
        distinct
    }

    /// Whether it still holds.
    #[must_use]
    pub fn holds_at(&self, now_ms: u64) -> bool {
        self.valid_until_ms.is_none_or(|until| now_ms < until)
    }

    /// Returns the fact as a memory record: `{_type, id, key, tags, value}`.
    #[must_use]
    pub fn to_record(&self) -> Data {
        let draft = &self.draft;
        let evidence =
            |item: &Evidence| Data::dict([("kind", Data::from(item.kind.as_str())), ("ref", (&item.reference).into())]);
        let value = Data::dict([
            ("schema", Data::from(Self::SCHEMA)),
            ("kind", draft.kind.as_str().into()),
            ("claim", (&draft.claim).into()),
            ("confidence", draft.confidence.into()),
            ("evidence", draft.evidence.iter().map(evidence).collect()),
            ("provenance", draft.provenance.clone()),
            ("recorded_at", self.recorded_at_ms.into()),
            ("valid_until", draft.valid_until.clone()),
        ]);
        Data::dict([
            ("_type", Data::from("memory_record")),
            ("id", (&self.id).into()),
            ("key", self.key().into()),
            ("tags", self.tags().into_iter().map(Data::from).collect()),
            ("value", value),
        ])
    }

    /// Reads a memory record back; nothing where its value is of another schema.
    pub(super) fn from_record(record: &Data) -> Result<Option<Fact>, FactError> {
        let value = record.get("value");
        if value.get("schema").as_str() != Some(Self::SCHEMA) {
            return Ok(None);
        }
        let draft = Data::dict(Draft::KEYS.iter().map(|key| (*key, value.get(key).clone())));
        let id =
            record.get("id").as_shared_str().ok_or_else(|| FactError::wrong("id", "a string", record.get("id")))?;
        let recorded_at_ms = moment(value.get("recorded_at"), "recorded_at")?.unwrap_or(0);
        Ok(Some(Fact::new(id, Draft::from_data(&draft)?, recorded_at_ms)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<Draft, FactError> {
        Draft::from_data(&Data::from_json(json).unwrap())
    }

    #[test]
    fn a_fact_becomes_a_record_and_comes_back() {
        let draft = read(
            r#"{"kind":"Claim","claim":" Two  spaces stay. ","confidence":1,"valid_until":"2030-01-01","provenance":{"by":"me"},
                "evidence":[{"kind":"FileRange","ref":"README.md:1-3"},{"kind":"FileRange","ref":"README.md:1-3"}]}"#,
        )
        .unwrap();
        let fact = Fact::new("7".into(), draft, 1000);
        let record = fact.to_record();
        assert_eq!(record.get("_type").as_str(), Some("memory_record"));
        assert_eq!(record.get("key").as_str(), Some("fact:claim:7"));
        assert_eq!(
            record.get("tags").to_json(),
            r#"["fact","fact:claim","fact:evidence:file_range:README.md:1-3","fact:claim:evidence:file_range:README.md:1-3"]"#
        );
        assert_eq!(record.at("value.schema").as_str(), Some("harn.fact.v1"));
        assert_eq!(record.at("value.claim").as_str(), Some(" Two  spaces stay. "));
        let again = Fact::from_record(&Data::from_json(&record.to_json()).unwrap()).unwrap().unwrap();
        assert_eq!(again, fact);
        assert!(again.holds_at(1_893_455_999_999) && !again.holds_at(1_893_456_000_000));
        assert_eq!(Fact::from_record(&Data::from_json(r#"{"value":{"schema":"other"}}"#).unwrap()), Ok(None));
    }

    #[test]
    fn every_fault_names_its_field() {
        let whole = |part: &str| format!(r#"{{"kind":"claim","claim":"c","confidence":0.5{part}}}"#);
        for (json, code, field) in [
            ("[]".to_owned(), FactCode::Shape, ""),
            (r#"{"claim":"c","confidence":1}"#.to_owned(), FactCode::Shape, "kind"),
            (r#"{"kind":"claim","confidence":1}"#.to_owned(), FactCode::Shape, "claim"),
            (r#"{"kind":"claim","claim":"c"}"#.to_owned(), FactCode::Shape, "confidence"),
            (r#"{"kind":"rumour","claim":"c","confidence":1}"#.to_owned(), FactCode::Kind, "kind"),
            (r#"{"kind":"claim","claim":" \n","confidence":1}"#.to_owned(), FactCode::Shape, "claim"),
            (r#"{"kind":"claim","claim":7,"confidence":1}"#.to_owned(), FactCode::Shape, "claim"),
            (r#"{"kind":"claim","claim":"c","confidence":1.5}"#.to_owned(), FactCode::Confidence, "confidence"),
            (r#"{"kind":"claim","claim":"c","confidence":"high"}"#.to_owned(), FactCode::Confidence, "confidence"),
            (whole(r#","evidense":[]"#), FactCode::Shape, "evidense"),
            (whole(r#","evidence":{}"#), FactCode::Shape, "evidence"),
            (whole(r#","evidence":["a"]"#), FactCode::Shape, "evidence.0"),
            (whole(r#","evidence":[{"kind":"file_range"}]"#), FactCode::Shape, "evidence.0"),
            (whole(r#","evidence":[{"kind":"hearsay","ref":"a"}]"#), FactCode::Kind, "evidence.0.kind"),
            (whole(r#","evidence":[{"kind":"file_range","ref":""}]"#), FactCode::Shape, "evidence.0.ref"),
            (whole(r#","evidence":[{"kind":"file_range","ref":"a","line":3}]"#), FactCode::Shape, "evidence.0.line"),
            (whole(r#","valid_until":"soon""#), FactCode::Shape, "valid_until"),
        ] {
            let error = read(&json).unwrap_err();
            assert_eq!((error.code, error.field.as_str()), (code, field), "{json}: {error}");
        }
        assert_eq!(read(&whole(r#","evidense":[]"#)).unwrap_err().suggestion.as_deref(), Some("evidence"));
    }

    #[test]
    fn sizes_are_bounded() {
        let draft = |claim: usize, count: usize, reference: usize| {
            let item = Data::dict([("kind", Data::from("file_range")), ("ref", "r".repeat(reference).into())]);
            Draft::from_data(&Data::dict([
                ("kind", Data::from("claim")),
                ("claim", "c".repeat(claim).into()),
                ("confidence", 1.into()),
                ("evidence", Data::list(vec![item; count])),
            ]))
        };
        assert!(draft(Draft::MAX_CLAIM, Draft::MAX_EVIDENCE, Draft::MAX_REFERENCE).is_ok());
        for (claim, count, reference, field) in [
            (Draft::MAX_CLAIM + 1, 1, 1, "claim"),
            (1, Draft::MAX_EVIDENCE + 1, 1, "evidence"),
            (1, 1, Draft::MAX_REFERENCE + 1, "evidence.0.ref"),
        ] {
            let error = draft(claim, count, reference).unwrap_err();
            assert_eq!((error.code, error.field.as_str()), (FactCode::TooLarge, field));
        }
    }
}
