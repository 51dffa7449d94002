local function split(text, separator)
  local out = {}
  local from = 1
  while true do
    local first, last = string.find(text, separator, from, true)
    if not first then break end
    out[#out + 1] = string.sub(text, from, first - 1)
    from = last + 1
  end
  out[#out + 1] = string.sub(text, from)
  return out
end

local function run()
  local lines = {}
  for i = 0, 49999 do
    lines[#lines + 1] = i .. ": " .. string.rep("=", i % 10) .. ">"
  end
  local text = string.upper((string.gsub(table.concat(lines, "\n"), "=", "--")))
  local total = #text
  for _, line in ipairs(split(text, "\n")) do
    if string.sub(line, -3) == "-->" then
      total = total + #line
    end
  end
  return total
end

print(run())
