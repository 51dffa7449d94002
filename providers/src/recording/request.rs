//! A request, independent of vendors, and the previous request of its line of work.

use super::secrets::Secrets;
use base::data::Data;
use imbl::Vector;
use runtime::message::{Messages, ToolSpec};
use runtime::model::{Destination, Request};
use std::sync::Arc;

/// A request. Its delivery (streaming, timeout) is not part of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RecordedRequest {
    /// The whole system text with its reminders, else nil.
    pub system: Data,
    /// The messages as they are sent, with their reminders.
    pub messages: Vector<Data>,
    /// The tools on offer.
    pub tools: Data,
    /// Temperature, schema and the like, those that were given.
    pub options: Data,
    /// Provider and model.
    pub route: Data,
}

impl RecordedRequest {
    /// The parts beside the messages, by name.
    pub(super) fn parts(&self) -> [(&'static str, &Data); 4] {
        [("system", &self.system), ("tools", &self.tools), ("options", &self.options), ("route", &self.route)]
    }

    pub(super) fn parts_mut(&mut self) -> [(&'static str, &mut Data); 4] {
        [
            ("system", &mut self.system),
            ("tools", &mut self.tools),
            ("options", &mut self.options),
            ("route", &mut self.route),
        ]
    }
}

/// The last request of a line of work.
#[derive(Debug, Default)]
pub struct LastRequest {
    /// The number of its calls.
    pub number: u64,
    /// The last request.
    pub asked: RecordedRequest,
    sent: Messages,
    /// The number of leading messages that the last request shares with the one before it.
    pub kept: usize,
}

impl LastRequest {
    /// Takes the next request in. A long history is read once, not once a turn.
    pub fn next(&mut self, request: &Request, to: &Destination, secrets: &Secrets) {
        self.number += 1;
        let conversation = request.conversation();
        let known = self.sent.iter().zip(&conversation).take_while(|(one, other)| Arc::ptr_eq(one, other)).count();
        let mut kept = known;
        let mut is_same = true;
        let mut messages = std::mem::take(&mut self.asked.messages);
        for (index, message) in conversation.iter().enumerate().skip(known) {
            let data = secrets.hide(&message.to_data());
            is_same &= messages.get(index) == Some(&data);
            kept += usize::from(is_same);
            if index < messages.len() {
                messages.set(index, data);
            } else {
                messages.push_back(data);
            }
        }
        messages.truncate(conversation.len());
        self.kept = kept;
        self.sent = conversation;
        self.asked = RecordedRequest {
            system: secrets.hide(&request.system_text().into()),
            messages,
            tools: secrets.hide(&request.tools.iter().map(tool).collect()),
            options: secrets.hide(&options(request)),
            route: Data::dict_of_present([
                ("provider", to.provider.clone().into()),
                ("model", to.model.clone().into()),
            ]),
        };
    }
}

/// Returns the part of a tool that a model sees.
fn tool(spec: &ToolSpec) -> Data {
    Data::dict([
        ("name", Data::from(&spec.name)),
        ("description", (&spec.description).into()),
        ("parameters", spec.parameters.clone()),
    ])
}

fn options(request: &Request) -> Data {
    let extra = if request.extra.is_empty() { Data::Nil } else { Data::from(request.extra.clone()) };
    Data::dict_of_present([
        ("tool_choice", request.tool_choice.clone()),
        ("temperature", request.temperature.into()),
        ("top_p", request.top_p.into()),
        ("stop", if request.stop.is_empty() { Data::Nil } else { request.stop.iter().map(Data::from).collect() }),
        ("seed", request.seed.into()),
        ("max_tokens", request.max_tokens.into()),
        ("output_schema", request.output_schema.clone()),
        ("thinking", request.thinking.clone()),
        ("extra", extra),
    ])
}
