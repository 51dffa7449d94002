local function run()
  local name = "basket"
  local total = 0
  for round = 0, 49 do
    for i = 0, 4999 do
      local text = "item " .. i .. " of " .. name .. ", twice " .. i * 2
      total = total + #text
    end
  end
  return total
end

print(run())
