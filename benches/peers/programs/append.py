def run():
    total = 0
    for round in range(10):
        s = ""
        for i in range(100000):
            s += "ab"
        total = total + len(s)
    return total


print(run())
