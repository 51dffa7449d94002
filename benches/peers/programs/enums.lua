local function area(shape)
  local kind = shape.kind
  if kind == "empty" then
    return 0
  elseif kind == "square" then
    return shape.side * shape.side
  elseif kind == "box" then
    return shape.width * shape.height
  end
end

local function run()
  local shapes = {
    {kind = "empty"},
    {kind = "square", side = 3},
    {kind = "box", width = 4, height = 5},
    {kind = "square", side = 6},
  }
  local total = 0
  for i = 0, 299999 do
    total = total + area(shapes[i % 4 + 1])
  end
  return total
end

print(run())
