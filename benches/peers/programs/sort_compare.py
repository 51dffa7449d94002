from functools import cmp_to_key


def run():
    numbers = []
    seed = 42
    for i in range(20000):
        seed = seed * 16807 % 2147483647
        numbers.append(seed)
    ordered = sorted(numbers, key=cmp_to_key(lambda a, b: b - a))
    check = 0
    for place in range(20000):
        check = (check * 31 + ordered[place]) % 1000003
    return check


print(run())
