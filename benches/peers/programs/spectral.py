from math import floor, sqrt


def a(i, j):
    return 1.0 / ((i + j) * (i + j + 1) // 2 + i + 1)


def times(v, n):
    out = []
    for i in range(n):
        sum = 0.0
        for j in range(n):
            sum = sum + a(i, j) * v[j]
        out.append(sum)
    return out


def times_transposed(v, n):
    out = []
    for i in range(n):
        sum = 0.0
        for j in range(n):
            sum = sum + a(j, i) * v[j]
        out.append(sum)
    return out


def run():
    n = 100
    u = []
    for i in range(n):
        u.append(1.0)
    v = []
    for round in range(10):
        v = times_transposed(times(u, n), n)
        u = times_transposed(times(v, n), n)
    both = 0.0
    squared = 0.0
    for i in range(n):
        both = both + u[i] * v[i]
        squared = squared + v[i] * v[i]
    return floor(sqrt(both / squared) * 1000000000.0)


print(run())
