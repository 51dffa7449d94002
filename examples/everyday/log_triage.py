"""Triage of a log: errors by their shape, the hosts that have most of them, and what came before the first panic.

    python3 log_triage.py app.log
"""
import re
import sys
from collections import Counter, defaultdict
from datetime import datetime

LINE = re.compile(r"^(?P<time>\S+) \[(?P<level>\w+)\] (?P<host>[\w-]+): (?P<message>.*)$")

with open(sys.argv[1] if len(sys.argv) > 1 else "app.log") as file:
    entries = [found.groupdict() for found in map(LINE.match, file) if found]
errors = [e for e in entries if e["level"] == "ERROR"]
print(f"{len(entries)} lines, {len(errors)} errors")

print("\nShapes")
shapes = defaultdict(list)
for e in errors:
    shapes[re.sub(r"\d+", "N", e["message"])].append(e)
for shape, found in sorted(shapes.items(), key=lambda item: -len(item[1])):
    first = datetime.fromisoformat(found[0]["time"])
    print(f"{len(found):>5}  {shape}  (first at {first:%H:%M:%S})")

print("\nHosts")
for host, count in sorted(Counter(e["host"] for e in errors).items()):
    print(f"{count:>5}  {host}")

panic = next(i for i, e in enumerate(entries) if e["message"].startswith("panic"))
print("\nBefore the first panic")
for e in entries[max(0, panic - 3) : panic + 1]:
    print(f"{e['level']:<6}{e['host']}: {e['message']}")
