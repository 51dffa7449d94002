"""Checks the front matter of Markdown pages: a title, a date that exists, tags; and the links from page to page.

    python3 front_matter_lint.py notes
"""
import datetime
import json
import re
import sys
from pathlib import Path


def parse(text):
    """The standard library has no YAML: this reads `key: value`, with lists and bools as JSON writes them."""
    found = re.match(r"---\n(.*?)---\n(.*)", text, re.S)
    if not found:
        return {}, text
    data = {}
    for line in found[1].splitlines():
        key, _, value = line.partition(":")
        value = value.strip()
        if value.startswith("["):
            data[key] = [item.strip() for item in value[1:-1].split(",") if item.strip()]
        else:
            data[key] = {"true": True, "false": False}.get(value, value.strip('"'))
    return data, found[2]


def problems(path):
    data, body = parse(path.read_text())
    if not data:
        return ["no front matter"]
    found = []
    if not data.get("title"):
        found.append("title: empty")
    try:
        datetime.date.fromisoformat(data.get("date", ""))
    except ValueError:
        found.append(f"date: {data.get('date')} does not exist")
    tags = data.get("tags")
    if not isinstance(tags, list):
        found.append(f"tags: expected list<string>, found {json.dumps(tags)}")
    elif not tags and not data.get("draft"):
        found.append("tags: none")
    for link in re.findall(r"\]\(([^)#:]+)\)", body):
        if not (path.parent / link).exists():
            found.append(f"broken link: {link}")
    return found


pages = sorted(Path(sys.argv[1] if len(sys.argv) > 1 else "notes").glob("**/*.md"))
bad = {page: found for page in pages if (found := problems(page))}
for page, found in bad.items():
    for problem in found:
        print(f"{page}: {problem}")
print(f"{len(pages)} pages, {len(bad)} with problems")
sys.exit(1 if bad else 0)
