//! Replies of the mock model, which the core reads.

use runtime::model::ModelErrorKind;

lang::option_tables! {
    /// A reply of the mock model.
    pub(crate) MOCK_REPLY: "MockReply" {
        text: "string", "The text of the model.";
        reasoning: "string", "The thinking before the text.";
        tool_calls: "list<MockToolCall>" = [], "Calls of tools.";
        input_tokens: "count", "Reported tokens of the prompt. Default: one per four bytes.";
        output_tokens: "count", "Reported tokens of the response. Default: one per four bytes.";
        stop_reason: "string", "The reported reason of the end, in the vendor's word.";
        model: "string", "The reported model.";
        r#match: "string", "Glob for the last user message.";
        error: "MockError", "An error instead of a reply.";
        delay_ms: "ms" = 0, "Delay of the reply, in milliseconds of the run's clock.";
    }

    /// A call of a tool in a reply of the mock model.
    pub(crate) MOCK_TOOL_CALL: "MockToolCall" (open) {
        id: "string", "The id of the call. Default: a new one.";
        name: "string" = required, "The name of the tool.";
        arguments: "any" = {}, "The arguments.";
    }

    /// A failure of the mock model.
    pub(crate) MOCK_ERROR: "MockError" {
        category: (ModelErrorKind::TYPE) = required, "The kind of the failure.";
        message: "string", "The message.";
        status: "count", "The HTTP status.";
        retry_after_ms: "ms", "Time after which a retry is allowed, in milliseconds.";
    }
}
