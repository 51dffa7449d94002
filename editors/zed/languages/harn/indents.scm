(_
  "{"
  "}" @end) @indent
(_
  "["
  "]" @end) @indent
(_
  "("
  ")" @end) @indent
