"""Takes values through the protobuf types of PyPI `a2a-sdk` 1.x and writes what comes of them. A line of standard input is
`{"type": NAME, "value": …}`; it is answered with a line: `{"value": …}`, or `{"fault": …}` with what is wrong."""

import json
import sys

from google.protobuf import json_format
from a2a.types import a2a_pb2

for line in sys.stdin:
    row = json.loads(line)
    try:
        read = json_format.ParseDict(row["value"], getattr(a2a_pb2, row["type"])(), ignore_unknown_fields=False)
        print(json.dumps({"value": json_format.MessageToDict(read)}))
    except (json_format.ParseError, TypeError, ValueError) as error:
        print(json.dumps({"fault": str(error)}))
