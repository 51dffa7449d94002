//! Names and attributes: those of OpenTelemetry's semantic conventions for generative AI if they define one, else
//! `harn.…`.

use std::sync::Arc;

use base::data::Data;

use crate::span::{Attribute, Value};

/// Adds attributes for the present fields of a record.
pub(crate) struct Attributes<'a> {
    payload: &'a Data,
    found: Vec<Attribute>,
}

impl<'a> Attributes<'a> {
    pub(crate) fn of(payload: &'a Data) -> Attributes<'a> {
        Attributes { payload, found: Vec::new() }
    }

    /// Adds a fixed attribute.
    pub(crate) fn fixed(mut self, name: &'static str, value: &str) -> Self {
        self.found.push((name.into(), Value::Text(value.into())));
        self
    }

    /// Adds the field as an attribute, if present.
    pub(crate) fn field(mut self, name: &'static str, field: &str) -> Self {
        self.found.extend(value_of(self.payload.get(field)).map(|value| (name.into(), value)));
        self
    }

    /// Adds a text, if there is one.
    pub(crate) fn text(mut self, name: &'static str, text: Option<String>) -> Self {
        self.found.extend(text.map(|text| (name.into(), Value::Text(text.into()))));
        self
    }

    /// Adds the field as JSON, if present.
    pub(crate) fn json(mut self, name: &'static str, field: &str) -> Self {
        let found = self.payload.get(field);
        if !found.is_nil() {
            self.found.push((name.into(), Value::Text(found.to_json().into())));
        }
        self
    }

    /// Adds the field as the only item of a list, if present.
    pub(crate) fn list_of(mut self, name: &'static str, field: &str) -> Self {
        self.found.extend(self.payload.get(field).as_shared_str().map(|text| (name.into(), Value::Texts(vec![text]))));
        self
    }

    /// Adds the tokens of one call or of a whole loop.
    pub(crate) fn usage(self) -> Self {
        self.field("gen_ai.usage.input_tokens", "input_tokens")
            .field("gen_ai.usage.output_tokens", "output_tokens")
            .field("gen_ai.usage.cache_read.input_tokens", "cache_read_tokens")
            .field("gen_ai.usage.cache_creation.input_tokens", "cache_write_tokens")
    }

    pub(crate) fn all(self) -> Vec<Attribute> {
        self.found
    }
}

fn value_of(data: &Data) -> Option<Value> {
    match data {
        Data::Str(text) => Some(Value::Text(text.clone())),
        Data::Bool(is) => Some(Value::Bool(*is)),
        other => other.as_int().map(Value::Int),
    }
}

/// Returns the conventions' name of a provider; one they do not define keeps its own.
pub(crate) fn provider(name: &str) -> Arc<str> {
    match name {
        "gemini" => "gcp.gemini".into(),
        "bedrock" => "aws.bedrock".into(),
        "azure" => "azure.ai.openai".into(),
        "mistral" => "mistral_ai".into(),
        "xai" => "x_ai".into(),
        other => other.into(),
    }
}

/// Returns the attributes of a reminder's event. Its text is content.
pub(crate) fn of_reminder(payload: &Data, content: bool) -> Vec<Attribute> {
    let found = Attributes::of(payload)
        .field("harn.reminder.id", "reminder_id")
        .field("harn.turn", "turn")
        .field("harn.reminder.source", "source")
        .field("harn.reminder.producer", "producer")
        .field("harn.reminder.dedupe_key", "dedupe_key")
        .field("harn.reminder.ttl_turns", "ttl_turns")
        .field("harn.reminder.rendered_role", "rendered_role")
        .field("harn.reminder.reason", "reason")
        .field("harn.reminder.replacing_id", "replacing_id");
    if content { found.field("harn.reminder.body", "body") } else { found }.all()
}

/// Returns the attributes of an injection's event.
pub(crate) fn of_injection(payload: &Data) -> Vec<Attribute> {
    Attributes::of(payload)
        .field("harn.injection.id", "id")
        .field("harn.injection.mode", "mode")
        .field("harn.injection.at", "at")
        .field("harn.injection.reason", "reason")
        .field("harn.injection.replaced_by", "replaced_by")
        .all()
}
