def make(depth):
    if depth == 0:
        return {"left": None, "right": None}
    return {"left": make(depth - 1), "right": make(depth - 1)}


def count(tree):
    if tree["left"] is None:
        return 1
    return 1 + count(tree["left"]) + count(tree["right"])


def run():
    kept = make(14)
    total = 0
    for depth in range(4, 13):
        for round in range(2 ** (12 - depth)):
            total = total + count(make(depth))
    return total + count(kept)


print(run())
