(function_declaration
  body: (_) @function.inside) @function.around
(pipeline_declaration
  body: (_) @function.inside) @function.around
(tool_declaration
  body: (_) @function.inside) @function.around
(closure) @function.around
(function_expression
  body: (_) @function.inside) @function.around
(struct_declaration
  body: (_) @class.inside) @class.around
(enum_declaration
  body: (_) @class.inside) @class.around
(interface_declaration
  body: (_) @class.inside) @class.around
(impl_declaration
  body: (_) @class.inside) @class.around
(parameter) @parameter.inside
(test_declaration
  body: (_) @test.inside) @test.around
[
  (comment)
  (doc_comment)
  (block_comment)
] @comment.inside
