//! [`ServerUser`]: the user for whom a server works. It answers questions of the server and sees reports of progress.

use crate::convert::{to_data, to_value};
use crate::hosting::Hosting;
use base::call::LocalFuture;
use base::data::Data;
use lang::value::Value;
use lang::vm::Function;
use mcp::{CallObserver, Elicitation, ElicitationReply, Progress};
use runtime::schema::compiled;
use std::rc::Rc;
use std::sync::Arc;

/// The most fields of a form that a user is asked for.
const MAX_FIELDS: usize = 16;
/// The number of times that a user is asked for the same field.
const TRIES: usize = 2;

/// The script's functions for a server, else the host of the run.
pub(super) struct ServerUser {
    pub(super) elicit: Option<Function>,
    pub(super) progress: Option<Function>,
    pub(super) hosting: Option<Rc<Hosting>>,
}

impl ServerUser {
    /// Returns whether there is anyone to ask.
    pub(super) fn answers(&self) -> bool {
        self.elicit.is_some() || self.hosting.is_some()
    }
}

impl CallObserver for ServerUser {
    fn progress<'a>(&'a self, progress: &'a Progress) -> LocalFuture<'a, ()> {
        Box::pin(async move {
            let Some(function) = &self.progress else { return };
            let data = Data::dict_of_present([
                ("progress", Data::from(progress.progress)),
                ("total", progress.total.into()),
                ("message", progress.message.clone().into()),
            ]);
            // A report that cannot be shown must not fail the call.
            if let Err(raise) = function.call([to_value(&data)]).get().await {
                tracing::warn!("the function `progress` of an MCP server failed: {}", raise.message);
            }
        })
    }

    fn elicit<'a>(&'a self, question: &'a Elicitation) -> LocalFuture<'a, ElicitationReply> {
        Box::pin(async move {
            if let Some(function) = &self.elicit {
                return by_script(function, question).await;
            }
            match &self.hosting {
                Some(hosting) if question.url.is_none() => by_host(hosting, question).await,
                _ => ElicitationReply::Cancel,
            }
        })
    }
}

/// Asks the script: a dict is the answer, `true` agrees to a question without fields, `false` declines, nil means that it has no answer.
async fn by_script(function: &Function, question: &Elicitation) -> ElicitationReply {
    let data = Data::dict_of_present([
        ("server", Data::from(&question.server)),
        ("message", (&question.message).into()),
        ("schema", question.schema.clone()),
        ("url", question.url.clone().into()),
    ]);
    match function.call([to_value(&data)]).get().await {
        Ok(Value::Bool(true)) => ElicitationReply::Accept(Data::empty_dict()),
        Ok(Value::Bool(false)) => ElicitationReply::Decline,
        Ok(Value::Nil) => ElicitationReply::Cancel,
        Ok(value) => match to_data(&value) {
            Ok(content) if fits(&content, &question.schema) => ElicitationReply::Accept(content),
            _ => {
                tracing::warn!(
                    server = &*question.server,
                    "the answer of `elicit` does not match the requested schema"
                );
                ElicitationReply::Cancel
            }
        },
        Err(raise) => {
            tracing::warn!(server = &*question.server, "`elicit` failed: {}", raise.message);
            ElicitationReply::Cancel
        }
    }
}

fn fits(content: &Data, schema: &Data) -> bool {
    compiled(schema).is_ok_and(|schema| schema.check(content, "the answer").is_ok())
}

/// Asks the person at the host, field by field.
async fn by_host(hosting: &Hosting, question: &Elicitation) -> ElicitationReply {
    let about = format!("[{}] {}", question.server, question.message);
    let properties = question.schema.get("properties").as_dict();
    let fields: Vec<(&Arc<str>, &Data)> = properties.into_iter().flat_map(base::data::Entries::iter).collect();
    if fields.is_empty() {
        return match hosting.ask(format!("{about} (yes or no)").into()).await.as_deref().map(str::trim) {
            Some("yes" | "y") => ElicitationReply::Accept(Data::empty_dict()),
            Some(_) => ElicitationReply::Decline,
            None => ElicitationReply::Cancel,
        };
    }
    if fields.len() > MAX_FIELDS {
        return ElicitationReply::Cancel;
    }
    let required = question.schema.get("required").as_list().unwrap_or_default();
    let mut content = Data::empty_dict();
    for (name, field) in fields {
        let is_required = required.iter().any(|required| required.as_str() == Some(name));
        match ask_field(hosting, &about, name, field, is_required).await {
            Ok(Some(value)) => content.set(name.clone(), value),
            Ok(None) => {}
            Err(reply) => return reply,
        }
    }
    if fits(&content, &question.schema) { ElicitationReply::Accept(content) } else { ElicitationReply::Cancel }
}

/// Asks for one field; nothing if it was left empty and need not be filled in.
async fn ask_field(
    hosting: &Hosting,
    about: &str,
    name: &str,
    field: &Data,
    is_required: bool,
) -> Result<Option<Data>, ElicitationReply> {
    let title = field.get("title").as_str().unwrap_or(name);
    let details = field.get("description").as_str().map_or(String::new(), |text| format!(" ({text})"));
    let choices = field.get("enum").as_list().unwrap_or_default();
    let choices: Vec<String> = choices.iter().map(|choice| choice.to_text().to_string()).collect();
    let choices = match (field.get("type").as_str(), choices.as_slice()) {
        (Some("boolean"), _) => " [yes, no]".to_owned(),
        (_, []) => String::new(),
        (_, choices) => format!(" [{}]", choices.join(", ")),
    };
    for _ in 0..TRIES {
        let text = hosting.ask(format!("{about}\n{title}{details}{choices}:").into()).await;
        let Some(text) = text else { return Err(ElicitationReply::Cancel) };
        match read(text.trim(), field) {
            _ if text.trim().is_empty() && !is_required => return Ok(None),
            Some(value) if fits(&value, field) => return Ok(Some(value)),
            _ => {}
        }
    }
    Err(ElicitationReply::Decline)
}

fn read(text: &str, field: &Data) -> Option<Data> {
    match field.get("type").as_str() {
        Some("boolean") => match text.to_lowercase().as_str() {
            "yes" | "y" | "true" => Some(true.into()),
            "no" | "n" | "false" => Some(false.into()),
            _ => None,
        },
        Some("integer") => text.parse::<i64>().ok().map(Data::from),
        Some("number") => text.parse::<f64>().ok().filter(|number| number.is_finite()).map(Data::from),
        _ => Some(text.into()),
    }
}
