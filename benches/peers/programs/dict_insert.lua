local function run()
  local d = {}
  for i = 0, 99999 do
    d["key" .. i] = i
  end
  local size = 0
  for _ in pairs(d) do size = size + 1 end
  return size + d.key77777
end

print(run())
