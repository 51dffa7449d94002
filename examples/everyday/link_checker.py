"""Checks the links of Markdown pages: those to the web by asking, at most eight at a time, those to files by looking.

    python3 link_checker.py docs
"""
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import requests


def problem(link):
    page, target = link
    if not re.match("https?://", target):
        return None if (page.parent / target).exists() else "no such file"
    try:
        r = requests.head(target, timeout=5, allow_redirects=True)
        return None if r.ok else f"status {r.status_code}"
    except requests.RequestException as e:
        return str(e)


pages = sorted(Path(sys.argv[1] if len(sys.argv) > 1 else "links").glob("**/*.md"))
links = [(page, target) for page in pages for target in re.findall(r"\]\(([^)#\s]+)\)", page.read_text())]
with ThreadPoolExecutor(max_workers=8) as pool:
    problems = list(pool.map(problem, links))
broken = [(link, why) for link, why in zip(links, problems) if why]
for (page, target), why in broken:
    print(f"{page}: {target}: {why}")
print(f"{len(pages)} pages, {len(links)} links, {len(broken)} broken")
sys.exit(1 if broken else 0)
