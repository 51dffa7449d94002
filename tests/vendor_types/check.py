"""Checks bodies of requests against the types of the vendors' own SDKs, and makes bodies of answers out of them.

Standard input is one JSON document:

    {"requests": [{"name", "wire", "streamed", "body"}], "broken": [{"name", "wire", "streamed", "body"}]}

Standard output is one too:

    {"requests": {name: fault or null}, "broken": {name: fault or null}, "answers": {name: {"wire", "body"}}}

An SDK's parameter types are checked by `Checker`, not by pydantic: pydantic takes `Iterable[…]` without looking into it, ignores
keys that a TypedDict does not have, and turns "1" into 1. Types that are pydantic models are read strictly and written out
again; what does not come out as it went in was not understood.
"""

import base64
import collections.abc
import json
import sys
import types
import typing

import anthropic.types as anthropic
import ollama
import pydantic
import typing_extensions as te
from anthropic.types import message_create_params as anthropic_params
from google.genai import models as google_models
from google.genai import types as google
from openai.types import chat as openai_chat
from openai.types import responses as openai_responses
from openai.types.chat import completion_create_params as chat_params
from openai.types.responses import response_create_params as responses_params


class Fault(Exception):
    """Where a body differs from its type, and how."""

    def __init__(self, path, message):
        super().__init__(f"{path or 'body'}: {message}")
        # How far the check came: of a union's faults the deepest tells most.
        self.depth = path.count(".") + path.count("[")


class Checker:
    """A document against Python's types, to the letter."""

    def __init__(self):
        self.hints = {}

    def check(self, kind, value, path=""):
        kind = plain(kind)
        origin, args = typing.get_origin(kind), typing.get_args(kind)
        if kind in (typing.Any, object):
            return
        if kind is None or kind is type(None):
            self.must(value is None, path, "null", value)
        elif origin in (typing.Union, types.UnionType):
            self.union(args, value, path)
        elif origin is typing.Literal:
            self.must(any(value == word and type(value) is type(word) for word in args), path, f"one of {args}", value)
        elif te.is_typeddict(kind):
            self.typed_dict(kind, value, path)
        elif origin in (list, collections.abc.Iterable, collections.abc.Sequence):
            self.must(isinstance(value, list), path, "a list", value)
            for index, item in enumerate(value):
                self.check(args[0], item, f"{path}[{index}]")
        elif origin in (dict, collections.abc.Mapping):
            self.must(isinstance(value, dict), path, "an object", value)
            for key, item in value.items():
                self.check(args[1], item, f"{path}.{key}")
        elif kind is float:
            self.must(isinstance(value, (int, float)) and not isinstance(value, bool), path, "a number", value)
        elif kind is int:
            self.must(isinstance(value, int) and not isinstance(value, bool), path, "a whole number", value)
        elif isinstance(kind, type) and issubclass(kind, pydantic.BaseModel):
            # For programs that hand an answer's block back. They keep whatever they are given, so they tell nothing.
            raise Fault(path, f"{kind.__name__} is an object of the SDK")
        elif isinstance(kind, type):
            self.must(isinstance(value, kind), path, kind.__name__, value)
        else:
            raise Fault(path, f"the check does not know the type {kind!r}")

    def must(self, holds, path, expected, value):
        if not holds:
            raise Fault(path, f"expected {expected}, got {json.dumps(value)[:120]}")

    def union(self, kinds, value, path):
        faults = []
        for kind in kinds:
            try:
                return self.check(kind, value, path)
            except Fault as fault:
                faults.append(fault)
        raise max(faults, key=lambda fault: fault.depth)

    def typed_dict(self, kind, value, path):
        self.must(isinstance(value, dict), path, kind.__name__, value)
        if kind not in self.hints:
            # `__required_keys__` knows nothing of annotations that are kept as text.
            self.hints[kind] = te.get_type_hints(kind, include_extras=True)
        hints = self.hints[kind]
        for key in value:
            if key not in hints:
                raise Fault(f"{path}.{key}", f"{kind.__name__} has no such key")
        for key, hint in hints.items():
            if key in value:
                self.check(hint, value[key], f"{path}.{key}")
            elif is_required(hint):
                raise Fault(f"{path}.{key}", f"{kind.__name__} needs this key")


def plain(kind):
    """A type without what is said about it."""
    while typing.get_origin(kind) in (typing.Annotated, te.Required, te.NotRequired, typing.Required, typing.NotRequired):
        kind = typing.get_args(kind)[0]
    return getattr(kind, "__supertype__", kind)


