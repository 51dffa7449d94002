local Vector = {}
Vector.__index = Vector

function Vector.new(x, y)
  return setmetatable({x = x, y = y}, Vector)
end

function Vector:plus(other)
  return Vector.new(self.x + other.x, self.y + other.y)
end

function Vector:dot(other)
  return self.x * other.x + self.y * other.y
end

local function run()
  local step = Vector.new(1, 2)
  local at = Vector.new(0, 0)
  local total = 0
  for i = 0, 199999 do
    at = at:plus(step)
    total = (total + at:dot(step)) % 1000003
  end
  return total
end

print(run())
