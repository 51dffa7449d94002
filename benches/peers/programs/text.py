def run():
    lines = []
    for i in range(50000):
        lines.append(f"{i}: " + "=" * (i % 10) + ">")
    text = "\n".join(lines).replace("=", "--").upper()
    total = len(text)
    for line in text.split("\n"):
        if line.endswith("-->"):
            total = total + len(line)
    return total


print(run())
