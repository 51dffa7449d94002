"""Keeps an index of Markdown pages up to date: writes it anew whenever a page changes.

    python3 watcher.py notes index.md
"""
import os
import re
import sys
import time
from pathlib import Path

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "notes")
out = Path(sys.argv[2] if len(sys.argv) > 2 else "index.md")
most = int(sys.argv[3]) if len(sys.argv) > 3 else 1_000_000


def state():
    """The standard library cannot watch files: their times are compared every second."""
    return {path: path.stat().st_mtime_ns for path in sorted(folder.glob("**/*.md"))}


def changes(before):
    while True:
        time.sleep(1)
        after = state()
        for path in sorted(before.keys() | after.keys()):
            if path not in after:
                yield "removed", path
            elif path not in before:
                yield "created", path
            elif before[path] != after[path]:
                yield "modified", path
        before = after


def write_index():
    rows = []
    for path in sorted(folder.glob("**/*.md")):
        head, body = re.fullmatch(r"(?:---\n(.*?)---\n)?(.*)", path.read_text(), re.S).groups()
        title = re.search(r"^title: *\"?(.*?)\"?$", head or "", re.M)
        title = title[1] if title else path.stem.replace("-", " ").title()
        rows.append(f"- [{title}]({path}): {len(body.split())} words")
    whole = out.with_suffix(".part")
    whole.write_text(f"# {len(rows)} pages\n\n" + "\n".join(rows) + "\n")
    os.replace(whole, out)


seen = state()
write_index()
print(f"watching {folder}", flush=True)
for count, (kind, path) in enumerate(changes(seen), 1):
    print(f"{kind} {path}", flush=True)
    write_index()
    if count == most:
        break
print(out.read_text(), end="")
