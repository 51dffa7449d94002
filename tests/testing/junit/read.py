"""Reads a JUnit document from standard input and prints what it holds as a line of JSON for each test."""

import json
import sys

from junitparser import Error, Failure, JUnitXml, Skipped

document = JUnitXml.fromstring(sys.stdin.buffer.read())
WORDS = {Failure: "failure", Error: "error", Skipped: "skipped"}
for suite in document:
    for case in suite:
        result = case.result[0] if case.result else None
        print(json.dumps({
            "suite": suite.name,
            "name": case.name,
            "class": case.classname,
            "status": WORDS[type(result)] if result is not None else "passed",
            "type": result.type if result is not None else None,
            "message": result.message if result is not None else None,
            "text": result.text if result is not None else None,
            "output": case.system_out,
        }))
print(json.dumps({"tests": document.tests, "failures": document.failures, "errors": document.errors}))