def is_required(hint):
    while typing.get_origin(hint) is typing.Annotated:
        hint = typing.get_args(hint)[0]
    return typing.get_origin(hint) in (te.Required, typing.Required)


def model(kind, value, path):
    """A document against a pydantic model: read strictly, it comes out as it went in."""
    try:
        read = kind.model_validate_json(json.dumps(value), strict=True)
    except pydantic.ValidationError as error:
        first = error.errors()[0]
        raise Fault(path + "".join(f".{part}" for part in first["loc"]), first["msg"]) from error
    same(value, read.model_dump(mode="json", by_alias=True, exclude_unset=True), path)


def same(sent, understood, path):
    if isinstance(sent, dict) and isinstance(understood, dict):
        for key in sent.keys() | understood.keys():
            if key not in understood:
                raise Fault(f"{path}.{key}", "no such key")
            same(sent.get(key), understood[key], f"{path}.{key}")
    elif isinstance(sent, list) and isinstance(understood, list) and len(sent) == len(understood):
        for index, (one, other) in enumerate(zip(sent, understood)):
            same(one, other, f"{path}[{index}]")
    elif sent != understood:
        raise Fault(path, f"understood as {json.dumps(understood)[:80]}, sent {json.dumps(sent)[:80]}")


def need(document, keys, path):
    for key in keys:
        if document.get(key) in (None, "", []):
            raise Fault(f"{path}.{key}", "this key is needed")


# ---- The wires ----

CHECKER = Checker()


def check_anthropic(body, streamed):
    kind = anthropic_params.MessageCreateParamsStreaming if streamed else anthropic_params.MessageCreateParamsNonStreaming
    CHECKER.check(kind, body)
    answered_calls(
        calls=[block["id"] for block in blocks(body["messages"]) if block["type"] == "tool_use"],
        results=[block["tool_use_id"] for block in blocks(body["messages"]) if block["type"] == "tool_result"],
    )


def blocks(messages):
    return [block for message in messages if isinstance(message["content"], list) for block in message["content"]]


def check_openai_chat(body, streamed):
    kind = (
        chat_params.CompletionCreateParamsStreaming if streamed else chat_params.CompletionCreateParamsNonStreaming
    )
    CHECKER.check(kind, body)
    answered_calls(
        calls=[call["id"] for message in body["messages"] for call in message.get("tool_calls", [])],
        results=[message["tool_call_id"] for message in body["messages"] if message["role"] == "tool"],
    )


def check_openai_responses(body, streamed):
    kind = (
        responses_params.ResponseCreateParamsStreaming if streamed else responses_params.ResponseCreateParamsNonStreaming
    )
    CHECKER.check(kind, body)
    items = body["input"]
    answered_calls(
        calls=[item["call_id"] for item in items if item.get("type") == "function_call"],
        results=[item["call_id"] for item in items if item.get("type") == "function_call_output"],
    )


def answered_calls(calls, results):
    """The vendors refuse calls without results, results without calls, and ids that stand twice."""
    if len(set(calls)) != len(calls) or sorted(calls) != sorted(results):
        raise Fault("", f"calls {calls} and results {results} do not belong together")


class GoogleBody(pydantic.BaseModel):
    """What the SDK's client puts together out of these types. The model's name and whether pieces are wanted stand in the URL."""

    model_config = pydantic.ConfigDict(extra="forbid")

    contents: list[google.Content]
    systemInstruction: typing.Optional[google.Content] = None
    tools: typing.Optional[list[google.Tool]] = None
    toolConfig: typing.Optional[google.ToolConfig] = None
    generationConfig: typing.Optional[google.GenerationConfig] = None


def check_gemini(body, streamed):
    model(GoogleBody, body, "")
    for index, content in enumerate(body["contents"]):
        path = f"contents[{index}]"
        need(content, ["role", "parts"], path)
        if content["role"] not in ("user", "model"):
            raise Fault(f"{path}.role", f"expected user or model, got {content['role']}")
        for part in content["parts"]:
            google_part(part, path)
    for tool in body.get("tools", []):
        for declaration in tool["functionDeclarations"]:
            need(declaration, ["name", "parametersJsonSchema"], "tools")
            if "description" not in declaration:
                raise Fault("tools.description", "this key is needed")
    same(body, google_client_body(body), "")


