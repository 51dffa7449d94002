def run():
    name = "basket"
    total = 0
    for round in range(50):
        for i in range(5000):
            text = f"item {i} of {name}, twice {i * 2}"
            total = total + len(text)
    return total


print(run())
