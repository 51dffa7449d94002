def run():
    xs = list(range(1000))
    total = 0
    for round in range(200):
        ys = list(filter(lambda x: x % 3 == 0, map(lambda x: x * 2 + round, xs)))
        total = total + len(ys)
    return total


print(run())
