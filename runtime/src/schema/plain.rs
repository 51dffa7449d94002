//! [`PlainSchema`]: a schema that only names types, properties and words, like most tools' schemas. It detects fitting values
//! without the much slower validator. Values it does not accept are passed to the validator, which explains the
//! mismatch; so are all schemas with other keywords.

use std::sync::Arc;

use base::data::Data;

/// Keywords without effect on validation.
const REMARKS: [&str; 4] = ["title", "description", "default", "examples"];

/// The constraints of a schema. All that apply to a value must hold.
#[derive(Default)]
pub(super) struct PlainSchema {
    /// A bit for each type; zero means any.
    types: u8,
    /// Properties in order of their names, the order of a dict.
    properties: Vec<(Arc<str>, PlainSchema)>,
    required: Vec<Arc<str>>,
    /// Whether other properties are forbidden.
    closed: bool,
    items: Option<Box<PlainSchema>>,
    /// The allowed texts.
    words: Option<Vec<Arc<str>>>,
}

impl PlainSchema {
    /// Converts a schema that the validator has accepted; `None` if it is not plain.
    pub(super) fn of(schema: &Data) -> Option<PlainSchema> {
        let mut plain = PlainSchema::default();
        match schema {
            Data::Bool(true) => return Some(plain),
            Data::Dict(entries) => {
                for (keyword, said) in entries.iter() {
                    plain.read(keyword, said)?;
                }
            }
            _ => return None,
        }
        Some(plain)
    }

    fn read(&mut self, keyword: &str, said: &Data) -> Option<()> {
        match keyword {
            "type" => match said {
                Data::Str(name) => self.types = bit(name)?,
                Data::List(names) => {
                    for name in names.iter() {
                        self.types |= bit(name.as_str()?)?;
                    }
                }
                _ => return None,
            },
            "properties" => {
                for (name, schema) in said.as_dict()? {
                    self.properties.push((name.clone(), PlainSchema::of(schema)?));
                }
            }
            "required" => self.required = texts(said)?,
            "additionalProperties" => self.closed = !said.as_bool()?,
            "items" => self.items = Some(Box::new(PlainSchema::of(said)?)),
            "enum" => self.words = Some(texts(said)?),
            remark if REMARKS.contains(&remark) => {}
            _ => return None,
        }
        Some(())
    }

    /// Returns whether a value certainly fits.
    pub(super) fn accepts(&self, value: &Data) -> bool {
        if self.types != 0 && self.types & types_of(value) == 0 {
            return false;
        }
        if let Some(words) = &self.words
            && !value.as_str().is_some_and(|text| words.iter().any(|word| word.as_ref() == text))
        {
            return false;
        }
        match value {
            Data::Dict(entries) => {
                let place = |name: &str| self.properties.binary_search_by(|(known, _)| known.as_ref().cmp(name));
                let known = |name: &str| place(name).ok().and_then(|place| self.properties.get(place));
                self.required.iter().all(|name| entries.contains_key(name))
                    && entries.iter().all(|(name, value)| match known(name) {
                        Some((_, schema)) => schema.accepts(value),
                        None => !self.closed,
                    })
            }
            Data::List(items) => self.items.as_ref().is_none_or(|schema| items.iter().all(|item| schema.accepts(item))),
            _ => true,
        }
    }
}

fn texts(list: &Data) -> Option<Vec<Arc<str>>> {
    list.as_list()?.iter().map(Data::as_shared_str).collect()
}

const TYPES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];

fn bit(name: &str) -> Option<u8> {
    TYPES.iter().position(|known| *known == name).map(|place| 1 << place)
}

