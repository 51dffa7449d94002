"""Uses examples/mcp/orders.harn with the official client for Python. Arguments: the version, then a URL or a command."""

import sys

import anyio
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client

version, *target = sys.argv[1:]


async def main():
    logged, steps = [], []

    async def log(params):
        logged.append((params.level, params.data))

    async def progress(done, total, message):
        steps.append((done, total, message))

    server = target[0] if target[0].startswith("http") else stdio_client(
        StdioServerParameters(command=target[0], args=target[1:])
    )
    mode = "legacy" if version < "2026" else version
    options = {"log_level": "info"} if mode != "legacy" else {}
    async with Client(server, mode=mode, logging_callback=log, **options) as client:
        print(client.protocol_version, client.server_info.name if client.server_info else None)
        print(sorted(tool.name for tool in (await client.list_tools()).tools))
        if mode == "legacy":
            await client.set_logging_level("info")
        found = await client.call_tool("find_orders", {"item": "lamp", "limit": 1})
        print(found.structured_content, found.is_error)
        print((await client.call_tool("count_orders", {})).structured_content)
        wrong = await client.call_tool("find_orders", {"itm": "lamp"})
        print(wrong.is_error, wrong.content[0].text.split(":")[0])
        shipped = await client.call_tool("ship_order", {"id": 2, "step_ms": 20}, progress_callback=progress)
        print(shipped.content[0].text, steps)
        print((await client.call_tool("ship_order", {"id": 9})).content[0].text)
        print([r.uri for r in (await client.list_resources()).resources])
        print([r.uri_template for r in (await client.list_resource_templates()).resource_templates])
        print((await client.read_resource("orders://3")).contents[0].text)
        print((await client.read_resource("orders://all")).contents[0].mime_type)
        prompt = (await client.list_prompts()).prompts[0]
        print(prompt.name, [(a.name, a.required) for a in prompt.arguments])
        print((await client.get_prompt("letter", {"id": "2"})).messages[0].content.text)
        for ask in (client.read_resource("nowhere://1"), client.call_tool("fnd_orders", {})):
            try:
                await ask
            except MCPError as error:
                print(error.error.message)
        # A call that is given up is cancelled.
        with anyio.move_on_after(0.3):
            await client.call_tool("ship_order", {"id": 1, "step_ms": 60000})
        print((await client.call_tool("count_orders", {"paid": True})).structured_content)
    print(logged)


anyio.run(main)
