"""Finds files with the same content, and with `--delete` keeps only the first of each.

    python3 dedupe.py photos --delete
"""
import hashlib
import sys
from collections import defaultdict
from pathlib import Path


def same(paths, key):
    groups = defaultdict(list)
    for path in paths:
        groups[key(path)].append(path)
    return [group for group in groups.values() if len(group) > 1]


delete = "--delete" in sys.argv
folders = [arg for arg in sys.argv[1:] if not arg.startswith("--")]
folder = Path(folders[0] if folders else "photos")
files = sorted(path for path in folder.rglob("*") if path.is_file())

# Only files of the same size can have the same content.
candidates = [path for group in same(files, lambda f: f.stat().st_size) for path in group]
copies = same(candidates, lambda f: hashlib.sha256(f.read_bytes()).hexdigest())

count = waste = 0
for first, *rest in sorted(copies):
    size = first.stat().st_size
    print(f"{first} ({size} bytes)")
    for path in rest:
        print(f"  = {path}")
        if delete:
            path.unlink()
    count += len(rest)
    waste += len(rest) * size
print(f"{len(files)} files, {count} copies, {waste:,} bytes {'freed' if delete else 'wasted'}")
