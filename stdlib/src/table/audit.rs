//! Receipts of tool calls.

use crate::bind::ScriptFn;
use crate::convert::to_value;
use lang::value::Value;
use lang::vm::{Cx, On, Raise, Wait};
use runtime::receipt::ToolCallReceipt;

lang::builtins! { "" =>
    /// Runs `body` and collects a receipt of each tool call inside it, those of nested loops included: `{value, receipts}`.
    ///
    /// ```harn
    /// let tools = tool_define(tool_registry(), "look", "Looks.", {handler: { a -> "seen" }})
    /// llm_mock(llm_tool_call("look", {}))
    /// llm_mock("done")
    /// let audited = with_audit_log({ -> agent_loop("Go.", nil, {provider: "mock", tools: tools}).text })
    /// [audited.value, audited.receipts.count] // => ["done", 1]
    /// ```
    waits "with_audit_log(body: fn() -> R) -> {value: R, receipts: list<ToolCallReceipt>, ...}" with_audit_log;
}

fn with_audit_log(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let body = ScriptFn::read(cx, args, 0)?;
    Ok(Wait::new(async move {
        let (called, audit) = body.with_audit();
        let value = called.get().await?;
        let receipts = audit.receipts().iter().map(|receipt| to_value(&ToolCallReceipt::to_data(receipt))).collect();
        let [value, receipts] = [("value", value), ("receipts", Value::list(receipts))];
        Ok(match i64::try_from(audit.dropped()).unwrap_or(i64::MAX) {
            0 => Value::record([value, receipts]),
            dropped => Value::record([value, receipts, ("dropped", dropped.into())]),
        })
    })
    .on(On::Script))
}
