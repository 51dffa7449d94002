[
  (block)
  (block_expression)
  (closure)
  (dict)
  (list)
  (arguments)
  (parameters)
  (struct_literal)
  (match_body)
  (select_expression)
  (field_list)
  (variant_list)
  (interface_body)
  (impl_body)
] @indent

[
  "}"
  "]"
  ")"
] @outdent
