"""One tool call a turn in langgraph's prebuilt agent, with a note in each prompt that is gone from the next."""

import itertools
import warnings

import measure
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, SystemMessage
from langchain_core.tools import tool

warnings.simplefilter("ignore")
from langgraph.prebuilt import create_react_agent  # noqa: E402


class Fake(GenericFakeChatModel):
    """The library's fake model, which only lacks that tools can be bound."""

    def bind_tools(self, tools, **kwargs):
        return self


@tool
def step(n: int) -> str:
    """Does one step."""
    measure.mark()
    return "ok"


TURN = itertools.count(1)


def remind(state):
    """The note is in this prompt and in no other: the state does not hold it."""
    note = SystemMessage(f"Turn {next(TURN)} is over; keep the goal in mind.")
    return {"llm_input_messages": [*state["messages"], note]}


def answers(turns):
    for n in range(turns):
        yield AIMessage("", tool_calls=[{"name": "step", "args": {"n": n}, "id": f"call_{n}"}])
    yield AIMessage("done")


def run(turns):
    agent = create_react_agent(Fake(messages=answers(turns)), [step], pre_model_hook=remind)
    # Each turn is three steps of the graph: hook, model, tool.
    result = agent.invoke({"messages": [("user", "Do the steps.")]}, {"recursion_limit": 3 * turns + 10})
    assert result["messages"][-1].content == "done"


if __name__ == "__main__":
    measure.main(run)
