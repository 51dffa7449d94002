for line in io.lines("/proc/self/status") do
  local size = string.match(line, "^VmHWM:%s*(%d+)")
  if size then print(size) end
end
