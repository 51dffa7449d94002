"""Decodes requests of OTLP/HTTP with the classes of PyPI `opentelemetry-proto`: hex of a body in each line of standard input."""

import json
import sys

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status


def value(found):
    kind = found.WhichOneof("value")
    if kind == "array_value":
        return [value(item) for item in found.array_value.values]
    return getattr(found, kind)


def attributes(pairs):
    return {pair.key: value(pair.value) for pair in pairs}


def span(found, resource, scope):
    return {
        "trace": found.trace_id.hex(),
        "id": found.span_id.hex(),
        "parent": found.parent_span_id.hex(),
        "name": found.name,
        "kind": Span.SpanKind.Name(found.kind),
        "start": found.start_time_unix_nano,
        "end": found.end_time_unix_nano,
        "attributes": attributes(found.attributes),
        "events": [
            {"name": event.name, "at": event.time_unix_nano, "attributes": attributes(event.attributes)}
            for event in found.events
        ],
        "status": Status.StatusCode.Name(found.status.code),
        "resource": resource,
        "scope": scope,
    }


spans = []
for line in sys.stdin:
    request = ExportTraceServiceRequest()
    request.ParseFromString(bytes.fromhex(line.strip()))
    for of_resource in request.resource_spans:
        resource = attributes(of_resource.resource.attributes)
        for of_scope in of_resource.scope_spans:
            spans += [span(found, resource, of_scope.scope.name) for found in of_scope.spans]
json.dump(spans, sys.stdout)
