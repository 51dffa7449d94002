def run():
    d = {"first": 1, "second": 2, "third": 3}
    total = 0
    for round in range(5):
        i = 0
        while i < 150000:
            total = total + d["first"] + d["second"] + d["third"]
            i = i + 1
    return total


print(run())
