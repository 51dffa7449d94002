"""An MCP server without an SDK, for what official servers do not do. The first argument is the version that it speaks
(`old` or `new`), the second the way in which it misbehaves."""

import json
import os
import sys
import time

ERA, MODE = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "good"
calls = 0
events = []
asked = None


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def notify(method, params):
    send({"method": method, "params": params})


def note(text):
    """Leaves a trace of a request for the test."""
    if path := os.environ.get("TRACE"):
        with open(path, "a") as file:
            file.write(text + "\n")


def schema(**properties):
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


ECHO = {
    "name": "echo",
    "description": "Returns the text.",
    "inputSchema": schema(text={"type": "string"}),
    "annotations": {"readOnlyHint": True, "permission": False},
}


def tools():
    if MODE == "lies":
        return [
            ECHO,
            {"name": "broken", "inputSchema": {"type": "object", "properties": {"x": {"type": "strin"}}}},
            {"name": "text", "inputSchema": "none"},
            {"inputSchema": {"type": "object"}},
            {"name": "sum", "inputSchema": {"type": "object"}, "outputSchema": schema(n={"type": "integer"})},
        ]
    if MODE == "changes" and calls:
        return [{**ECHO, "name": "shout", "description": "Returns the text in capitals."}]
    if MODE == "many":
        return [{**ECHO, "name": f"echo{n}"} for n in range(1000)]
    return [ECHO, {"name": "work", "description": "Works.", "inputSchema": {"type": "object"}}]


def text(said, **more):
    return {"content": [{"type": "text", "text": said}], **more}


def call(id, params):
    global calls, asked
    calls += 1
    name, arguments, token = params["name"], params.get("arguments", {}), params.get("_meta", {}).get("progressToken")
    if MODE == "dies":
        print("cannot open the database", file=sys.stderr)
        print("giving up", file=sys.stderr, flush=True)
        sys.exit(3)
    if MODE == "hangs":
        return None
    if MODE == "floods":
        for n in range(5000):
            notify("notifications/message", {"level": "info", "data": f"line {n}"})
    if MODE == "floods-stderr":
        for n in range(200):
            sys.stderr.write("x" * 4096 + "\n")
    if MODE == "too-large":
        return text("x" * (17 << 20))
    if MODE == "odd":
        print("listening …")
        notify("notifications/future", {"x": 1})
        send({"id": "s1", "method": "ping"})
        send({"id": "s2", "method": "sampling/createMessage", "params": {}})
        send({"id": 999999, "result": {}})
        print("[]", flush=True)
    if MODE == "no-content":
        return {"answer": 1}
    if MODE == "wrong-result":
        send({"id": id, "result": [1]})
        return None
    if MODE in ("nan", "not-text", "cut", "half"):
        line = {
            "nan": '{"jsonrpc": "2.0", "id": %d, "result": {"structuredContent": {"n": NaN}}}',
            "not-text": '{"jsonrpc": "2.0", "id": %d, "result": {"content": [{"type": "text", "text": "\xff"}]}}',
            "cut": '{"jsonrpc": "2.0", "id": %d, "result": {"content": [',
            "half": '{"jsonrpc": "2.0", "id": %d, "result": {"structuredContent": {"n": 123456789012345678901234567890},'
            ' "content": [{"type": "text", "text": "half \\ud83d 123456789012345678901234567890"}]}}',
        }[MODE]
        sys.stdout.flush()
        sys.stdout.buffer.write((line % id).encode("latin-1") + b"\n")
        sys.stdout.flush()
        return None
    if MODE == "error":
        send({"id": id, "error": {"code": -32000, "message": "out of paper", "data": {"tray": 2}}})
        return None
    if MODE == "changes":
        notify("notifications/tools/list_changed", {})
    if MODE == "progress":
        for n in range(4):
            time.sleep(0.6)
            notify("notifications/progress", {"progressToken": token, "progress": n, "total": 4, "message": f"step {n}"})
    if MODE.startswith("reminds"):
        count = 15 if MODE == "reminds-much" else 1
        for n in range(count):
            reminder = {"body": f"The index is stale ({n}).", "roleHint": "developer", "tags": ["index"], "ttlTurns": 2}
            if MODE == "reminds-wrong":
                reminder["propagate"] = "everywhere"
            if ERA == "new":
                events.append({"eventId": f"e{len(events)}", "name": "reminder", "data": reminder})
            else:
                notify("notifications/reminder", {**reminder, "sessionId": "another"})
    if MODE == "asks":
        form = {"message": "Which branch?", "requestedSchema": schema(branch={"type": "string"})}
        if ERA == "new":
            answers = params.get("inputResponses")
            if answers is None:
                request = {"method": "elicitation/create", "params": form}
                return {"resultType": "input_required", "inputRequests": {"q": request}, "requestState": "s"}
            assert params["requestState"] == "s"
            return text(json.dumps(answers["q"], sort_keys=True))
        asked = id
        send({"id": "ask", "method": "elicitation/create", "params": form})
        return None
    if name == "sum":
        return text("many", structuredContent={"n": "many"})
    if name == "shout":
        return text(arguments["text"].upper())
    return text(arguments.get("text", "done"))


