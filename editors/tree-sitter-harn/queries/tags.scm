(function_declaration
  name: (identifier) @name) @definition.function
(method_signature
  name: (identifier) @name) @definition.method
(pipeline_declaration
  name: (identifier) @name) @definition.function
(tool_declaration
  name: (identifier) @name) @definition.function
(struct_declaration
  name: (type_identifier) @name) @definition.class
(enum_declaration
  name: (type_identifier) @name) @definition.class
(interface_declaration
  name: (type_identifier) @name) @definition.interface
(type_declaration
  name: (type_identifier) @name) @definition.type
(call_expression
  function: (identifier) @name) @reference.call
(call_expression
  function: (field_expression
    name: (property_identifier) @name)) @reference.call
