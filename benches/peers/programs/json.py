import json
import sys


def run(path):
    with open(path) as file:
        data = json.loads(file.read())
    text = json.dumps(data, separators=(",", ":"))
    again = json.loads(text)
    return len(text) + len(again["records"]) + again["records"][100]["size"]


print(run(sys.argv[1]))
