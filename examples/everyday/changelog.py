"""A changelog from the commits of a git repository since its last tag, by kind of change.

    python3 changelog.py path/to/repository
"""
import subprocess
import sys

KINDS = {"docs": "Documentation", "feat": "Added", "fix": "Fixed", "perf": "Faster"}


def git(*arguments):
    command = ["git", "-C", repo, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


repo = sys.argv[1] if len(sys.argv) > 1 else "."
tag = git("describe", "--tags", "--abbrev=0")[0]
commits = []
for line in git("log", f"{tag}..HEAD", "--pretty=format:%h%x09%an%x09%as%x09%s"):
    commit, author, date, subject = line.split("\t")
    scope, text = subject.split(": ", 1) if ": " in subject else ("other", subject)
    kind = scope.split("(")[0].removesuffix("!")
    commits.append({
        "hash": commit,
        "author": author,
        "date": date,
        "kind": kind if kind in KINDS else "other",
        "text": ("**Breaking:** " if scope.endswith("!") else "") + text,
    })

authors = ", ".join(sorted({c["author"] for c in commits}))
print(f"# Changes since {tag}\n")
print(f"{len(commits)} commits by {authors}, {commits[-1]['date']} to {commits[0]['date']}")
for kind, title in [*KINDS.items(), ("other", "Other")]:
    changes = [c for c in commits if c["kind"] == kind]
    if not changes:
        continue
    print(f"\n## {title}\n")
    for c in changes:
        print(f"- {c['text']} ({c['hash']})")
