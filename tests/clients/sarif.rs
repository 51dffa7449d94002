//! `harn check --format sarif` against the schema of SARIF 2.1.0, which npm `@microsoft/jest-sarif` contains.

use crate::harn::{harn_in, root, scratch};
use crate::packages::node;
use serde_json::{Value, json};
use std::fs;

fn schema() -> Value {
    let modules = node("sarif", &["@microsoft/jest-sarif@1.0.0-beta.0"]);
    let file = modules.join("@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json");
    serde_json::from_slice(&fs::read(file).unwrap()).unwrap()
}

#[test]
fn logs_fit_the_published_schema() {
    let (mut schemas, mut compiler) = (boon::Schemas::new(), boon::Compiler::new());
    compiler.enable_format_assertions();
    compiler.add_resource("http://example.com/sarif.json", schema()).unwrap();
    let schema = compiler.compile("http://example.com/sarif.json", &mut schemas).unwrap();
    let valid = |log: &Value| schemas.validate(log, schema).map_err(|error| error.to_string());

    let folder = scratch("sarif");
    fs::write(folder.join("a b,c%é.harn"), "let total = 3\nprintln(totl)\nlet n = 1\nlet n = 2\nprintln(n)\n").unwrap();
    fs::write(folder.join("right.harn"), "println(1)\n").unwrap();
    let log = |args: &[&str]| -> Value {
        let args: Vec<&str> = [&["check", "--format", "sarif"], args].concat();
        let found = harn_in(&folder, &args, b"println(x)\n", &[]);
        assert_eq!(found.err, "");
        serde_json::from_str(&found.out).unwrap()
    };
    for args in [&["."][..], &["right.harn"], &["missing.harn"], &["-"]] {
        valid(&log(args)).unwrap_or_else(|error| panic!("{args:?}: {error}"));
    }
    let all = root().join("tests/diagnostics");
    valid(&log(&[all.to_str().unwrap()])).unwrap();

    let log = log(&["."]);
    let [first, second] = log["runs"][0]["results"].as_array().unwrap().as_slice() else { panic!("{log:#}") };
    assert_eq!(first["ruleId"], "HARN-NAM-001");
    let place = &first["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "a%20b%2Cc%25%C3%A9.harn");
    assert_eq!(place["region"], json!({"startLine": 2, "startColumn": 9, "endLine": 2, "endColumn": 13}));
    let change = &first["fixes"][0]["artifactChanges"][0]["replacements"][0];
    assert_eq!(change["insertedContent"]["text"], "total");
    assert_eq!(second["relatedLocations"][0]["message"]["text"], "first bound here");

    // The schema tells a wrong log from a right one.
    let mut broken = log.clone();
    broken["runs"][0]["results"][0]["level"] = json!("fatal");
    assert!(valid(&broken).is_err());
    broken = log;
    broken["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] = json!(0);
    assert!(valid(&broken).is_err());
}
