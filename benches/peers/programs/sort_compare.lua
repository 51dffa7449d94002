local function run()
  local numbers = {}
  local seed = 42
  for i = 0, 19999 do
    seed = seed * 16807 % 2147483647
    numbers[i + 1] = seed
  end
  table.sort(numbers, function(a, b) return b < a end)
  local check = 0
  for place = 1, 20000 do
    check = (check * 31 + numbers[place]) % 1000003
  end
  return check
end

print(run())
