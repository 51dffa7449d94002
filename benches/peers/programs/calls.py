def add(a, b):
    return a + b


def run():
    total = 0
    for round in range(10):
        i = 0
        while i < 100000:
            total = add(total, i % 3)
            i = i + 1
    return total


print(run())
