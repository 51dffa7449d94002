local function run()
  local limit = 200000
  local prime = {}
  for i = 0, limit do
    prime[i] = true
  end
  local i = 2
  while i * i <= limit do
    if prime[i] then
      local j = i * i
      while j <= limit do
        prime[j] = false
        j = j + i
      end
    end
    i = i + 1
  end
  local count = 0
  for n = 2, limit do
    if prime[n] then
      count = count + 1
    end
  end
  return count
end

print(run())
