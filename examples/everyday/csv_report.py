"""A report of sales by month and region, as text, and as JSON for others.

    python3 csv_report.py sales.csv report.json
"""
import csv
import json
import sys
from collections import defaultdict
from dataclasses import dataclass
from datetime import date


@dataclass
class Sale:
    date: date
    region: str
    product: str
    amount: float
    note: str


def total(rows):
    return sum(s.amount for s in rows)


def group_by(rows, key):
    groups = defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    return dict(sorted(groups.items()))


path = sys.argv[1] if len(sys.argv) > 1 else "sales.csv"
out = sys.argv[2] if len(sys.argv) > 2 else "report.json"
with open(path, newline="") as file:
    sales = [
        Sale(**{**row, "date": date.fromisoformat(row["date"]), "amount": float(row["amount"])})
        for row in csv.DictReader(file)
    ]
days = (sales[-1].date - sales[0].date).days + 1
print(f"{len(sales)} sales in {days} days, {total(sales):,.2f} in total")

months = group_by(sales, lambda s: s.date.strftime("%Y-%m"))
for month, rows in months.items():
    print(f"\n{month:<18}{total(rows):>10,.2f}")
    for region, part in group_by(rows, lambda s: s.region).items():
        print(f"  {region:<16}{total(part):>10,.2f}")

best = max(sales, key=lambda s: s.amount)
print(f"\nBest sale: {best.product} on {best.date.day} {best.date:%B}")
with open(out, "w") as file:
    json.dump({month: total(rows) for month, rows in months.items()}, file, indent=2)
