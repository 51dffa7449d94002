local function map(xs, f)
  local out = {}
  for i = 1, #xs do out[i] = f(xs[i]) end
  return out
end

local function filter(xs, f)
  local out = {}
  for i = 1, #xs do
    if f(xs[i]) then out[#out + 1] = xs[i] end
  end
  return out
end

local function run()
  local xs = {}
  for i = 0, 999 do xs[i + 1] = i end
  local total = 0
  for round = 0, 199 do
    local ys = map(xs, function(x) return x * 2 + round end)
    total = total + #filter(ys, function(x) return x % 3 == 0 end)
  end
  return total
end

print(run())