/// Returns the bits of the types that a value certainly has. A float without a fraction is an integer in some drafts,
/// and one that JSON cannot write is null.
fn types_of(value: &Data) -> u8 {
    match value {
        Data::Nil => 1,
        Data::Bool(_) => 1 << 1,
        Data::Int(_) => 1 << 2 | 1 << 3,
        Data::Float(number) if number.is_finite() => 1 << 3,
        Data::Float(_) => 0,
        Data::Str(_) => 1 << 4,
        Data::List(_) => 1 << 5,
        Data::Dict(_) => 1 << 6,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Schema;
    use super::*;

    fn value() -> impl Strategy<Value = Data> {
        let number = prop_oneof![Just(0.0), Just(1.5), Just(3.0), Just(f64::NAN), Just(f64::INFINITY)];
        let leaf = prop_oneof![
            Just(Data::Nil),
            any::<bool>().prop_map(Data::from),
            (-2..3_i64).prop_map(Data::from),
            number.prop_map(Data::from),
            "[ab]{0,1}".prop_map(Data::from),
        ];
        leaf.prop_recursive(3, 12, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Data::from),
                prop::collection::vec(("[abc]", inner), 0..4).prop_map(Data::dict),
            ]
        })
    }

    fn schema() -> impl Strategy<Value = Data> {
        let name = || prop::sample::select(TYPES.to_vec()).prop_map(Data::from);
        let names =
            || prop::collection::btree_set("[abc]", 0..3).prop_map(|names| names.into_iter().map(Data::from).collect());
        let types = prop_oneof![
            3 => name(),
            1 => prop::collection::btree_set(prop::sample::select(TYPES.to_vec()), 1..3)
                .prop_map(|names| names.into_iter().map(Data::from).collect()),
        ];
        let leaf = prop_oneof![
            4 => types.clone().prop_map(|types| Data::dict([("type", types)])),
            1 => any::<bool>().prop_map(Data::from),
            1 => Just(Data::empty_dict()),
            1 => prop::collection::btree_set("[ab]", 1..3).prop_map(|words| {
                Data::dict([("enum", words.into_iter().map(Data::from).collect::<Data>()), ("title", "t".into())])
            }),
            1 => Just(Data::dict([("minimum", Data::from(1_i64))])),
        ];
        leaf.prop_recursive(3, 16, 3, move |inner| {
            let properties = prop::collection::vec(("[abc]", inner.clone()), 0..3).prop_map(Data::dict);
            (
                types.clone(),
                properties,
                names(),
                prop::option::of(any::<bool>()),
                prop::option::of(inner),
                any::<bool>(),
            )
                .prop_map(|(types, properties, required, more, items, typed): (_, _, Data, _, _, _)| {
                    let types = if typed { types } else { Data::Nil };
                    Data::dict_of_present([
                        ("type", types),
                        ("properties", properties),
                        ("required", required),
                        ("additionalProperties", more.into()),
                        ("items", items.into()),
                        ("description", "d".into()),
                    ])
                })
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]
        #[test]
        fn what_it_accepts_the_validator_accepts_too(schema in schema(), values in prop::collection::vec(value(), 1..6)) {
            let Some(plain) = PlainSchema::of(&schema) else { return Ok(()) };
            let by_validator = Schema { plain: None, ..Schema::compile(&schema).unwrap() };
            for value in values {
                if plain.accepts(&value) {
                    prop_assert!(by_validator.check(&value, "it").is_ok(), "{schema} and {value}");
                }
            }
        }
    }

    #[test]
    fn it_accepts_what_tools_are_usually_given() {
        let schema = r#"{"type":"object","properties":{"path":{"type":"string","description":"d"},"n":{"type":["integer","null"]},
            "mode":{"enum":["r","w"]},"lines":{"type":"array","items":{"type":"number"}}},"required":["path"],"additionalProperties":false}"#;
        let plain = PlainSchema::of(&Data::from_json(schema).unwrap()).unwrap();
        let accepts = |json: &str| plain.accepts(&Data::from_json(json).unwrap());
        assert!(accepts(r#"{"path":"a"}"#) && accepts(r#"{"path":"a","n":null,"mode":"w","lines":[1,2.5]}"#));
        for refused in [
            r#"{}"#,
            r#"{"path":1}"#,
            r#"{"path":"a","x":1}"#,
            r#"{"path":"a","mode":"x"}"#,
            r#"{"path":"a","lines":["x"]}"#,
        ] {
            assert!(!accepts(refused), "{refused}");
        }
        for other in [
            r#"{"minimum":1}"#,
            r##"{"$ref":"#/$defs/a","$defs":{"a":{}}}"##,
            r#"{"items":[{}]}"#,
            r#"{"enum":[1]}"#,
            "false",
        ] {
            assert!(PlainSchema::of(&Data::from_json(other).unwrap()).is_none(), "{other}");
        }
    }
}
