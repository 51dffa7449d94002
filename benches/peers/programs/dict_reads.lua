local function run()
  local d = {first = 1, second = 2, third = 3}
  local total = 0
  for round = 0, 4 do
    local i = 0
    while i < 150000 do
      total = total + d.first + d.second + d.third
      i = i + 1
    end
  end
  return total
end

print(run())
