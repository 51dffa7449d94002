"""Checks values against the pydantic types of PyPI `a2a-sdk` 0.3, taken strictly: no keys but those that a type names, under the
names that they have on the wire, and no value that is only nearly of its type. A line of standard input is
`{"type": NAME, "value": …}`; it is answered with a line: `null`, or what is wrong."""

import json
import sys
import typing

from a2a import types
from a2a._base import A2ABaseModel
from pydantic import RootModel, TypeAdapter, ValidationError


def closed():
    """Closes every type of the SDK."""
    every = [of for of in vars(types).values() if isinstance(of, type) and issubclass(of, (A2ABaseModel, RootModel))]
    for of in every:
        if issubclass(of, A2ABaseModel):
            of.model_config |= {"extra": "forbid", "validate_by_name": False}
    # Twice: a type holds those that it is made of as they were.
    for _ in range(3):
        for of in every:
            of.model_rebuild(force=True)


closed()
STREAM = {
    "task": types.Task,
    "message": types.Message,
    "status-update": types.TaskStatusUpdateEvent,
    "artifact-update": types.TaskArtifactUpdateEvent,
}
ADAPTERS: dict[typing.Any, TypeAdapter] = {}


def without_kind(value, path="value"):
    """The types have defaults for `kind`, so that one that is missing is not missed."""
    if isinstance(value, dict):
        if "messageId" in value and value.get("kind") != "message":
            return f"{path} is a message without `kind`"
        if {"contextId", "status", "id"} <= value.keys() and value.get("kind") != "task":
            return f"{path} is a task without `kind`"
        for key, inner in value.items():
            if key == "parts" and isinstance(inner, list):
                for part in inner:
                    if not isinstance(part, dict) or part.get("kind") not in ("text", "file", "data"):
                        return f"{path}.parts has one without `kind`"
            elif key not in ("metadata", "data", "params") and (found := without_kind(inner, f"{path}.{key}")):
                return found
    elif isinstance(value, list):
        return next(filter(None, (without_kind(of, f"{path}[{at}]") for at, of in enumerate(value))), None)
    return None


def fault(name, value):
    if name == "Stream":
        kind = STREAM.get(value.get("kind") if isinstance(value, dict) else None)
        if kind is None:
            return f"a stream tells no such kind: {json.dumps(value)[:200]}"
    else:
        kind = getattr(types, name)
    adapter = ADAPTERS.setdefault(kind, TypeAdapter(kind))
    try:
        adapter.validate_json(json.dumps(value), strict=True)
    except ValidationError as error:
        return f"{kind.__name__}: {error}"
    return without_kind(value)


if __name__ == "__main__":
    for line in sys.stdin:
        row = json.loads(line)
        print(json.dumps(fault(row["type"], row["value"])), flush=True)
