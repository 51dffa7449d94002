-- Opens a script in Neovim with the plugin of the repository, inlay hints and code lenses.

vim.opt.runtimepath:append(vim.env.HARN_EDITORS .. "/neovim")
vim.o.laststatus = 0
vim.o.cmdheight = 0
vim.o.ruler = false
vim.o.showmode = false
vim.o.termguicolors = true
vim.o.background = "light"
vim.o.fillchars = "eob: "
vim.o.swapfile = false
vim.o.signcolumn = "no"

vim.api.nvim_create_autocmd("LspAttach", {
  callback = function(event)
    vim.lsp.inlay_hint.enable(true, { bufnr = event.buf })
    vim.lsp.codelens.refresh({ bufnr = event.buf })
  end,
})
