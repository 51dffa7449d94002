"""An MCP server with the official SDK for Python: over standard input and output, or over HTTP at a port."""

import sys

from mcp.server.mcpserver import Context, MCPServer

lab = MCPServer("lab", instructions="Use it for sums.")


@lab.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@lab.tool()
async def slow(ctx: Context, steps: int) -> str:
    """Reports progress."""
    for n in range(steps):
        await ctx.report_progress(n + 1, steps, f"step {n + 1}")
    return "done"


@lab.tool()
def fail() -> str:
    """Fails."""
    raise ValueError("out of paper")


@lab.resource("note://{name}")
def note(name: str) -> str:
    """A note."""
    return f"the note {name}"


@lab.prompt()
def review(what: str) -> str:
    """A review."""
    return f"Review {what}."


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        lab.run("stdio")
    else:
        lab.run("streamable-http", port=int(sys.argv[2]))
