local function add(a, b)
  return a + b
end

local function run()
  local total = 0
  for round = 0, 9 do
    local i = 0
    while i < 100000 do
      total = add(total, i % 3)
      i = i + 1
    end
  end
  return total
end

print(run())
