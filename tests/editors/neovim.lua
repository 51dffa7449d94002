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
-- A terminal gets most of the screen.
vim.o.winheight = 26
vim.g.terminal_color_14 = "#007373"
vim.g.terminal_color_6 = "#007373"

vim.api.nvim_create_autocmd("LspAttach", {
  callback = function(event)
    -- The highlights of the grammar alone: those of the server follow at some time.
    vim.lsp.get_client_by_id(event.data.client_id).server_capabilities.semanticTokensProvider = nil
    vim.lsp.inlay_hint.enable(true, { bufnr = event.buf })
    vim.lsp.codelens.refresh({ bufnr = event.buf })
  end,
})
