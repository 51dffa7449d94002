"""Reads all pages of a JSON API into typed items, and prints the dearest of them.

    API_TOKEN=… python3 api_client.py https://api.example.com lens
"""
import os
import sys
from dataclasses import dataclass, field

import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry


@dataclass
class Item:
    id: int
    name: str
    price: float
    tags: list[str] = field(default_factory=list)


base = sys.argv[1]
search = sys.argv[2] if len(sys.argv) > 2 else ""
session = requests.Session()
session.headers["Authorization"] = f"Bearer {os.environ.get('API_TOKEN', '')}"
retries = Retry(2, status_forcelist=[429, 502, 503, 504], backoff_factor=0.5)
for scheme in ("http://", "https://"):
    session.mount(scheme, HTTPAdapter(max_retries=retries))


def items():
    page = 1
    while page is not None:
        r = session.get(f"{base}/items", params={"page": page, "q": search}, timeout=5)
        if not r.ok:
            raise RuntimeError(f"{r.status_code}: {r.text}")
        found = r.json()
        for item in found["items"]:
            yield Item(**item)
        page = found["next"]


found = list(items())
total = sum(i.price for i in found)
print(f"{len(found)} items, {total:,.2f} in total, {total / len(found):.2f} on average")
for item in sorted(found, key=lambda i: -i.price)[:3]:
    print(f"{item.id:>4}  {item.name:<12}{item.price:>9,.2f}  {', '.join(item.tags)}".rstrip())
