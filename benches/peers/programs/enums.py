class Empty:
    pass


class Square:
    __match_args__ = ("side",)

    def __init__(self, side):
        self.side = side


class Box:
    __match_args__ = ("width", "height")

    def __init__(self, width, height):
        self.width = width
        self.height = height


def area(shape):
    match shape:
        case Empty():
            return 0
        case Square(side):
            return side * side
        case Box(width, height):
            return width * height


def run():
    shapes = [Empty(), Square(3), Box(4, 5), Square(6)]
    total = 0
    for i in range(300000):
        total = total + area(shapes[i % 4])
    return total


print(run())