def handle(message):
    global asked
    method, id, params = message.get("method"), message.get("id"), message.get("params") or {}
    note(method or "answer " + json.dumps(message.get("result") or message.get("error")))
    if method is None:
        if id == "ask":
            send({"id": asked, "result": text(json.dumps(message["result"], sort_keys=True))})
        return None
    if id is None:
        return None
    if method == "server/discover" and ERA == "new":
        if MODE == "late":
            time.sleep(6)
        capabilities = {"tools": {"listChanged": MODE == "changes"}, "resources": {}, "prompts": {}}
        if MODE.startswith("reminds"):
            capabilities["extensions"] = {"io.modelcontextprotocol/events": {}}
        meta = {"io.modelcontextprotocol/serverInfo": {"name": "hostile", "version": "2"}}
        return {"supportedVersions": ["2026-07-28"], "capabilities": capabilities, "_meta": meta}
    if method == "server/discover" and MODE == "ends-when-probed":
        sys.exit(1)
    if method == "initialize" and ERA == "old":
        if MODE == "mute":
            return None
        version = "1999-01-01" if MODE == "ancient" else "2025-06-18"
        capabilities = {"tools": {"listChanged": True}, "resources": {}, "prompts": {}}
        return {"protocolVersion": version, "capabilities": capabilities, "serverInfo": {"name": "hostile", "version": "1"}}
    if method == "tools/list":
        if MODE == "endless":
            return {"tools": [], "nextCursor": "again"}
        if MODE == "many":
            start = int(params.get("cursor") or 0)
            page = {"tools": tools()[start : start + 300]}
            return {**page, "nextCursor": str(start + 300)} if start + 300 < 1000 else page
        return {"tools": tools()}
    if method == "tools/call":
        return call(id, params)
    if method == "resources/list":
        return {"resources": [{"uri": "note:1", "name": "first"}]}
    if method == "resources/read":
        return {"contents": [{"uri": params["uri"], "mimeType": "text/plain", "text": "the note"}]}
    if method == "prompts/list":
        return {"prompts": [{"name": "review", "arguments": [{"name": "what", "required": True}]}]}
    if method == "prompts/get":
        said = {"type": "text", "text": f"Review {params['arguments']['what']}."}
        return {"description": "A review.", "messages": [{"role": "user", "content": said}]}
    if method == "events/poll" and params["name"] == "reminder":
        # The last event is delivered twice, as it may be.
        start = max(int(params["cursor"]) - 1, 0) if "cursor" in params else len(events)
        return {"events": events[start:], "cursor": str(len(events)), "hasMore": False, "nextPollMs": 100}
    if method == "subscriptions/listen":
        return None
    send({"id": id, "error": {"code": -32601, "message": f"unknown method {method}"}})
    return None


if MODE == "ends-at-once":
    print("no licence", file=sys.stderr)
    sys.exit(9)
for line in sys.stdin:
    message = json.loads(line)
    result = handle(message)
    if result is not None:
        send({"id": message["id"], "result": {"resultType": "complete", **result} if ERA == "new" else result})
