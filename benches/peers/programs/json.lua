-- Lua has no JSON of its own: a small one in plain Lua, written as one would for speed.
local find, sub, byte, char, format, match = string.find, string.sub, string.byte, string.char, string.format, string.match

local escaped = {b = "\b", f = "\f", n = "\n", r = "\r", t = "\t", ['"'] = '"', ["\\"] = "\\", ["/"] = "/"}
local parse

local function text_from(source, at)
  local stop = find(source, '["\\]', at)
  if byte(source, stop) == 34 then
    return sub(source, at, stop - 1), stop + 1
  end
  local parts = {}
  while byte(source, stop) == 92 do
    parts[#parts + 1] = sub(source, at, stop - 1)
    local kind = sub(source, stop + 1, stop + 1)
    if kind == "u" then
      local code = tonumber(sub(source, stop + 2, stop + 5), 16)
      assert(code < 128, "only ASCII is written as \\u here")
      parts[#parts + 1] = char(code)
      at = stop + 6
    else
      parts[#parts + 1] = assert(escaped[kind], "no such escape")
      at = stop + 2
    end
    stop = find(source, '["\\]', at)
  end
  parts[#parts + 1] = sub(source, at, stop - 1)
  return table.concat(parts), stop + 1
end

local function list_from(source, at)
  local out, size = {}, 0
  at = find(source, "%S", at)
  if byte(source, at) == 93 then return out, at + 1 end
  while true do
    size = size + 1
    out[size], at = parse(source, at)
    at = find(source, "%S", at)
    local mark = byte(source, at)
    at = at + 1
    if mark == 93 then return out, at end
    assert(mark == 44, "a list goes on with a comma")
  end
end

local function dict_from(source, at)
  local out, key = {}, nil
  at = find(source, "%S", at)
  if byte(source, at) == 125 then return out, at + 1 end
  while true do
    at = find(source, '"', at, true)
    key, at = text_from(source, at + 1)
    at = find(source, ":", at, true)
    out[key], at = parse(source, at + 1)
    at = find(source, "%S", at)
    local mark = byte(source, at)
    at = at + 1
    if mark == 125 then return out, at end
    assert(mark == 44, "a dict goes on with a comma")
  end
end

function parse(source, at)
  at = find(source, "%S", at)
  local mark = byte(source, at)
  if mark == 34 then
    return text_from(source, at + 1)
  elseif mark == 123 then
    return dict_from(source, at + 1)
  elseif mark == 91 then
    return list_from(source, at + 1)
  elseif mark == 116 then
    return true, at + 4
  elseif mark == 102 then
    return false, at + 5
  end
  local digits = match(source, "^-?[%d.eE+-]+", at)
  return tonumber(digits), at + #digits
end

local marks = {['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t"}

local function escape(mark)
  return marks[mark] or format("\\u%04x", byte(mark))
end

local function write(value, out)
  local kind = type(value)
  if kind == "string" then
    out[#out + 1] = '"' .. string.gsub(value, '[%c"\\]', escape) .. '"'
  elseif kind == "table" then
    if value[1] ~= nil then
      local before = "["
      for i = 1, #value do
        out[#out + 1] = before
        write(value[i], out)
        before = ","
      end
      out[#out + 1] = "]"
    else
      local before = "{"
      for key, item in pairs(value) do
        out[#out + 1] = before .. '"' .. string.gsub(key, '[%c"\\]', escape) .. '":'
        write(item, out)
        before = ","
      end
      out[#out + 1] = "}"
    end
  else
    out[#out + 1] = tostring(value)
  end
end

local function stringify(value)
  local out = {}
  write(value, out)
  return table.concat(out)
end

local function run(path)
  local file = io.open(path)
  local data = parse(file:read("*a"), 1)
  file:close()
  local text = stringify(data)
  local again = parse(text, 1)
  return #text + #again.records + again.records[101].size
end

print(run(arg[1]))
