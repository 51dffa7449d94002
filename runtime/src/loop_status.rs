//! [`LoopStatus`], [`StopReason`]: how a loop ended, and why.

use base::words::words;

words! {
    /// The outcome of a loop.
    pub enum LoopStatus {
        /// The model was done.
        Done = "done",
        /// Iterations or tokens ran out.
        BudgetExhausted = "budget_exhausted",
        /// The model neither called a tool nor finished.
        Stuck = "stuck",
        /// A limit of the model cut its answer off.
        CutOff = "cut_off",
        /// The model or its vendor refused to answer.
        Refused = "refused",
        /// It was parked.
        Suspended = "suspended",
        /// A handler refused the prompt.
        Blocked = "blocked",
        /// It was cancelled, or its deadline passed.
        Cancelled = "cancelled",
        /// The model call failed.
        ProviderError = "provider_error",
        /// Something else failed.
        Error = "error",
    }
}

words! {
    /// The reason a loop ended.
    pub enum StopReason {
        /// The model answered without calling a tool.
        Completed = "completed",
        /// The model said the sentinel.
        DoneSentinel = "done_sentinel",
        /// The callback after a turn ended it.
        PostTurnCallback = "post_turn_callback",
        /// The maximum number of iterations was reached.
        MaxIterations = "max_iterations",
        /// The token budget was used up.
        TokenBudget = "token_budget",
        /// A budget did not cover the next request.
        Budget = "budget",
        /// The model repeated the same calls too often.
        RepeatedToolCalls = "repeated_tool_calls",
        /// The model repeatedly answered with an empty text.
        EmptyReply = "empty_reply",
        /// The model neither called a tool nor said the sentinel.
        MaxNudges = "max_nudges",
        /// The answer did not fit the schema.
        OutputSchema = "output_schema",
        /// The answer reached the limit of output tokens.
        MaxTokens = "max_tokens",
        /// The answer filled the context window.
        ContextWindow = "context_window",
        /// The model refused to answer.
        Refusal = "refusal",
        /// A filter of the vendor withheld the answer.
        ContentFilter = "content_filter",
        /// The vendor paused the answer again and again.
        Paused = "paused",
        /// It was parked.
        Suspended = "suspended",
        /// A handler refused the prompt.
        UserPromptSubmitBlocked = "user_prompt_submit_blocked",
        /// Its session was closed.
        SessionClosed = "session_closed",
        /// It was cancelled.
        Cancelled = "cancelled",
        /// Its deadline passed.
        Deadline = "deadline",
        /// The model call failed.
        ProviderError = "provider_error",
        /// Something else failed.
        Error = "error",
    }
}
