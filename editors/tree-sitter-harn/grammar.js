/**
 * The tree-sitter grammar of harn.
 *
 * Line breaks, the meaning of each `{` and the text of strings depend on what is around them; `src/scanner.c` decides
 * these. The rules follow the parser of the language, and accept some texts that it rejects, so that a tree stays
 * useful while you type.
 */

/// <reference types="tree-sitter-cli/dsl" />
// @ts-check

const PREC = {
  leave: -1,
  pipe: 1,
  range: 2,
  ternary: 3,
  or: 4,
  and: 5,
  equality: 6,
  comparison: 7,
  sum: 8,
  coalesce: 9,
  product: 10,
  power: 11,
  prefix: 12,
  postfix: 13,
};

/** Elements between commas; a last comma is allowed. */
const list = (rule) => optional(seq(rule, repeat(seq(',', rule)), optional(',')));
const list1 = (rule) => seq(rule, repeat(seq(',', rule)), optional(','));

module.exports = grammar({
  name: 'harn',

  word: ($) => $.identifier,

  externals: ($) => [
    $._newline,
    $._body_open,
    $._arm_open,
    $._block_open,
    $._closure_open,
    $._dict_open,
    $._struct_open,
    $._string_text,
    $._triple_text,
    $._triple_end,
    $._comment_text,
    $._type_ahead,
    $._error_sentinel,
  ],

  extras: ($) => [
    /[ \t\r\n\f\uFEFF]/,
    /\\[ \t]*\r?\n/,
    $.comment,
    $.doc_comment,
    $.block_comment,
  ],

  supertypes: ($) => [$.statement, $.declaration, $.expression, $.pattern, $.type],

  conflicts: () => [],

  rules: {
    source_file: ($) => seq(optional($.shebang), optional($._statements)),

    shebang: () => token(/#![^\n]*/),

    // Comments

    comment: () => token(/\/\/([^\/\n][^\n]*|\/\/[^\n]*)?/),
    doc_comment: () => token(/\/\/\/([^\/\n][^\n]*)?/),
    block_comment: ($) => seq('/*', $._comment_text),

    // Statements

    _statements: ($) => separated($.statement, $._separator),
    _separator: ($) => choice($._newline, ';'),
    _member_separator: ($) => choice($._newline, ';', ','),

    statement: ($) =>
      choice(
        $.declaration,
        $.let_statement,
        $.assignment,
        $.for_statement,
        $.while_statement,
        $.guard_statement,
        $.require_statement,
        $.defer_statement,
        $.expression_statement,
      ),

    expression_statement: ($) => $.expression,

    let_statement: ($) =>
      seq(
        optional('pub'),
        field('kind', choice('let', 'const', 'var')),
        field('pattern', $.pattern),
        optional($._annotation),
        optional(seq('=', field('value', $.expression))),
      ),

    _annotation: ($) => seq(':', field('type', $.type)),

    assignment: ($) =>
      seq(
        field('target', $.expression),
        field('operator', choice('=', '+=', '-=', '*=', '/=', '%=')),
        field('value', $.expression),
      ),

    for_statement: ($) =>
      seq('for', field('pattern', $.pattern), 'in', field('value', $.expression), field('body', $.block)),

    while_statement: ($) => seq('while', field('condition', $.expression), field('body', $.block)),

    guard_statement: ($) => seq('guard', field('condition', $.expression), 'else', field('body', $.block)),

    require_statement: ($) =>
      seq('require', field('condition', $.expression), optional(seq(',', field('message', $.expression)))),

    defer_statement: ($) => seq('defer', field('body', $.block)),

    /** The body that a word demands; its `{` opens nothing else. */
    block: ($) => seq(alias($._body_open, '{'), optional($._statements), '}'),

    // Declarations

    declaration: ($) =>
      choice(
        $.function_declaration,
        $.pipeline_declaration,
        $.tool_declaration,
        $.test_declaration,
        $.struct_declaration,
        $.enum_declaration,
        $.interface_declaration,
        $.impl_declaration,
        $.type_declaration,
        $.import_declaration,
      ),

    _prefix: ($) => seq(repeat1(seq($.attribute, repeat($._separator))), optional('pub')),
    _before: ($) => choice($._prefix, 'pub'),

    attribute: ($) =>
      prec.right(
        seq('@', field('name', $.identifier), optional(field('arguments', $.attribute_arguments))),
      ),

    attribute_arguments: ($) => seq('(', list(choice($.expression, $.named_argument)), ')'),
    named_argument: ($) =>
      seq(field('name', alias($.identifier, $.property_identifier)), ':', field('value', $.expression)),

    function_declaration: ($) => seq(optional($._before), optional('override'), $._function_head, field('body', $.block)),

    _function_head: ($) =>
      seq(
        optional('gen'),
        'fn',
        field('name', $.identifier),
        optional(field('type_parameters', $.type_parameters)),
        field('parameters', $.parameters),
        optional($._result),
        optional($.where_clause),
      ),

    _result: ($) => seq('->', field('result', $.type)),

    where_clause: ($) => prec.right(seq('where', $.bound, repeat(seq(',', $.bound)))),
    bound: ($) => seq(field('name', alias($.identifier, $.type_identifier)), ':', field('type', $.type)),

    type_parameters: ($) => seq('<', list1($.type_parameter), '>'),
    type_parameter: ($) =>
      seq(field('name', alias($.identifier, $.type_identifier)), optional(seq(':', field('bound', $.type)))),

    parameters: ($) => seq('(', list($.parameter), ')'),
    parameter: ($) =>
      seq(
        optional('...'),
        field('pattern', $.pattern),
        optional($._annotation),
        optional(seq('=', field('default', $.expression))),
      ),

    pipeline_declaration: ($) =>
      seq(
        optional($._before),
        'pipeline',
        field('name', $.identifier),
        optional(field('parameters', $.parameters)),
        optional($._extends),
        optional($._result),
        optional($._extends),
        field('body', $.block),
      ),

    _extends: ($) => seq('extends', field('base', $.identifier)),

    tool_declaration: ($) =>
      seq(
        optional($._before),
        'tool',
        field('name', $.identifier),
        optional(field('type_parameters', $.type_parameters)),
        field('parameters', $.parameters),
        optional($._result),
        field('body', alias($.tool_body, $.block)),
      ),

    tool_body: ($) =>
      seq(
        alias($._body_open, '{'),
        optional(separated(choice($.statement, $.description), $._separator)),
        '}',
      ),

    description: ($) => seq('description', field('text', $._text)),

    test_declaration: ($) => seq(optional($._before), 'test', field('name', $._text), field('body', $.block)),

    struct_declaration: ($) =>
      seq(
        optional($._before),
        'struct',
        field('name', alias($.identifier, $.type_identifier)),
        optional(field('type_parameters', $.type_parameters)),
        field('body', $.field_list),
      ),

    field_list: ($) => seq(alias($._body_open, '{'), optional(separated($.field_declaration, $._member_separator)), '}'),

    field_declaration: ($) =>
      seq(
        repeat(seq($.attribute, repeat($._separator))),
        optional('pub'),
        field('name', alias($.identifier, $.property_identifier)),
        optional($._annotation),
        optional(seq('=', field('default', $.expression))),
      ),

    enum_declaration: ($) =>
      seq(
        optional($._before),
        'enum',
        field('name', alias($.identifier, $.type_identifier)),
        optional(field('type_parameters', $.type_parameters)),
        field('body', $.variant_list),
      ),

    variant_list: ($) => seq(alias($._body_open, '{'), optional(separated($.variant, $._member_separator)), '}'),

    variant: ($) =>
      seq(
        repeat(seq($.attribute, repeat($._separator))),
        field('name', $.identifier),
        optional(field('fields', $.variant_fields)),
      ),

    variant_fields: ($) => seq('(', list(choice($.type, $.named_type)), ')'),
    named_type: ($) => seq(field('name', alias($.identifier, $.property_identifier)), ':', field('type', $.type)),

    interface_declaration: ($) =>
      seq(
        optional($._before),
        'interface',
        field('name', alias($.identifier, $.type_identifier)),
        optional(field('type_parameters', $.type_parameters)),
        field('body', $.interface_body),
      ),

    interface_body: ($) =>
      seq(
        alias($._body_open, '{'),
        repeat(choice($._member_separator, $.method_signature)),
        '}',
      ),

    method_signature: ($) => prec.right(seq($._function_head, optional(field('body', $.block)))),

    impl_declaration: ($) =>
      seq(
        optional($._before),
        'impl',
        optional(field('type_parameters', $.type_parameters)),
        choice($._target, seq(field('interface', $._named_target), 'for', $._target)),
        field('body', $.impl_body),
      ),

    _target: ($) => field('target', $._named_target),
    _named_target: ($) => seq(alias($.identifier, $.type_identifier), optional($.type_parameters)),

    impl_body: ($) =>
      seq(alias($._body_open, '{'), repeat(choice($._member_separator, $.function_declaration)), '}'),

    type_declaration: ($) =>
      seq(
        optional($._before),
        'type',
        field('name', alias($.identifier, $.type_identifier)),
        optional(field('type_parameters', $.type_parameters)),
        '=',
        field('type', $.type),
      ),

    import_declaration: ($) =>
      seq(
        optional($._before),
        'import',
        optional(seq(field('names', $.import_list), 'from')),
        field('path', $._text),
      ),

    import_list: ($) => seq(alias($._dict_open, '{'), list($.import_name), '}'),
    import_name: ($) => seq(field('name', $.identifier), optional(seq('as', field('alias', $.identifier)))),

    // Types

    type: ($) =>
      choice(
        $.named_type_reference,
        $.function_type,
        $.shape_type,
        $.literal_type,
        $.optional_type,
        $.union_type,
        $.parenthesized_type,
      ),

    named_type_reference: ($) =>
      prec.right(
        seq(
          field('name', choice(alias($.identifier, $.type_identifier), alias('nil', $.type_identifier))),
          optional(field('arguments', $.type_arguments)),
        ),
      ),
    /** A type with arguments where a value is expected. */
    type_value: ($) => seq($._type_ahead, field('type', $.type)),
    type_arguments: ($) => seq('<', list1($.type), '>'),

    function_type: ($) =>
      prec.right(seq('fn', '(', list($.type), ')', '->', field('result', $.type))),

    shape_type: ($) => seq(alias($._dict_open, '{'), list(choice($.shape_field, '...')), '}'),
    shape_field: ($) =>
      seq(
        field('name', choice(alias($.identifier, $.property_identifier), $._text)),
        optional(choice('?', $._question)),
        ':',
        field('type', $.type),
      ),

    literal_type: ($) => $._text,
    optional_type: ($) => prec(2, seq($.type, choice('?', $._question))),
    union_type: ($) => prec.left(1, choice(seq('|', $.type), seq($.type, '|', $.type))),
    parenthesized_type: ($) => seq('(', $.type, ')'),

    // Patterns

    pattern: ($) =>
      choice(
        $.binding,
        $.wildcard,
        $.dict_pattern,
        $.struct_pattern,
        $.list_pattern,
        $.pair_pattern,
        $.variant_pattern,
        $.constant_pattern,
        $.or_pattern,
      ),

    binding: ($) => $.identifier,
    wildcard: () => '_',

    or_pattern: ($) => prec.left(choice(seq('|', $.pattern), seq($.pattern, '|', $.pattern))),

    dict_pattern: ($) => seq(alias($._dict_open, '{'), list(choice($.field_pattern, $.rest_pattern)), '}'),

    struct_pattern: ($) =>
      seq(
        field('name', alias($.identifier, $.type_identifier)),
        alias(choice($._struct_open, $._dict_open), '{'),
        list(choice($.field_pattern, $.rest_pattern)),
        '}',
      ),

    field_pattern: ($) =>
      seq(
        field('name', choice(alias($.identifier, $.property_identifier), $._text)),
        optional(seq(':', field('pattern', $.pattern))),
        optional(seq('=', field('default', $.expression))),
      ),

    rest_pattern: ($) => seq('...', optional(field('name', choice($.identifier, $.wildcard)))),

    list_pattern: ($) => seq('[', list(choice($.item_pattern, $.rest_pattern)), ']'),
    item_pattern: ($) => seq(field('pattern', $.pattern), optional(seq('=', field('default', $.expression)))),

    pair_pattern: ($) => seq('(', list1($.pattern), ')'),

    variant_pattern: ($) =>
      choice(
        seq(
          field('enum', alias($.identifier, $.type_identifier)),
          '.',
          field('name', $.identifier),
          optional(field('arguments', $.pattern_arguments)),
        ),
        seq(field('name', $.identifier), field('arguments', $.pattern_arguments)),
      ),
    pattern_arguments: ($) => seq('(', list($.pattern), ')'),

    constant_pattern: ($) => seq($._constant, optional(seq('to', $._constant, optional('exclusive')))),
    _constant: ($) =>
      choice($.negative_number, $.integer, $.float, $.duration, $._text, $.boolean, $.nil),
    negative_number: ($) => seq('-', choice($.integer, $.float, $.duration)),

    // Expressions

    expression: ($) =>
      choice(
        $._name,
        $.placeholder,
        $.nil,
        $.boolean,
        $.integer,
        $.float,
        $.duration,
        $.string,
        $.raw_string,
        $.list,
        $.dict,
        $.struct_literal,
        $.type_value,
        $.parenthesized_expression,
        $.pair,
        $.closure,
        $.function_expression,
        $.block_expression,
        $.unary_expression,
        $.binary_expression,
        $.range_expression,
        $.ternary_expression,
        $.pipe_expression,
        $.field_expression,
        $.index_expression,
        $.slice_expression,
        $.call_expression,
        $.propagate_expression,
        $.if_expression,
        $.match_expression,
        $.try_expression,
        $.retry_expression,
        $.deadline_expression,
        $.parallel_expression,
        $.spawn_expression,
        $.mutex_expression,
        $.select_expression,
        $.return_expression,
        $.yield_expression,
        $.throw_expression,
        $.emit_expression,
        $.break,
        $.continue,
      ),

    /** Words that are reserved in one place are names in all others. */
    _name: ($) => choice($.identifier, alias(choice('gen', 'test', 'description'), $.identifier)),

    identifier: () => /[A-Za-z_][A-Za-z0-9_]*/,
    placeholder: () => '_',
    nil: () => 'nil',
    boolean: () => choice('true', 'false'),
    break: () => 'break',
    continue: () => 'continue',

    integer: () =>
      token(choice(/0[xX][0-9A-Fa-f_]+/, /0[bB][01_]+/, /[0-9][0-9_]*/)),
    float: () =>
      token(choice(/[0-9][0-9_]*\.[0-9][0-9_]*([eE][+-]?[0-9_]+)?/, /[0-9][0-9_]*[eE][+-]?[0-9_]+/)),
    duration: () => token(/[0-9][0-9_]*(ms|s|m|h|d|w)/),

    string: ($) =>
      choice(
        seq(
          '"',
          repeat(choice(alias($._string_text, $.string_text), $.escape_sequence, $.interpolation)),
          token.immediate('"'),
        ),
        seq(
          '"""',
          repeat(choice(alias($._triple_text, $.string_text), $.escape_sequence, $.interpolation)),
          alias($._triple_end, '"""'),
        ),
      ),

    raw_string: ($) => seq('r"', optional(alias($._raw_text, $.string_text)), token.immediate('"')),
    _raw_text: () => token.immediate(prec(1, /[^"\n]+/)),

    escape_sequence: () => token.immediate(prec(1, /\\(u\{[^}\n"]*\}|\r?\n|[^\n])/)),
    interpolation: ($) => seq(token.immediate('${'), field('value', $.expression), '}'),

    _text: ($) => choice($.string, $.raw_string),

    list: ($) => seq('[', list(choice($.expression, $.spread)), ']'),
    spread: ($) => seq('...', $.expression),

    dict: ($) => seq(alias($._dict_open, '{'), list($._entry), '}'),
    _entry: ($) => choice($.entry, $.shorthand, $.computed_entry, $.spread),
    entry: ($) =>
      seq(
        field('key', choice(alias($.identifier, $.property_identifier), $._text)),
        ':',
        field('value', $.expression),
      ),
    shorthand: ($) => $.identifier,
    computed_entry: ($) => seq('[', field('key', $.expression), ']', ':', field('value', $.expression)),

    struct_literal: ($) =>
      seq(field('name', alias($.identifier, $.type_identifier)), alias($._struct_open, '{'), list($._entry), '}'),

    parenthesized_expression: ($) => seq('(', $.expression, optional(','), ')'),
    pair: ($) => seq('(', field('first', $.expression), ',', field('second', $.expression), optional(','), ')'),

    closure: ($) =>
      seq(
        alias($._closure_open, '{'),
        optional(alias($.closure_parameters, $.parameters)),
        '->',
        optional($._statements),
        '}',
      ),
    closure_parameters: ($) => list1($.parameter),

    function_expression: ($) =>
      seq('fn', field('parameters', $.parameters), optional($._result), field('body', $.block)),

    block_expression: ($) => seq(alias($._block_open, '{'), optional($._statements), '}'),

    unary_expression: ($) =>
      prec(PREC.prefix, seq(field('operator', choice('!', '-', 'try*')), field('operand', $.expression))),

    binary_expression: ($) => {
      const table = [
        [PREC.or, '||'],
        [PREC.and, '&&'],
        [PREC.equality, choice('==', '!=')],
        [PREC.comparison, choice('<', '<=', '>', '>=', 'in', $.not_in)],
        [PREC.sum, choice('+', '-')],
        [PREC.coalesce, '??'],
        [PREC.product, choice('*', '/', '%')],
      ];
      const side = (name) => field(name, $.expression);
      return choice(
        ...table.map(([level, operator]) =>
          prec.left(level, seq(side('left'), field('operator', operator), side('right'))),
        ),
        prec.right(PREC.power, seq(side('left'), field('operator', '**'), side('right'))),
      );
    },

    not_in: () => seq('not', 'in'),

    range_expression: ($) => prec.right(PREC.range, seq($._range, optional('exclusive'))),
    _range: ($) => prec.left(PREC.range, seq(field('from', $.expression), 'to', field('to', $.expression))),

    ternary_expression: ($) =>
      prec.right(
        PREC.ternary,
        seq(
          field('condition', $.expression),
          '?',
          field('consequence', $.expression),
          ':',
          field('alternative', $.expression),
        ),
      ),

    pipe_expression: ($) => prec.left(PREC.pipe, seq(field('left', $.expression), '|>', field('right', $.expression))),

    field_expression: ($) =>
      prec(
        PREC.postfix,
        seq(
          field('object', $.expression),
          choice('.', '?.'),
          field('name', alias($.identifier, $.property_identifier)),
        ),
      ),

    index_expression: ($) =>
      prec(PREC.postfix, seq(field('object', $.expression), choice('[', '?['), field('index', $.expression), ']')),

    slice_expression: ($) =>
      prec(
        PREC.postfix,
        seq(
          field('object', $.expression),
          '[',
          optional(field('from', $.expression)),
          ':',
          optional(field('to', $.expression)),
          ']',
        ),
      ),

    call_expression: ($) =>
      prec(PREC.postfix, seq(field('function', $.expression), field('arguments', $.arguments))),
    arguments: ($) => seq('(', list(choice($.expression, $.spread)), ')'),

    propagate_expression: ($) => prec(PREC.postfix, seq(field('operand', $.expression), $._question)),
    _question: () => token.immediate('?'),

    // Expressions that begin with a word

    if_expression: ($) =>
      prec.right(
        seq(
          'if',
          field('condition', $.expression),
          field('consequence', $.block),
          optional(seq('else', field('alternative', choice($.block, $.if_expression)))),
        ),
      ),

    match_expression: ($) => seq('match', field('value', $.expression), field('body', $.match_body)),

    match_body: ($) =>
      seq(
        alias($._body_open, '{'),
        repeat(choice($._member_separator, alias($._block_arm, $.match_arm), seq($.match_arm, $._member_separator))),
        optional($.match_arm),
        '}',
      ),

    match_arm: ($) => seq($._arm_head, field('value', $.expression)),
    _block_arm: ($) => seq($._arm_head, field('value', alias($.arm_block, $.block))),
    _arm_head: ($) => seq(field('pattern', $.pattern), optional(seq('if', field('guard', $.expression))), '->'),
    arm_block: ($) => seq(alias($._arm_open, '{'), optional($._statements), '}'),

    try_expression: ($) =>
      prec.right(seq('try', field('body', $.block), repeat($.catch_clause), optional($.finally_clause))),

    catch_clause: ($) => seq('catch', optional(choice($._caught, seq('(', $._caught, ')'))), field('body', $.block)),
    _caught: ($) => seq(field('name', choice($.identifier, $.wildcard)), optional($._annotation)),
    finally_clause: ($) => seq('finally', field('body', $.block)),

    retry_expression: ($) => seq('retry', field('times', $.expression), field('body', $.block)),
    deadline_expression: ($) => seq('deadline', field('limit', $.expression), field('body', $.block)),
    spawn_expression: ($) => seq('spawn', field('body', $.block)),
    mutex_expression: ($) => seq('mutex', field('body', $.block)),

    parallel_expression: ($) =>
      seq(
        'parallel',
        optional(choice('each', seq('settle', optional('each')))),
        field('over', $.expression),
        optional(seq('with', field('options', $.expression))),
        field('body', choice($.closure, $.block)),
      ),

    select_expression: ($) =>
      seq('select', alias($._body_open, '{'), repeat(choice($._member_separator, $.select_arm)), '}'),

    select_arm: ($) =>
      choice(
        seq(
          field('name', choice($.identifier, $.wildcard, alias(choice('timeout', 'default'), $.identifier))),
          'from',
          field('channel', $.expression),
          field('body', $.block),
        ),
        seq('timeout', field('limit', $.expression), field('body', $.block)),
        seq('default', field('body', $.block)),
      ),

    return_expression: ($) => prec.right(PREC.leave, seq('return', optional(field('value', $.expression)))),
    yield_expression: ($) => prec.right(PREC.leave, seq('yield', optional(field('value', $.expression)))),
    throw_expression: ($) => prec.right(PREC.leave, seq('throw', field('value', $.expression))),
    emit_expression: ($) => prec.right(PREC.leave, seq('emit', field('value', $.expression))),
  },
});

/** Elements between separators, of which there may be any number before, between and after them; not empty. */
function separated(element, separator) {
  return choice(
    seq(repeat1(choice(separator, seq(element, separator))), optional(element)),
    element,
  );
}
