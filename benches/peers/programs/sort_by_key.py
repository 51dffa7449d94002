def run():
    records = []
    seed = 42
    for i in range(20000):
        seed = seed * 16807 % 2147483647
        records.append({"id": i, "key": seed, "name": f"record {i}"})
    ordered = sorted(records, key=lambda r: r["key"])
    check = 0
    for place in range(20000):
        check = (check * 31 + ordered[place]["id"]) % 1000003
    return check


print(run())
