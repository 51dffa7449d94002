"""Reads an order from a letter with a model, into a value of a type; an answer that does not fit is an error.

    OPENAI_API_KEY=… python3 extract.py order.txt
"""
import json
import os
import sys
from dataclasses import dataclass
from datetime import date

import requests


@dataclass
class Line:
    product: str
    quantity: int
    price: float


@dataclass
class Order:
    number: str
    needed_by: str
    address: str
    lines: list[Line]


def object_of(**properties):
    keys = list(properties)
    return {"type": "object", "properties": properties, "required": keys, "additionalProperties": False}


TEXT, INT, FLOAT = {"type": "string"}, {"type": "integer"}, {"type": "number"}
LINE = object_of(product=TEXT, quantity=INT, price=FLOAT)
ORDER = object_of(number=TEXT, needed_by=TEXT, address=TEXT, lines={"type": "array", "items": LINE})

with open(sys.argv[1] if len(sys.argv) > 1 else "order.txt") as file:
    letter = file.read()
answer = requests.post(
    os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1") + "/chat/completions",
    headers={"Authorization": f"Bearer {os.environ['OPENAI_API_KEY']}"},
    json={
        "model": os.environ.get("OPENAI_MODEL", "gpt-4.1"),
        "messages": [{"role": "user", "content": f"Extract the order from this letter:\n\n{letter}"}],
        "response_format": {"type": "json_schema", "json_schema": {"name": "order", "strict": True, "schema": ORDER}},
    },
    timeout=60,
)
answer.raise_for_status()
data = json.loads(answer.json()["choices"][0]["message"]["content"])
order = Order(**{**data, "lines": [Line(**line) for line in data["lines"]]})

needed = date.fromisoformat(order.needed_by)
print(f"Order {order.number} for {order.address}, by {needed:%A}, {needed.day} {needed:%B}")
for line in order.lines:
    print(f"{line.quantity:>4} x {line.product:<10}{line.quantity * line.price:>10,.2f}")
print(f"{'Total':<17}{sum(l.quantity * l.price for l in order.lines):>10,.2f}")
