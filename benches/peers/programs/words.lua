local function run(path)
  local file = io.open(path)
  local text = file:read("*a")
  file:close()
  local counts = {}
  for word in string.gmatch(text, "%S+") do
    counts[word] = (counts[word] or 0) + 1
  end
  local size, most, total = 0, 0, 0
  for _, value in pairs(counts) do
    size = size + 1
    total = total + value
    if value > most then
      most = value
    end
  end
  return size .. " " .. most .. " " .. total
end

print(run(arg[1]))
