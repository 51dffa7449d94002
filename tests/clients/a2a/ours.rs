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
pub(super) struct OurSchemas {
    schemas: Schemas,
    compiled: HashMap<String, SchemaIndex>,
}

/// Returns the schemas of the process, compiled on first use.
pub(super) fn ours() -> &'static OurSchemas {
    static ONE: OnceLock<OurSchemas> = OnceLock::new();
    ONE.get_or_init(OurSchemas::read)
}

impl OurSchemas {
    fn read() -> OurSchemas {
        let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
        let mut compiled = HashMap::new();
        let schema: Value = serde_json::from_slice(&fs::read(root().join(FILE)).unwrap()).unwrap();
        let url = "http://a2a/json";
        compiler.add_resource(url, schema.clone()).unwrap();
        for name in schema["$defs"].as_object().unwrap().keys() {
            let index = compiler.compile(&format!("{url}#/$defs/{name}"), &mut schemas);
            compiled.insert(name.clone(), index.unwrap_or_else(|error| panic!("{name}: {error}")));
        }
        OurSchemas { schemas, compiled }
    }

    /// Returns the problem of a value that should match a definition, or `None` if it matches.
    pub(super) fn problem(&self, definition: &str, value: &Value) -> Option<String> {
        let Some(index) = self.compiled.get(definition) else { return Some(format!("no definition `{definition}`")) };
        self.schemas.validate(value, *index).err().map(|error| format!("no {definition}: {error:#}"))
    }
}
