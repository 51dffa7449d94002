//! Our own schemas: what harn adds to the protocol, as the documents show it.

use crate::harn::root;
use boon::{Compiler, SchemaIndex, Schemas};
use serde_json::Value;
use std::collections::HashMap;
use std::fs;
use std::sync::OnceLock;

/// The file of the schemas.
const FILE: &str = "docs/reference/schemas/a2a.json";

/// The compiled schemas.
pub(super) struct Ours {
    schemas: Schemas,
    compiled: HashMap<String, SchemaIndex>,
}

/// Those of the process, made when they are first wanted.
pub(super) fn ours() -> &'static Ours {
    static ONE: OnceLock<Ours> = OnceLock::new();
    ONE.get_or_init(Ours::read)
}

impl Ours {
    fn read() -> Ours {
        let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
        let mut compiled = HashMap::new();
        let schema: Value = serde_json::from_slice(&fs::read(root().join(FILE)).unwrap()).unwrap();
        let url = "http://a2a/json";
        compiler.add_resource(url, schema.clone()).unwrap();
        for name in schema["$defs"].as_object().unwrap().keys() {
            let index = compiler.compile(&format!("{url}#/$defs/{name}"), &mut schemas);
            compiled.insert(name.clone(), index.unwrap_or_else(|error| panic!("{name}: {error}")));
        }
        Ours { schemas, compiled }
    }

    /// What is wrong with a value that should be what a definition says; nothing where it is.
    pub(super) fn fault(&self, definition: &str, value: &Value) -> Option<String> {
        let Some(index) = self.compiled.get(definition) else { return Some(format!("no definition `{definition}`")) };
        self.schemas.validate(value, *index).err().map(|error| format!("no {definition}: {error:#}"))
    }
}
