class Vector:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x = x
        self.y = y

    def plus(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def dot(self, other):
        return self.x * other.x + self.y * other.y


def run():
    step = Vector(1, 2)
    at = Vector(0, 0)
    total = 0
    for i in range(200000):
        at = at.plus(step)
        total = (total + at.dot(step)) % 1000003
    return total


print(run())
