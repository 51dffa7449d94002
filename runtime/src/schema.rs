//! JSON Schema: the expected shape of a tool's arguments, its result or a model's answer. A schema is compiled once and
//! then used for checks; mismatches are described in words that a model can act on: location, expected value, found
//! value, and probable meaning. All mismatches are reported at once, up to a limit.
//!
//! Nothing is fetched: a `$ref` refers into the schema itself. Patterns are those of the `regex` crate, so their time
//! is linear in the text.

use std::error::Error;
use std::fmt;

use boon::{CompileError, Compiler, SchemaIndex, Schemas, UrlLoader};

use base::data::Data;

mod answer;
mod cycle;
mod mismatch;
mod plain;
mod pointer;
mod shared;
#[cfg(test)]
mod tests;

pub use answer::{correction, read_answer, unfenced};
pub use mismatch::{Mismatch, Mismatches};
pub use shared::compiled;

/// Internal name under which a schema is compiled; it is never shown.
const HERE: &str = "mem:///schema.json";

/// Maximum nesting depth of a schema and of a value. The validator recurses for each level of either.
const DEEPEST_SCHEMA: usize = 128;
const DEEPEST_VALUE: usize = 128;
/// Number of levels of both together from which on validation runs on a stack of its own, and the size of that stack in
/// bytes.
const OWN_STACK_FROM: usize = 64;
const OWN_STACK: usize = 256 << 20;

/// A valid, compiled schema.
pub struct Schema {
    all: Schemas,
    root: SchemaIndex,
    source: Data,
    depth: usize,
    /// The schema in a form that needs no validator, if it is simple enough.
    plain: Option<plain::PlainSchema>,
}

/// The reason a value is not a schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid JSON Schema: {0}")]
pub struct SchemaError(pub String);

/// A `$ref` may only refer into the schema itself.
struct ExternalRef;

impl UrlLoader for ExternalRef {
    fn load(&self, _: &str) -> Result<serde_json::Value, Box<dyn Error>> {
        Err("references to other documents are not supported; move the referenced schema to `$defs`".into())
    }
}

impl Schema {
    /// Compiles a schema (draft 2020-12, unless its `$schema` names another).
    ///
    /// # Errors
    /// Describes the mistake in a sentence.
    pub fn compile(source: &Data) -> Result<Schema, SchemaError> {
        let depth = source.depth();
        if depth > DEEPEST_SCHEMA {
            return Err(SchemaError(format!("it is nested more than {DEEPEST_SCHEMA} levels deep")));
        }
        with_stack_for(depth * 2, || Schema::compiled(source, depth))
    }

    fn compiled(source: &Data, depth: usize) -> Result<Schema, SchemaError> {
        let mut compiler = Compiler::new();
        compiler.use_loader(Box::new(ExternalRef));
        let mut all = Schemas::new();
        if let Some(at) = cycle::find(source) {
            return Err(SchemaError(format!("the `$ref` to `{at}` refers to itself")));
        }
        let refused = |error| SchemaError(why(&error));
        compiler.add_resource(HERE, serde_json::Value::from(source)).map_err(refused)?;
        let root = compiler.compile(HERE, &mut all).map_err(refused)?;
        Ok(Schema { all, root, source: source.clone(), depth, plain: plain::PlainSchema::of(source) })
    }

    /// Checks whether a value fits; `what` names the value in the messages (`the arguments`).
    ///
    /// # Errors
    /// Returns all mismatches, the first eight in words.
    pub fn check(&self, value: &Data, what: &str) -> Result<(), Mismatches> {
        let depth = value.depth();
        if depth > DEEPEST_VALUE {
            return Err(Mismatches::one(format!("{what} may not be nested more than {DEEPEST_VALUE} levels deep")));
        }
        if self.plain.as_ref().is_some_and(|plain| plain.accepts(value)) {
            return Ok(());
        }
        with_stack_for((depth + 1) * (self.depth + 1), || {
            let json = serde_json::Value::from(value);
            let found = self.all.validate(&json, self.root);
            found.map_err(|error| Mismatches::of(&error, &self.source, value, what))
        })
    }
}

/// Runs a function that may recurse `levels` times.
fn with_stack_for<T>(levels: usize, run: impl FnOnce() -> T) -> T {
    if levels < OWN_STACK_FROM { run() } else { stacker::grow(OWN_STACK, run) }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Schema").field(&self.source).finish()
    }
}

/// Returns the mistake in a schema, without the name under which it was compiled.
fn why(error: &CompileError) -> String {
    let said = match error {
        CompileError::ValidationError { src, .. } => return pointer::first_leaf(src),
        CompileError::InvalidRegex { regex, .. } => {
            return format!("`pattern` contains {regex:?}, which is not a supported regular expression");
        }
        CompileError::LoadUrlError { url, src } => format!("`{url}` cannot be loaded: {src}"),
        CompileError::JsonPointerNotFound(at) => format!("a `$ref` refers to `{at}`, which does not exist"),
        CompileError::UnsupportedDraft { url } => format!("unknown `$schema` `{url}`"),
        other => other.to_string(),
    };
    said.replace(HERE, "")
}
