"""Checks values against the protobuf types of PyPI `a2a-sdk` 1.x, taken strictly. A line of standard input is
`{"type": NAME, "value": …}`; it is answered with a line: `null`, or what is wrong. The SDK's own parser lets a lot through
(fields by their names in snake_case, unset ones that the protocol requires, two members of a `oneof`), so each field is looked at."""

import json
import re
import sys

from google.api import field_behavior_pb2
from google.protobuf import json_format
from google.protobuf.descriptor import FieldDescriptor
from google.rpc import error_details_pb2
from a2a.types import a2a_pb2

# What the protocol leaves open and harn always tells.
ALWAYS = {"Task": ["contextId"]}
STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z")


def repeated(field):
    return field.is_repeated


def one(field, value, path):
    """A value that is not repeated."""
    if field.type == FieldDescriptor.TYPE_MESSAGE:
        name = field.message_type.full_name
        if name == "google.protobuf.Struct":
            return None if isinstance(value, dict) else f"{path} is no object"
        if name in ("google.protobuf.Value", "google.protobuf.ListValue"):
            return None
        if name == "google.protobuf.Timestamp":
            fits = isinstance(value, str) and STAMP.fullmatch(value)
            return None if fits else f"{path} is no time stamp: {value!r}"
        return message(field.message_type, value, path)
    if field.type == FieldDescriptor.TYPE_ENUM:
        known = isinstance(value, str) and value in field.enum_type.values_by_name
        if not known or field.enum_type.values_by_name[value].number == 0:
            return f"{path} is no {field.enum_type.name}: {value!r}"
        return None
    if field.type in (FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES):
        return None if isinstance(value, str) else f"{path} is no string: {value!r}"
    if field.type == FieldDescriptor.TYPE_BOOL:
        return None if isinstance(value, bool) else f"{path} is no bool: {value!r}"
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return None if is_number else f"{path} is no whole number: {value!r}"


def message(descriptor, value, path):
    if not isinstance(value, dict):
        return f"{path} is no object: {value!r}"
    fields = {field.json_name: field for field in descriptor.fields}
    for key, inner in value.items():
        field = fields.get(key)
        if field is None:
            return f"{path}.{key} is not in {descriptor.name}"
        if fault := member(field, inner, f"{path}.{key}"):
            return fault
    for name, field in fields.items():
        required = field_behavior_pb2.REQUIRED in field.GetOptions().Extensions[field_behavior_pb2.field_behavior]
        required = required or name in ALWAYS.get(descriptor.name, ())
        if required and name not in value:
            return f"{path}.{name} is missing"
    for group in descriptor.oneofs:
        if group.name.startswith("_"):
            continue
        set_ones = [field.json_name for field in group.fields if field.json_name in value]
        if len(set_ones) != 1:
            return f"{path} has {set_ones} for {group.name}"
    return None


def member(field, value, path):
    if value is None and not (field.message_type and field.message_type.name == "Value"):
        return f"{path} is null"
    if field.message_type and field.message_type.GetOptions().map_entry:
        if not isinstance(value, dict):
            return f"{path} is no object"
        inner = field.message_type.fields_by_name["value"]
        return next(filter(None, (one(inner, of, f"{path}.{key}") for key, of in value.items())), None)
    if repeated(field):
        if not isinstance(value, list):
            return f"{path} is no list"
        return next(filter(None, (one(field, of, f"{path}[{at}]") for at, of in enumerate(value))), None)
    return one(field, value, path)


def fault(name, value):
    kind = error_details_pb2.ErrorInfo if name == "ErrorInfo" else getattr(a2a_pb2, name)
    if found := message(kind.DESCRIPTOR, value, name):
        return found
    try:
        json_format.ParseDict(value, kind(), ignore_unknown_fields=False)
    except json_format.ParseError as error:
        return f"{name}: {error}"
    return None


if __name__ == "__main__":
    for line in sys.stdin:
        row = json.loads(line)
        print(json.dumps(fault(row["type"], row["value"])), flush=True)
