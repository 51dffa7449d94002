local function a(i, j)
  return 1.0 / ((i + j) * (i + j + 1) / 2 + i + 1)
end

local function times(v, n)
  local out = {}
  for i = 0, n - 1 do
    local sum = 0.0
    for j = 0, n - 1 do
      sum = sum + a(i, j) * v[j + 1]
    end
    out[i + 1] = sum
  end
  return out
end

local function times_transposed(v, n)
  local out = {}
  for i = 0, n - 1 do
    local sum = 0.0
    for j = 0, n - 1 do
      sum = sum + a(j, i) * v[j + 1]
    end
    out[i + 1] = sum
  end
  return out
end

local function run()
  local n = 100
  local u = {}
  for i = 1, n do
    u[i] = 1.0
  end
  local v = {}
  for round = 1, 10 do
    v = times_transposed(times(u, n), n)
    u = times_transposed(times(v, n), n)
  end
  local both = 0.0
  local squared = 0.0
  for i = 1, n do
    both = both + u[i] * v[i]
    squared = squared + v[i] * v[i]
  end
  return math.floor(math.sqrt(both / squared) * 1000000000.0)
end

print(run())
