use super::*;

fn schema(json: &str) -> Schema {
    Schema::compile(&Data::from_json(json).unwrap()).unwrap()
}

fn said(schema: &Schema, json: &str) -> String {
    let found = schema.check(&Data::from_json(json).unwrap(), "the arguments");
    found.map_or_else(|misfits| misfits.to_string(), |()| "fits".to_owned())
}

#[test]
fn each_keyword_is_told_in_words() {
    let of = |rule: &str| schema(&format!(r#"{{"properties":{{"v":{rule}}}}}"#));
    for (rule, value, expected) in [
        (r#"{"type":"string"}"#, "3", "`v` must be string, got 3"),
        (r#"{"type":["integer","null"]}"#, "1.5", "`v` must be null or integer, got 1.5"),
        (r#"{"type":"integer"}"#, "3.0", "fits"),
        (
            r#"{"enum":["read","write"]}"#,
            r#""reed""#,
            r#"`v` must be one of "read", "write", got "reed"; did you mean "read"?"#,
        ),
        (r#"{"const":1}"#, "2", "`v` must be 1, got 2"),
        (r#"{"minLength":2}"#, r#""a""#, "`v` must have at least 2 characters, has 1"),
        (r#"{"maxLength":1}"#, r#""abc""#, "`v` must have at most 1 character, has 3"),
        (r#"{"pattern":"^[a-z]+$"}"#, r#""A1""#, "`v` must match the pattern `^[a-z]+$`, got \"A1\""),
        (r#"{"minimum":1}"#, "0", "`v` must be at least 1, got 0"),
        (r#"{"exclusiveMaximum":1}"#, "1", "`v` must be less than 1, got 1"),
        (r#"{"multipleOf":5}"#, "3", "`v` must be a multiple of 5, got 3"),
        (r#"{"items":{"type":"integer"}}"#, r#"[1,"x"]"#, "`v[1]` must be integer, got \"x\""),
        (r#"{"minItems":1}"#, "[]", "`v` must have at least 1 item, has 0"),
        (r#"{"uniqueItems":true}"#, "[1,2,1]", "the items 0 and 2 of `v` are equal"),
        (r#"{"required":["a"]}"#, "{}", "`v.a` is missing"),
        (
            r#"{"properties":{"line":{}},"additionalProperties":false}"#,
            r#"{"lnie":1}"#,
            "unknown key `v.lnie`; did you mean `line`?",
        ),
        (r#"{"additionalProperties":{"type":"integer"}}"#, r#"{"a":"x"}"#, "`v.a` must be integer, got \"x\""),
        (
            r#"{"anyOf":[{"type":"string"},{"type":"integer"}]}"#,
            "[]",
            "`v` must be string or integer, got an array of 0",
        ),
        (r#"{"anyOf":[{"type":"null"},{"type":"object","required":["a"]}]}"#, "{}", "`v.a` is missing"),
        (
            r#"{"anyOf":[{"minimum":5},{"multipleOf":2}]}"#,
            "3",
            "`v` matches none of its alternatives (`v` must be at least 5, got 3 | `v` must be a multiple of 2, got 3)",
        ),
        (r#"{"oneOf":[{"minimum":1},{"multipleOf":2}]}"#, "4", "`v` matches more than one of its alternatives"),
        (
            r#"{"allOf":[{"minimum":5},{"multipleOf":2}]}"#,
            "3",
            "`v` must be at least 5, got 3; `v` must be a multiple of 2, got 3",
        ),
        (r#"{"not":{"const":3}}"#, "3", "`v` must not be 3"),
        (r#"false"#, "3", "`v` is not allowed"),
    ] {
        assert_eq!(said(&of(rule), &format!(r#"{{"v":{value}}}"#)), expected, "{rule}");
    }
}

#[test]
fn definitions_may_hold_themselves() {
    let tree = schema(
        r##"{"$ref":"#/$defs/Tree","$defs":{"Tree":{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#/$defs/Tree"}},"name":{"type":"string"}},"required":["name"]}}}"##,
    );
    assert_eq!(said(&tree, r#"{"name":"a","kids":[{"name":"b"}]}"#), "fits");
    assert_eq!(
        said(&tree, r#"{"name":"a","kids":[{"name":"b","kids":[{"nmae":"c"}]}]}"#),
        "`kids[0].kids[0].name` is missing (you sent `nmae`)"
    );
}

#[test]
fn all_problems_are_told_at_once_and_bounded() {
    let strings = schema(r#"{"type":"array","items":{"type":"string"}}"#);
    let found = strings.check(&(0..100).map(Data::Int).collect(), "the list").unwrap_err();
    assert_eq!((found.told.len(), found.more), (8, 92));
    assert!(found.to_string().ends_with("`[7]` must be string, got 7; and 92 more"), "{found}");
    let long = strings.check(&Data::from("x".repeat(5_000_000)), "the list").unwrap_err();
    assert!(long.to_string().len() < 200, "{long}");
}

#[test]
fn what_is_no_schema_is_refused_with_its_place() {
    let refused = |json: &str| Schema::compile(&Data::from_json(json).unwrap()).unwrap_err().to_string();
    assert!(refused(r#"{"properties":{"n":{"type":"integr"}}}"#).contains("at `properties.n.type`"));
    assert!(refused(r#"{"properties":{"n":{"minimum":"1"}}}"#).contains("at `properties.n.minimum`"));
    assert!(refused(r#"{"pattern":"("}"#).contains("pattern"));
    assert!(refused(r##"{"$ref":"#/$defs/no"}"##).contains("does not exist"));
    assert!(refused(r#"{"$ref":"https://example.com/s.json"}"#).contains("not supported"));
    assert!(refused(r#"{"$ref":"file:///etc/passwd"}"#).contains("not supported"));
    assert!(refused("3").contains("want"));
}

#[test]
fn a_reference_that_leads_back_to_itself_is_refused() {
    for json in [
        r##"{"$ref":"#"}"##,
        r##"{"anyOf":[{"$ref":"#"}]}"##,
        r##"{"properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"$ref":"#/$defs/a"}}}"##,
        r##"{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"allOf":[{"$ref":"#/$defs/a"}]}}}"##,
    ] {
        let said = Schema::compile(&Data::from_json(json).unwrap()).unwrap_err().to_string();
        assert!(said.contains("refers to itself"), "{json}: {said}");
    }
}

#[test]
fn depth_and_size_are_no_danger() {
    let nested = |levels: usize| (0..levels).fold(Data::Int(1), |inner, _| Data::list([inner]));
    let own = schema(r##"{"anyOf":[{"type":"integer"},{"type":"array","items":{"allOf":[{"$ref":"#"}]}}]}"##);
    assert_eq!(own.check(&nested(DEEPEST_VALUE), "it"), Ok(()));
    assert!(own.check(&nested(DEEPEST_VALUE + 1), "it").unwrap_err().to_string().contains("128 levels deep"));
    let items = |levels: usize| (0..levels).fold(Data::empty_dict(), |inner, _| Data::dict([("items", inner)]));
    assert!(Schema::compile(&items(DEEPEST_SCHEMA - 1)).is_ok());
    assert!(Schema::compile(&items(DEEPEST_SCHEMA)).is_err());
    let both =
        (0..60).fold(Data::dict([("$ref", Data::from("#"))]), |inner, _| Data::dict([("allOf", Data::list([inner]))]));
    let both = Data::dict([("items", both)]);
    assert_eq!(Schema::compile(&both).unwrap().check(&nested(DEEPEST_VALUE), "it"), Ok(()));
}
