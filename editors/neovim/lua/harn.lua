local M = {}

-- The folder `editors` of the repository, which this file is in.
local editors = vim.fs.dirname(vim.fs.dirname(vim.fs.dirname(debug.getinfo(1, "S").source:sub(2))))
local grammar = vim.fs.joinpath(editors, "tree-sitter-harn")
local parser = vim.fs.joinpath(vim.fn.stdpath("data"), "harn", "parser.so")

--- Compiles the parser with `cc`, or the compiler in `$CC`.
function M.build()
  vim.fn.mkdir(vim.fs.dirname(parser), "p")
  local source = vim.fs.joinpath(grammar, "src")
  local command = { vim.env.CC or "cc", "-shared", "-fPIC", "-O2", "-I", source, "-o", parser }
  for _, file in ipairs({ "parser.c", "scanner.c" }) do
    table.insert(command, vim.fs.joinpath(source, file))
  end
  local started, done = pcall(function()
    return vim.system(command, { text = true }):wait()
  end)
  if not started or done.code ~= 0 then
    error("harn: could not compile the parser: " .. (started and done.stderr or tostring(done)), 0)
  end
  vim.notify("harn: compiled the parser; restart Neovim if a script was open", vim.log.levels.INFO)
end

local registered = false

--- Makes the parser and the queries of the grammar known. Returns whether the parser has been compiled.
local function register()
  if registered then
    return true
  end
  if vim.uv.fs_stat(parser) == nil then
    return false
  end
  vim.treesitter.language.add("harn", { path = parser })
  for _, name in ipairs({ "highlights", "injections", "locals", "folds" }) do
    local file = assert(io.open(vim.fs.joinpath(grammar, "queries", name .. ".scm")))
    vim.treesitter.query.set("harn", name, file:read("*a"))
    file:close()
  end
  registered = true
  return true
end

local probed

--- Calls `ready` if the command `harn` has a language server, and says once what is wrong if it does not.
local function when_served(ready)
  local function complain(problem)
    if not probed then
      vim.notify("harn: " .. problem, vim.log.levels.WARN)
    end
    probed = true
  end
  local started = pcall(vim.system, { "harn", "lsp", "--help" }, { timeout = 10000 }, function(done)
    vim.schedule(function()
      if done.code == 0 then
        ready()
      elseif done.code == 2 then
        complain("this version of harn has no language server (`harn lsp`); install one that has it")
      else
        complain("could not run `harn lsp` (exit code " .. done.code .. ")")
      end
    end)
  end)
  if not started then
    complain("command not found: harn; the language server is not started")
  end
end

--- The arguments of `harn` for the commands of code lenses. The server sends the file and, for a test, its name.
local commands = {
  ["harn.run"] = function(file)
    return { "run", file }
  end,
  ["harn.test"] = function(file, name)
    return { "test", file, "--filter", name }
  end,
  ["harn.preview"] = function(file)
    return { "preview", file }
  end,
}

--- Runs `harn` in a terminal, in place of the terminal with the last run of the same command.
local function run_in_terminal(arguments)
  local command = vim.list_extend({ "harn" }, arguments)
  local name = table.concat(vim.list_extend({ command[1], command[2], vim.fn.fnamemodify(command[3], ":.") }, command, 4), " ")
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if vim.b[buffer].harn_command == name then
      vim.api.nvim_buf_delete(buffer, { force = true })
    end
  end
  vim.cmd.new()
  vim.fn.termopen(command)
  vim.b.harn_command = name
  -- A file may have that name.
  pcall(vim.api.nvim_buf_set_name, 0, name)
end

for id, arguments in pairs(commands) do
  vim.lsp.commands[id] = function(command, context)
    local uri, name = unpack(command.arguments)
    local buffer = context and context.bufnr or vim.uri_to_bufnr(uri)
    -- The command reads the file.
    vim.api.nvim_buf_call(buffer, vim.cmd.update)
    -- Neovim removes the lenses of the line.
    vim.lsp.codelens.refresh({ bufnr = buffer })
    run_in_terminal(arguments(vim.uri_to_fname(uri), name))
  end
end

--- Starts the language server for a buffer, unless it is switched off.
function M.serve(buffer)
  if vim.g.harn_lsp == false then
    return
  end
  when_served(function()
    if vim.api.nvim_buf_is_valid(buffer) then
      local root = vim.fs.root(buffer, { "harn.toml", ".git" })
      vim.lsp.start({ name = "harn", cmd = { "harn", "lsp" }, root_dir = root }, { bufnr = buffer })
    end
  end)
end

--- Switches on what is there for the buffer of a script.
function M.attach(buffer)
  vim.bo[buffer].commentstring = "// %s"
  if register() then
    vim.treesitter.start(buffer, "harn")
  else
    vim.notify_once("harn: run :HarnBuildParser to highlight scripts", vim.log.levels.INFO)
  end
  M.serve(buffer)
end

return M
