//! The strategy `llm`: a model summarises.

use std::cell::Cell;
use std::sync::Arc;

use base::call::{Answer, Outcome, call_error};

use crate::budget::Purpose;
use crate::lifecycle::archive::Summary;
use crate::message::{Message, Role, ToolCall};
use crate::model::{ModelError, ModelErrorKind, Request, System};
use crate::model_step::ask_beside;
use crate::reminder::Reminder;
use crate::seam::{Compactor, Model, Turn};
use crate::usage::Usage;

/// A model that summarises. It is called once, with a request of its own that contains and charges no reminder.
pub struct ByModel<'a> {
    /// The model.
    pub model: &'a dyn Model,
    /// Route and limits; conversation and system text are filled in.
    pub route: Request,
    /// The model's instructions, if they replace the default.
    pub prompt: Option<Arc<str>>,
    /// Usage so far.
    pub usage: Cell<Usage>,
}

/// Default instructions for the model.
const PROMPT: &str = "Summarize the conversation below for the assistant that continues it and cannot see it. Keep \
    the task and its constraints, decisions and their reasons, the names of files and other things that were \
    changed, important results, what failed, and what is left to do. Write plain text, as short as possible.";

/// Maximum number of characters of a tool's output shown to it.
const TOOL_OUTPUT: usize = 2_000;

impl<'a> ByModel<'a> {
    /// Creates a summariser with a model on the route of `request`.
    pub fn new(model: &'a dyn Model, request: &Request, prompt: Option<Arc<str>>) -> ByModel<'a> {
        let route = Request {
            provider: request.provider.clone(),
            model: request.model.clone(),
            timeout_ms: request.timeout_ms,
            retries: request.retries,
            ..Request::default()
        };
        ByModel { model, route, prompt, usage: Cell::default() }
    }

    async fn ask(&self, turn: Turn<'_>, messages: &[Arc<Message>]) -> Outcome<Summary> {
        let said = messages.iter().map(|message| line(message)).collect::<Vec<_>>().join("\n\n");
        let request = Request {
            system: System { primary: Some(self.prompt.clone().unwrap_or_else(|| PROMPT.into())), ..System::default() }
                .into(),
            messages: [Arc::new(Message::user(said))].into_iter().collect(),
            ..self.route.clone()
        };
        let reply = ask_beside(turn, self.model, &request, Purpose::Compaction).await?;
        let mut usage = self.usage.get();
        usage.add(reply.usage);
        self.usage.set(usage);
        match reply.text.trim() {
            "" => Err(call_error(ModelError::new(ModelErrorKind::BadResponse, "the model returned an empty summary"))),
            text => Ok(Summary::Text(format!("[summary of {} earlier messages]\n{text}", messages.len()).into())),
        }
    }
}

impl Compactor for ByModel<'_> {
    fn compact<'a>(
        &'a self,
        turn: Turn<'a>,
        messages: &'a [Arc<Message>],
        _: &'a [Arc<Reminder>],
    ) -> Answer<'a, Outcome<Summary>> {
        Answer::later(self.ask(turn, messages))
    }
}

fn line(message: &Message) -> String {
    let mut text = message.text().to_string();
    if message.role == Role::Tool
        && let Some((end, _)) = text.char_indices().nth(TOOL_OUTPUT)
    {
        text.truncate(end);
        text.push_str(" …");
    }
    let call = |call: &ToolCall| format!("[calls {} with {}]", call.name, call.arguments.to_text());
    let calls = message.tool_calls.iter().map(call);
    let said = std::iter::once(text).filter(|text| !text.is_empty()).chain(calls).collect::<Vec<_>>().join("\n");
    format!("{}: {said}", message.role)
}