def google_part(part, path):
    """All fields of a part are optional in the SDK's type; the API wants one that says something."""
    said = [key for key in part if key not in ("thought", "thoughtSignature", "videoMetadata")]
    if len(said) != 1:
        raise Fault(path, f"a part says one thing, not {said}")
    for key, needed in {
        "functionCall": ["name"],
        "functionResponse": ["name", "response"],
        "inlineData": ["mimeType", "data"],
        "fileData": ["fileUri"],
    }.items():
        if key in part:
            need(part[key], needed, f"{path}.{key}")
    for inner in part.get("functionResponse", {}).get("parts", []):
        google_part(inner, f"{path}.functionResponse")


def google_client_body(body):
    """The body that the SDK's own client writes when it is given what ours says."""
    generation = body.get("generationConfig", {})
    config = {
        **{key: value for key, value in generation.items()},
        **{key: body[key] for key in ("systemInstruction", "tools", "toolConfig") if key in body},
    }
    parameters = google._GenerateContentParameters(
        model="any",
        contents=[google.Content.model_validate(content) for content in body["contents"]],
        config=google.GenerateContentConfig.model_validate(config),
    )
    client = google_client()
    written = google_models._GenerateContentParameters_to_mldev(client._api_client, parameters, None, parameters)
    written.pop("_url", None)
    written = json.loads(json.dumps(written, default=google_default))
    if not generation:
        written.pop("generationConfig", None)
    return written


def google_client(_made=[]):
    if not _made:
        from google import genai

        _made.append(genai.Client(api_key="none"))
    return _made[0]


def google_default(value):
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return value.model_dump(mode="json", by_alias=True, exclude_none=True)


def check_ollama(body, streamed):
    rest = {key: value for key, value in body.items() if key not in ("messages", "tools", "options")}
    model(ollama._types.ChatRequest, rest, "")
    need(body, ["model", "messages"], "")
    if body.get("stream") is not streamed:
        raise Fault(".stream", f"expected {streamed}, got {body.get('stream')}: without a word the server streams")
    # The request's own type takes any object for a message.
    for index, message in enumerate(body["messages"]):
        path = f"messages[{index}]"
        model(ollama.Message, {key: value for key, value in message.items() if key != "images"}, path)
        for image in message.get("images", []):
            ollama_image(image, path)
        if message["role"] not in ("system", "user", "assistant", "tool"):
            raise Fault(f"{path}.role", f"no role {message['role']}")
        if message["role"] == "tool":
            need(message, ["tool_name"], path)
        need(message, [] if message.get("tool_calls") or message.get("images") else ["content"], path)
    for index, tool in enumerate(body.get("tools", [])):
        path = f"tools[{index}]"
        need(tool, ["type", "function"], path)
        function = tool["function"]
        for key in ("name", "description", "parameters"):
            if key not in function:
                raise Fault(f"{path}.function.{key}", "this key is needed")
        model(ollama.Tool, {**tool, "function": {**function, "parameters": ollama_schema(function["parameters"])}}, path)
    model(ollama.Options, body.get("options", {}), "options")


# What may stand in a schema besides. The SDK's type knows a part of JSON Schema; the server passes over the rest.
SCHEMA_WORDS = {"additionalProperties", "anyOf", "const", "default", "format", "maximum", "minimum", "oneOf", "pattern"}


def ollama_schema(schema):
    """The part of a schema that the SDK's type knows."""
    if not isinstance(schema, dict):
        return schema
    known = {key: value for key, value in schema.items() if key not in SCHEMA_WORDS}
    if isinstance(known.get("properties"), dict):
        known["properties"] = {name: ollama_schema(below) for name, below in known["properties"].items()}
    return known


def ollama_image(image, path):
    """The SDK's type holds bytes or a file's path and writes base64; here it stands on the wire already."""
    try:
        base64.b64decode(image, validate=True)
    except (TypeError, ValueError) as error:
        raise Fault(f"{path}.images", f"expected base64, got {json.dumps(image)[:80]}") from error
    same(image, ollama.Image(value=image).model_dump(), f"{path}.images")


CHECKS = {
    "anthropic": check_anthropic,
    "openai_chat": check_openai_chat,
    "openai_responses": check_openai_responses,
    "gemini": check_gemini,
    "ollama": check_ollama,
}


def fault_of(case):
    try:
        CHECKS[case["wire"]](case["body"], case["streamed"])
        return None
    except Fault as fault:
        return str(fault)
    except Exception as error:  # noqa: BLE001 - a body that breaks the check is no good body
        return f"{type(error).__name__}: {error}"


# ---- Answers, made of the SDKs' own types ----


def dumped(answer):
    return json.loads(answer.model_dump_json(by_alias=True))


