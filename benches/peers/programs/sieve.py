def run():
    limit = 200000
    prime = []
    for i in range(limit + 1):
        prime.append(True)
    i = 2
    while i * i <= limit:
        if prime[i]:
            j = i * i
            while j <= limit:
                prime[j] = False
                j = j + i
        i = i + 1
    count = 0
    for n in range(2, limit + 1):
        if prime[n]:
            count = count + 1
    return count


print(run())
