-- Scripts of harn: the type of their files, and what is switched on for their buffers.

vim.filetype.add({
  extension = { harn = "harn" },
  pattern = {
    [".*"] = {
      priority = -math.huge,
      function(_, buffer)
        local first = vim.api.nvim_buf_get_lines(buffer, 0, 1, false)[1] or ""
        if first:match("^#!.*[/ ]harn%f[^%w]") then
          return "harn"
        end
      end,
    },
  },
})

vim.api.nvim_create_user_command("HarnBuildParser", function()
  require("harn").build()
end, { desc = "Compile the tree-sitter parser of harn" })

local group = vim.api.nvim_create_augroup("harn", {})

vim.api.nvim_create_autocmd("FileType", {
  pattern = "harn",
  group = group,
  callback = function(event)
    require("harn").attach(event.buf)
  end,
})

-- Settings of projects, reminder files, and scripts in Rhai: only the language server is for them.
vim.api.nvim_create_autocmd({ "BufReadPost", "BufNewFile" }, {
  pattern = { "harn.toml", "*/.harn/reminders/*.md", "*.rhai" },
  group = group,
  callback = function(event)
    require("harn").serve(event.buf)
  end,
})