def anthropic_answer():
    return anthropic.Message(
        id="msg_1",
        type="message",
        role="assistant",
        model="claude-sonnet-4-5",
        content=[
            anthropic.ThinkingBlock(type="thinking", thinking="Let me look.", signature="c2ln"),
            anthropic.TextBlock(type="text", text="I look.", citations=None),
            anthropic.ToolUseBlock(type="tool_use", id="toolu_1", name="read", input={"path": "a"}),
        ],
        stop_reason="tool_use",
        stop_sequence=None,
        usage=anthropic.Usage(
            input_tokens=10, output_tokens=5, cache_read_input_tokens=3, cache_creation_input_tokens=2
        ),
    )


def chat_answer():
    return openai_chat.ChatCompletion.model_validate(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": "gpt-5-mini",
            "choices": [
                {
                    "index": 0,
                    "finish_reason": "tool_calls",
                    "logprobs": None,
                    "message": {
                        "role": "assistant",
                        "content": "I look.",
                        "refusal": None,
                        "tool_calls": [
                            {
                                "id": "call_1",
                                "type": "function",
                                "function": {"name": "read", "arguments": '{"path": "a"}'},
                            }
                        ],
                    },
                }
            ],
            "usage": {
                "prompt_tokens": 15,
                "completion_tokens": 5,
                "total_tokens": 20,
                "prompt_tokens_details": {"cached_tokens": 3, "cache_write_tokens": 2},
            },
        },
        strict=True,
    )


def responses_answer():
    return openai_responses.Response.model_validate_json(
        json.dumps(
            {
                "id": "resp_1",
                "object": "response",
                "created_at": 1,
                "status": "completed",
                "model": "gpt-5-pro",
                "parallel_tool_calls": True,
                "tool_choice": "auto",
                "tools": [],
                "output": [
                    {
                        "type": "reasoning",
                        "id": "rs_1",
                        "summary": [{"type": "summary_text", "text": "Let me look."}],
                        "encrypted_content": "c2ln",
                    },
                    {
                        "type": "message",
                        "id": "msg_1",
                        "role": "assistant",
                        "status": "completed",
                        "content": [{"type": "output_text", "text": "I look.", "annotations": []}],
                    },
                    {
                        "type": "function_call",
                        "id": "fc_1",
                        "call_id": "call_1",
                        "name": "read",
                        "arguments": '{"path": "a"}',
                        "status": "completed",
                    },
                ],
                "usage": {
                    "input_tokens": 15,
                    "output_tokens": 5,
                    "total_tokens": 20,
                    "input_tokens_details": {"cached_tokens": 3, "cache_write_tokens": 2},
                    "output_tokens_details": {"reasoning_tokens": 1},
                },
            }
        )
    )


def gemini_answer():
    return google.GenerateContentResponse(
        response_id="resp",
        model_version="gemini-2.5-flash",
        candidates=[
            google.Candidate(
                index=0,
                finish_reason=google.FinishReason.STOP,
                content=google.Content(
                    role="model",
                    parts=[
                        google.Part(text="Let me look.", thought=True),
                        google.Part(text="I look."),
                        google.Part(
                            function_call=google.FunctionCall(id="call_1", name="read", args={"path": "a"}),
                            thought_signature=b"sig",
                        ),
                    ],
                ),
            )
        ],
        usage_metadata=google.GenerateContentResponseUsageMetadata(
            prompt_token_count=15,
            candidates_token_count=4,
            thoughts_token_count=1,
            cached_content_token_count=3,
            total_token_count=20,
        ),
    )


def ollama_answer():
    call = ollama.Message.ToolCall(function=ollama.Message.ToolCall.Function(name="read", arguments={"path": "a"}))
    return ollama.ChatResponse(
        model="llama3.2",
        created_at="2025-01-01T00:00:00Z",
        done=True,
        done_reason="stop",
        prompt_eval_count=15,
        eval_count=5,
        message=ollama.Message(role="assistant", content="I look.", thinking="Let me look.", tool_calls=[call]),
    )


ANSWERS = {
    "anthropic": anthropic_answer,
    "openai_chat": chat_answer,
    "openai_responses": responses_answer,
    "gemini": gemini_answer,
    "ollama": ollama_answer,
}


def main():
    asked = json.load(sys.stdin)
    told = {part: {case["name"]: fault_of(case) for case in asked[part]} for part in ("requests", "broken")}
    told["answers"] = {wire: dumped(answer()) for wire, answer in ANSWERS.items()}
    json.dump(told, sys.stdout)


if __name__ == "__main__":
    main()
