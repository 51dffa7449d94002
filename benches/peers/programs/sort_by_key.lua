local function run()
  local records = {}
  local seed = 42
  for i = 0, 19999 do
    seed = seed * 16807 % 2147483647
    records[i + 1] = {id = i, key = seed, name = "record " .. i}
  end
  table.sort(records, function(a, b) return a.key < b.key end)
  local check = 0
  for place = 1, 20000 do
    check = (check * 31 + records[place].id) % 1000003
  end
  return check
end

print(run())
