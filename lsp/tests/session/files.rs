//! Files on disk that change, and documents that depend on them.

use crate::client::{Client, folder, uri};
use serde_json::{Value, json};
use std::fs;

const CREATED: u32 = 1;
const CHANGED: u32 = 2;
const DELETED: u32 = 3;

fn report(client: &mut Client, uri: &str, kind: u32) {
    client.notify("workspace/didChangeWatchedFiles", &json!({"changes": [{"uri": uri, "type": kind}]}));
}

#[test]
fn a_document_follows_the_files_that_it_imports() {
    let folder = folder("lsp-files");
    let mut client = Client::of_folder(&folder);
    let (main, lib) = (uri(&folder.join("main.harn")), folder.join("lib.harn"));
    client.open(&main, "import {a} from \"lib\"\nprintln(a(1))\n");
    assert_eq!(client.codes(&main), ["HARN-IMP-001"]);
    fs::write(&lib, "fn a(x) { return x }\n").unwrap();
    report(&mut client, &uri(&lib), CREATED);
    assert_eq!(client.codes(&main), Vec::<String>::new());
    fs::write(&lib, "fn a() { return 1 }\n").unwrap();
    report(&mut client, &uri(&lib), CHANGED);
    assert_eq!(client.codes(&main), ["HARN-TYP-004"]);
    // An open document counts, whatever is on disk.
    client.open(&uri(&lib), "fn a(x, y) { return [x, y] }\n");
    assert_eq!(client.codes(&main), ["HARN-TYP-004"]);
    client.change(&uri(&lib), 2, &json!([{"text": "fn a(x, y = 2) { return [x, y] }\n"}]));
    assert_eq!(client.codes(&main), Vec::<String>::new());
    client.notify("textDocument/didClose", &json!({"textDocument": {"uri": uri(&lib)}}));
    assert_eq!(client.codes(&main), ["HARN-TYP-004"]);
    fs::remove_file(&lib).unwrap();
    report(&mut client, &uri(&lib), DELETED);
    assert_eq!(client.codes(&main), ["HARN-IMP-001"]);
    client.end();
}

#[test]
fn each_file_of_a_cycle_reports_its_own_imports_of_it_in_any_order() {
    let folder = folder("lsp-cycle");
    for (name, imports) in [("a", "b"), ("b", "c"), ("c", "a")] {
        let text = format!("import {{{imports}}} from \"{imports}\"\nfn {name}() {{ return {imports}() }}\n");
        fs::write(folder.join(format!("{name}.harn")), text).unwrap();
    }
    fs::write(folder.join("own.harn"), "import \"own\"\n").unwrap();
    let orders = [["a", "b", "c"], ["c", "b", "a"], ["b", "c", "a"]];
    let found = orders.map(|order| {
        let mut client = Client::of_folder(&folder);
        let mut all: Vec<(&str, Vec<Value>)> =
            order.map(|name| (name, client.diagnostics(&uri(&folder.join(format!("{name}.harn")))))).to_vec();
        assert_eq!(client.codes(&uri(&folder.join("own.harn"))), ["HARN-IMP-002"]);
        client.end();
        all.sort_by_key(|(name, _)| *name);
        all
    });
    assert_eq!(found[0], found[1]);
    assert_eq!(found[0], found[2]);
    for (name, diagnostics) in &found[0] {
        assert_eq!(diagnostics.len(), 1, "{name}");
        assert_eq!(diagnostics[0]["code"], "HARN-IMP-002");
        assert_eq!(diagnostics[0]["relatedInformation"].as_array().unwrap().len(), 2, "the other imports of the cycle");
    }
}

#[test]
fn the_settings_of_a_project_are_read_again() {
    let folder = folder("lsp-settings");
    let mut client = Client::of_folder(&folder);
    let main = uri(&folder.join("main.harn"));
    client.open(&main, "let xs = [100000, 200000, 300000, 400000]\n");
    let format = json!({"textDocument": {"uri": main}, "options": {"tabSize": 2, "insertSpaces": true}});
    assert_eq!(client.ask("textDocument/formatting", &format), Ok(json!([])));
    let project = folder.join("harn.toml");
    fs::write(&project, "[fmt]\nwidth = 30\n").unwrap();
    report(&mut client, &uri(&project), CREATED);
    let edits = client.ask("textDocument/formatting", &format).unwrap();
    assert!(edits[0]["newText"].as_str().unwrap().lines().count() > 1, "{edits}");
    client.end();
}

#[test]
fn edited_documents_are_published_at_once_and_those_that_import_them_soon() {
    let folder = folder("lsp-published");
    let mut client = Client::start();
    client.initialize(&folder, &json!({}));
    let (main, lib) = (uri(&folder.join("main.harn")), uri(&folder.join("lib.harn")));
    let next = |client: &mut Client| {
        let message = client.receive().unwrap();
        assert_eq!(message["method"], "textDocument/publishDiagnostics");
        let params = &message["params"];
        (
            params["uri"].as_str().unwrap().to_owned(),
            params["version"].clone(),
            params["diagnostics"].as_array().unwrap().len(),
        )
    };
    client.open(&lib, "fn a() { return 1 }\n");
    assert_eq!(next(&mut client), (lib.clone(), json!(1), 0));
    client.open(&main, "import {a} from \"lib\"\nprintln(a())\n");
    assert_eq!(next(&mut client), (main.clone(), json!(1), 0));
    client.change(&lib, 2, &json!([{"text": "fn a(x) { return x }\n"}]));
    assert_eq!(next(&mut client), (lib.clone(), json!(2), 0));
    assert_eq!(next(&mut client), (main.clone(), json!(1), 1));
    client.notify("textDocument/didClose", &json!({"textDocument": {"uri": lib}}));
    assert_eq!(next(&mut client), (lib, Value::Null, 0));
    assert_eq!(next(&mut client), (main, json!(1), 1), "the file is not on disk");
    client.end();
}
