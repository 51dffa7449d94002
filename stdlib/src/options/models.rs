//! Options of calls of models.

use super::{
    AnyData, BudgetOptions, Count, Entries, Flag, Int, Items, Ms, Nested, Number, OneOrMore, OptionReader, Raw, Schema,
    Text, Texts, Word, WrittenSchema,
};
use base::data::Data;
use lang::vm::{Raise, RunCode};
use runtime::model::{Request, System};
use std::sync::Arc;

option_words! {
    /// Ways to describe tools to a model.
    ToolFormat { Native = "native", Text = "text", }
}

options! {
    /// Options of every call of a model.
    ModelOptions {
        provider: Text, "The provider. Default: that of the environment or of `harn.toml`.";
        model: Text, "The model. Default: that of the provider.";
        session_id: Text, "The session to use. Default: a new session.";
        messages: Items as "list<PromptMessage>" = (shown "[]"), "Messages that go before the prompt.";
        system_prompt_parts: Texts = [], "Texts that go before the system text.";
        system_appendix: Text, "Text that follows the system text.";
        system_suffix: Text, "Text at the end of the system text.";
        temperature: Number, "Randomness of the response. Some models reject it.";
        top_p: Number, "Share of the probability that tokens are chosen from. Some models reject it.";
        stop: OneOrMore, "Texts that end the response.";
        seed: Int, "Seed of the model, for routes that have one.";
        extra: Entries = (shown "{}"), "Fields that are added to the body of the request. Dicts are merged with existing ones.";
        prompt_cache: Flag, "Marks the beginning of the prompt for the vendor's cache. Default: only in loops.";
        max_tokens: Count, "Limit of the tokens of the response.";
        tools: Raw as "ToolRegistry | ToolEntry | list<ToolRegistry | ToolEntry | list<any>>", "The tools that the model can call: a registry, or a list of tools.";
        tool_choice: AnyData as "\"auto\" | \"none\" | \"required\" | \"any\" | ToolChoice" = (shown "\"auto\""), "Whether the model must call a tool: `\"auto\"`, `\"none\"`, `\"required\"` or `{name}`.";
        tool_format: Word<ToolFormat>, "How tools are described: by the API, or in text. Default: as the route allows.";
        output_schema: Schema, "Type of the answer, or its JSON Schema. The result has the answer in `data`.";
        thinking: AnyData as "bool | count | \"minimal\" | \"low\" | \"medium\" | \"high\" | dict", "Thinking of the model: a bool, a budget in tokens, or an effort such as `\"low\"`.";
        timeout_ms: Ms = (shown "300000"), "Timeout of one attempt, in milliseconds.";
        stream: Flag, "Whether the response is streamed. Default: if it is observed.";
        llm_retries: Count<u32> = (shown "2"), "Number of retries after a transient failure.";
        budget: Nested<BudgetOptions>, "Limits of what all requests may use, those of sub-agents included: `{usd?, tokens?, turns?}`.";
        reminders: AnyData as "bool | list<string> | LoopReminders" = (shown "true"), "Reminder providers: `false`, a list of names, or `{enabled, providers, packs, config, strict, placement, native}`.";
    }

    /// Options of `llm_call` and `llm_stream`.
    LlmOptions(model: ModelOptions) {
        transcript: Raw as "dict", "The transcript to continue: its messages and pending reminders.";
        returns: Schema, "Type of the answer, or its JSON Schema: the call returns a value of it.";
        schema_retries: Count<u32> = (shown "0"), "How often an answer that does not fit the schema is sent back with the reason. Only for `llm_call`.";
    }
}

lang::option_tables! {
    /// The tool that a model must call, by its name or in the form of the vendor.
    pub(crate) TOOL_CHOICE: "ToolChoice" (open) {
        name: "string", "The name of the tool.";
        r#type: "string", "The kind of the choice, in the form of the vendor.";
    }

    /// A message of a conversation. Further keys are kept.
    pub(crate) PROMPT_MESSAGE: "PromptMessage" (open) {
        role: "\"system\" | \"developer\" | \"user\" | \"assistant\" | \"tool\" | \"tool_result\" | \"function\"" = required, "The speaker.";
        content: "string | list<any>", "The text, or blocks.";
        tool_calls: "list<dict>", "The tool calls of the model: `{id, name, arguments}`.";
        tool_call_id: "string", "The call that a result belongs to.";
        name: "string", "The name of the tool, or of the speaker.";
        reasoning: "string", "The thinking before the text.";
        is_error: "bool" = false, "Whether a result reports a failure.";
    }
}

impl ModelOptions {
    /// Returns whether tools are written into the text: by `tool_format`, else if the route does not take tools.
    pub(crate) fn wants_text_tools(&self, has_native: bool) -> bool {
        match self.tool_format {
            Some(ToolFormat::Text) => true,
            Some(ToolFormat::Native) => false,
            None => !has_native,
        }
    }

    /// Returns the part that every request has in common.
    pub(crate) fn request(&self, system: Option<&str>) -> Request {
        Request {
            system: System {
                parts: self.system_prompt_parts.clone(),
                primary: system.map(Arc::from),
                appendix: self.system_appendix.clone(),
                suffix: self.system_suffix.clone(),
                ..System::default()
            }
            .into(),
            tool_choice: self.tool_choice.clone().unwrap_or_default(),
            provider: self.provider.clone(),
            model: self.model.clone(),
            temperature: self.temperature,
            top_p: self.top_p,
            stop: self.stop.clone().unwrap_or_default(),
            seed: self.seed,
            max_tokens: self.max_tokens,
            output_schema: self.output_schema.as_ref().map_or(Data::Nil, |schema| schema.schema.clone()),
            thinking: self.thinking.clone().unwrap_or_default(),
            timeout_ms: self.timeout_ms,
            retries: self.llm_retries,
            stream: self.stream.unwrap_or(false),
            prompt_cache: self.prompt_cache.unwrap_or(false),
            extra: self.extra.as_ref().and_then(Data::as_dict).cloned().unwrap_or_default(),
            ..Request::default()
        }
    }
}

impl LlmOptions {
    /// Returns the request; `returns` asks for its type as `output_schema` does.
    pub(crate) fn request(&self, reader: &OptionReader<'_>, system: Option<&str>) -> Result<Request, Box<Raise>> {
        let mut request = self.model.request(system);
        if let Some(WrittenSchema { schema, .. }) = &self.returns {
            if self.model.output_schema.is_some() {
                let message = "`returns` and `output_schema` cannot be used together";
                return Err(Raise::error(RunCode::Value, message)
                    .about(reader.arg(), "both `returns` and `output_schema`")
                    .help("remove `output_schema`"));
            }
            request.output_schema = schema.clone();
        }
        Ok(request)
    }
}
