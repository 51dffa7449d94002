//! The rows of the diagnostics of budgets.

use base::codes;

codes! {
/// The codes of budgets.
pub enum BudgetCode {
    /// A budget that does not cover a request.
    Exhausted = "HARN-LLM-004", Error {
        title: "budget exhausted",
        meaning: "`budget` of `agent_loop` and `llm_call`, and `--budget` of a run, limit what requests use: `usd`, \
            `tokens` and `turns`. Before a request is sent, the most that it can use (its estimated input and its largest \
            answer) must be left; retries, sub-agents, compactions and judges count. The message names the limit and what \
            was spent on what. The request was not sent. A loop ends as `budget_exhausted` with the error in its result; \
            `llm_call` raises it.",
        in_check: false, at_run_time: true,
        fails: "let options = {provider: \"mock\", model: \"claude-sonnet-4-5\", max_tokens: 1000}\nllm_call(\"hello\", nil, {...options, \
                budget: {usd: 0.001}})\n",
        mended: "let options = {provider: \"mock\", model: \"claude-sonnet-4-5\", max_tokens: 1000}\nllm_call(\"hello\", nil, {...options, \
                 budget: {usd: 0.1}})\n",
    },
    /// A budget that cannot be kept.
    Unknown = "HARN-LLM-005", Error {
        title: "price or output limit unknown",
        meaning: "A budget in US dollars needs the price of every model that is asked, and one in dollars or tokens the \
            largest answer. Both are known for many models of Anthropic, OpenAI and Google. For others, add `price` and \
            `output_limit` to a row of `[[capabilities]]` in harn.toml, set `max_tokens`, or limit `turns`. The cost of \
            `llm_caller` is never known. Nothing was sent.",
        in_check: false, at_run_time: true,
        fails: "llm_call(\"hello\", nil, {provider: \"mock\", budget: {usd: 0.5}})\n",
        mended: "llm_call(\"hello\", nil, {provider: \"mock\", model: \"claude-sonnet-4-5\", budget: {usd: 0.5}})\n",
    },
}
}
