"""Answers the questions of tests/mcp/asks.harn with the official client for Python. Arguments: the version, then a URL or a command."""

import sys

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp_types import ElicitResult

version, *target = sys.argv[1:]
replies = []


async def elicit(context, params):
    action, text = replies.pop(0)
    print(params.message, list(params.requested_schema["properties"]), action)
    return ElicitResult(action=action, content={"answer": text} if action == "accept" else None)


async def main():
    def server():
        if target[0].startswith("http"):
            return target[0]
        return stdio_client(StdioServerParameters(command=target[0], args=target[1:]))

    mode = "legacy" if version < "2026" else version
    async with Client(server(), mode=mode, elicitation_callback=elicit) as client:
        print(client.protocol_version)
        for answers in ([("accept", "yes"), ("accept", "too late")], [("accept", "yes"), ("decline", "")], [("cancel", "")]):
            replies.extend(answers)
            print((await client.call_tool("cancel_order", {"id": 7})).content[0].text)
        replies.extend([("accept", "1"), ("accept", "2")])
        print((await client.call_tool("both", {})).content[0].text)
        replies.append(("accept", "me"))
        print((await client.read_resource("user://name")).contents[0].text)
        replies.append(("accept", "the crew"))
        print((await client.get_prompt("greeting", {})).messages[0].content.text)
    async with Client(server(), mode=mode) as client:
        refused = await client.call_tool("cancel_order", {})
        print(refused.is_error, refused.content[0].text)


anyio.run(main)
