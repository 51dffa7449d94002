(function_declaration
  "fn" @context
  name: (identifier) @name) @item
(method_signature
  "fn" @context
  name: (identifier) @name) @item
(pipeline_declaration
  "pipeline" @context
  name: (identifier) @name) @item
(tool_declaration
  "tool" @context
  name: (identifier) @name) @item
(test_declaration
  "test" @context
  name: (_) @name) @item
(struct_declaration
  "struct" @context
  name: (type_identifier) @name) @item
(enum_declaration
  "enum" @context
  name: (type_identifier) @name) @item
(interface_declaration
  "interface" @context
  name: (type_identifier) @name) @item
(impl_declaration
  "impl" @context
  target: (type_identifier) @name) @item
(type_declaration
  "type" @context
  name: (type_identifier) @name) @item
