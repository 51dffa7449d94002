import sys


def run(path):
    with open(path) as file:
        text = file.read()
    counts = {}
    for word in text.split():
        counts[word] = counts.get(word, 0) + 1
    most = 0
    total = 0
    for key, value in counts.items():
        total = total + value
        if value > most:
            most = value
    return f"{len(counts)} {most} {total}"


print(run(sys.argv[1]))
