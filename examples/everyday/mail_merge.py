"""Writes a mail for each customer from a template and a list of invoices.

    python3 mail_merge.py mail out
"""
import csv
import re
import sys
from collections import defaultdict
from datetime import date
from pathlib import Path

# The standard library has no templates with conditions and loops: the text is put together here.
MAIL = """To: {name} <{email}>
Subject: {subject}

Dear {name},

your invoices are {state} {due.day} {due:%B %Y}:
{items}

Total: {total:.2f} EUR

The shop
"""

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "mail")
out = Path(sys.argv[2] if len(sys.argv) > 2 else "out")
today = date(2026, 3, 10)
customers = defaultdict(list)
with open(folder / "invoices.csv", newline="") as file:
    for row in csv.DictReader(file):
        customers[row["email"]].append(row)

out.mkdir(exist_ok=True)
for email, items in sorted(customers.items()):
    name, due = items[0]["name"], date.fromisoformat(items[0]["due"])
    overdue = due < today
    subject = f"Overdue: {len(items)} invoices" if overdue else "Your invoices"
    path = out / (re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") + ".eml")
    path.write_text(MAIL.format(
        name=name,
        email=email,
        subject=subject,
        state="overdue since" if overdue else "due on",
        due=due,
        items="\n".join(f"- {i['title']}: {float(i['price']):.2f} EUR" for i in items),
        total=sum(float(i["price"]) for i in items),
    ))
    print(f"{path}: {subject}")
