local function make(depth)
  if depth == 0 then
    return {left = nil, right = nil}
  end
  return {left = make(depth - 1), right = make(depth - 1)}
end

local function count(tree)
  if tree.left == nil then
    return 1
  end
  return 1 + count(tree.left) + count(tree.right)
end

local function run()
  local kept = make(14)
  local total = 0
  for depth = 4, 12 do
    for round = 1, 2 ^ (12 - depth) do
      total = total + count(make(depth))
    end
  end
  return total + count(kept)
end

print(run())
