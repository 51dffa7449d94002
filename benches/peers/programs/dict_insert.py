def run():
    d = {}
    for i in range(100000):
        d[f"key{i}"] = i
    return len(d) + d["key77777"]


print(run())
