from math import floor, sqrt


def body(x, y, z, vx, vy, vz, mass):
    days = 365.24
    sun = 39.47841760435743
    return {"x": x, "y": y, "z": z, "vx": vx * days, "vy": vy * days, "vz": vz * days, "mass": mass * sun}


def energy(bodies):
    total = 0.0
    for i in range(5):
        a = bodies[i]
        total = total + 0.5 * a["mass"] * (a["vx"] * a["vx"] + a["vy"] * a["vy"] + a["vz"] * a["vz"])
        for j in range(i + 1, 5):
            b = bodies[j]
            dx = a["x"] - b["x"]
            dy = a["y"] - b["y"]
            dz = a["z"] - b["z"]
            total = total - a["mass"] * b["mass"] / sqrt(dx * dx + dy * dy + dz * dz)
    return total


def run():
    bodies = [
        body(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0),
        body(4.84143144246472, -1.1603200440274284, -0.10362204447112311,
             0.00166007664274403694, 0.0076990111841974044, -0.00006904600169720630, 0.00095479193842432661),
        body(8.3433667182445799, 4.1247985641243048, -0.40352341711432138,
             -0.00276742510726411, 0.00499852801234917238, 0.000023041729757376393, 0.00028588598066613081),
        body(12.894369562139131, -15.111151401698631, -0.22330757889265573,
             0.0029646013756476162, 0.0023784717395948095, -0.000029658956854023756, 0.000043662440433515629),
        body(15.379697114850917, -25.919314609987964, 0.17925877295037118,
             0.0026806777249038932, 0.001628241700382423, -0.000095159225451971587, 0.000051513890204661145),
    ]
    step = 0
    while step < 3000:
        for i in range(5):
            x = bodies[i]["x"]
            y = bodies[i]["y"]
            z = bodies[i]["z"]
            mass = bodies[i]["mass"]
            for j in range(i + 1, 5):
                dx = x - bodies[j]["x"]
                dy = y - bodies[j]["y"]
                dz = z - bodies[j]["z"]
                squared = dx * dx + dy * dy + dz * dz
                force = 0.01 / (squared * sqrt(squared))
                pull = bodies[j]["mass"] * force
                bodies[i]["vx"] -= dx * pull
                bodies[i]["vy"] -= dy * pull
                bodies[i]["vz"] -= dz * pull
                push = mass * force
                bodies[j]["vx"] += dx * push
                bodies[j]["vy"] += dy * push
                bodies[j]["vz"] += dz * push
        for i in range(5):
            bodies[i]["x"] += 0.01 * bodies[i]["vx"]
            bodies[i]["y"] += 0.01 * bodies[i]["vy"]
            bodies[i]["z"] += 0.01 * bodies[i]["vz"]
        step = step + 1
    return floor(energy(bodies) * 1000000000.0)


print(run())
