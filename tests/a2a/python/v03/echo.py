"""Takes values through the pydantic types of PyPI `a2a-sdk` 0.3 and writes what comes of them. A line of standard input is
`{"type": NAME, "value": …}`; it is answered with a line: `{"value": …}`, or `{"fault": …}` with what is wrong."""

import json
import sys

from a2a import types
from pydantic import TypeAdapter, ValidationError

STREAM = types.Task | types.Message | types.TaskStatusUpdateEvent | types.TaskArtifactUpdateEvent

for line in sys.stdin:
    row = json.loads(line)
    kind = TypeAdapter(STREAM if row["type"] == "Stream" else getattr(types, row["type"]))
    try:
        # As a transport reads and writes it.
        read = kind.validate_python(row["value"])
        print(json.dumps({"value": kind.dump_python(read, mode="json", by_alias=True, exclude_unset=True)}))
    except ValidationError as error:
        print(json.dumps({"fault": str(error)}))
