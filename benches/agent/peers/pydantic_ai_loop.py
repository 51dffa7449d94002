"""One tool call a turn in pydantic-ai, with an instruction in each prompt that is made anew for the next."""

import itertools

import measure
from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.usage import RequestUsage, UsageLimits

TURN = itertools.count(1)
# Given, so that the fake model does not count all messages each turn.
USAGE = RequestUsage(input_tokens=100, output_tokens=5)


def run(turns):
    numbers = itertools.count()

    def answer(messages, info):
        n = next(numbers)
        if n == turns:
            return ModelResponse(parts=[TextPart("done")], usage=USAGE)
        return ModelResponse(parts=[ToolCallPart("step", {"n": n}, f"call_{n}")], usage=USAGE)

    agent = Agent(FunctionModel(answer))

    @agent.tool_plain
    def step(n: int) -> str:
        """Does one step."""
        measure.mark()
        return "ok"

    @agent.instructions
    def remind() -> str:
        return f"Turn {next(TURN)} is over; keep the goal in mind."

    result = agent.run_sync("Do the steps.", usage_limits=UsageLimits(request_limit=None))
    assert result.output == "done"


if __name__ == "__main__":
    measure.main(run)
