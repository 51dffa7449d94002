//! The type of a model's answer: `returns` and `output_schema`.

use crate::decode::decode_as;
use crate::options::WrittenSchema;
use base::data::Data;
use lang::builtins::parse_json;
use lang::value::Value;
use lang::vm::{Context, Cx, Isolate, Raise, RunCode, TypeValue};
use runtime::schema::{read_answer, unfenced};
use std::rc::Rc;

/// A type as a script wrote it: as a type, or as JSON Schema.
pub(crate) struct AnswerType {
    written: Value,
    schema: Data,
    isolate: Rc<Isolate>,
    context: Rc<Context>,
}

/// Why an answer is not of the type.
pub(crate) struct AnswerMisfit {
    pub(crate) why: String,
    /// Entries of the error.
    fields: Vec<(&'static str, Value)>,
}

impl AnswerType {
    /// Returns the type that an option has.
    pub(crate) fn of(cx: &Cx<'_>, option: WrittenSchema) -> Self {
        let WrittenSchema { written, schema } = option;
        Self { written, schema, isolate: cx.isolate.clone(), context: cx.context.clone() }
    }

    /// Makes a value of the type from the text of an answer; the text may be in a fence.
    pub(crate) async fn read(&self, text: &str) -> Result<Value, Box<Raise>> {
        self.attempt(text).await?.map_err(|misfit| {
            let what = self.written.as_host::<TypeValue>().map(|ty| format!("`{}`", ty.written()));
            let what = what.as_deref().unwrap_or("the schema");
            let message = format!("the answer does not match {what}: {}", misfit.why);
            // The text is kept, so that a script can ask again with it.
            let mut raise = Raise::error(RunCode::Decode, message).field("category", "output_schema");
            raise.fields.extend(misfit.fields);
            raise.field("answer", Value::str(text))
        })
    }

    /// Makes a value of the type from the text of an answer, or says why it is none.
    pub(crate) async fn attempt(&self, text: &str) -> Result<Result<Value, AnswerMisfit>, Box<Raise>> {
        if self.written.as_host::<TypeValue>().is_none() {
            let read = read_answer(text, &self.schema).map(|data| crate::convert::to_value(&data));
            return Ok(read.map_err(|why| AnswerMisfit { why, fields: Vec::new() }));
        }
        let made = match parse_json(unfenced(text)) {
            Ok(data) => self.decode(data).await,
            Err(raise) => Err(raise),
        };
        match made {
            Ok(value) => Ok(Ok(value)),
            Err(raise) if raise.code == RunCode::Decode || raise.code == RunCode::Value => {
                Ok(Err(AnswerMisfit { why: raise.message, fields: raise.fields }))
            }
            Err(raise) => Err(raise),
        }
    }

    /// Makes a value of the type from data.
    pub(crate) async fn decode(&self, data: Value) -> Result<Value, Box<Raise>> {
        decode_as(&self.written, data, &self.isolate, &self.context).await
    }
}
