/*
 * The tokens that depend on what is around them: line breaks that separate, the meaning of each `{`, the text of
 * strings, nested comments. The rules are those of the language's own lexer. The scanner keeps no state between two
 * tokens: what is valid after the last token says which bracket is open, and looking ahead says the rest.
 */

#include "tree_sitter/parser.h"

enum TokenType {
  NEWLINE,
  BODY_OPEN,
  ARM_OPEN,
  BLOCK_OPEN,
  CLOSURE_OPEN,
  DICT_OPEN,
  STRUCT_OPEN,
  STRING_TEXT,
  TRIPLE_TEXT,
  TRIPLE_END,
  COMMENT_TEXT,
  TYPE_AHEAD,
  ERROR_SENTINEL,
};

void *tree_sitter_harn_external_scanner_create(void) { return NULL; }
void tree_sitter_harn_external_scanner_destroy(void *payload) { (void)payload; }
unsigned tree_sitter_harn_external_scanner_serialize(void *payload, char *buffer) {
  (void)payload, (void)buffer;
  return 0;
}
void tree_sitter_harn_external_scanner_deserialize(void *payload, const char *buffer, unsigned length) {
  (void)payload, (void)buffer, (void)length;
}

static void step(TSLexer *lexer) { lexer->advance(lexer, false); }

static bool at(TSLexer *lexer, int32_t c) { return lexer->lookahead == c && !lexer->eof(lexer); }

static bool is_blank(int32_t c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == 0xfeff; }

static bool is_word(int32_t c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool is_digit(int32_t c) { return c >= '0' && c <= '9'; }

/* Text of strings and comments */

/* Reads the text of a `"…"` string up to its end, an escape or an interpolation. */
static bool scan_string_text(TSLexer *lexer) {
  bool any = false;
  while (!lexer->eof(lexer)) {
    int32_t c = lexer->lookahead;
    if (c == '"' || c == '\\' || c == '\n') break;
    lexer->mark_end(lexer);
    step(lexer);
    if (c == '$' && at(lexer, '{')) {
      lexer->result_symbol = STRING_TEXT;
      return any;
    }
    any = true;
    lexer->mark_end(lexer);
  }
  lexer->result_symbol = STRING_TEXT;
  return any;
}

/* Reads the text of a string in triple quotes, or its end: the last three of a run of quotes. */
static bool scan_triple(TSLexer *lexer) {
  bool any = false;
  while (!lexer->eof(lexer)) {
    int32_t c = lexer->lookahead;
    if (c == '\\') break;
    if (c == '"') {
      if (any) break;
      step(lexer);
      lexer->mark_end(lexer);
      unsigned run = 1;
      for (; run < 4 && at(lexer, '"'); run++) step(lexer);
      if (run == 4) {
        lexer->result_symbol = TRIPLE_TEXT;
        return true;
      }
      lexer->mark_end(lexer);
      if (run == 3) {
        lexer->result_symbol = TRIPLE_END;
        return true;
      }
      any = true;
      continue;
    }
    lexer->mark_end(lexer);
    step(lexer);
    if (c == '$' && at(lexer, '{')) {
      lexer->result_symbol = TRIPLE_TEXT;
      return any;
    }
    any = true;
    lexer->mark_end(lexer);
  }
  lexer->result_symbol = TRIPLE_TEXT;
  return any;
}

/* Reads a block comment after its opening mark; comments nest. Tells whether a line breaks in it. */
static bool skip_block_comment(TSLexer *lexer, bool *closed) {
  unsigned depth = 1;
  bool line_break = false;
  while (!lexer->eof(lexer)) {
    int32_t c = lexer->lookahead;
    step(lexer);
    if (c == '\n') line_break = true;
    if (c == '/' && at(lexer, '*')) {
      step(lexer);
      depth++;
    } else if (c == '*' && at(lexer, '/')) {
      step(lexer);
      if (--depth == 0) {
        *closed = true;
        return line_break;
      }
    }
  }
  *closed = false;
  return line_break;
}

static bool scan_comment_text(TSLexer *lexer) {
  bool closed;
  skip_block_comment(lexer, &closed);
  lexer->mark_end(lexer);
  lexer->result_symbol = COMMENT_TEXT;
  return closed;
}

/* Looking ahead */

/* What follows a `{`, one token or bracket with its contents at a time. */
enum Unit {
  END,
  IDENTIFIER,
  KEYWORD,
  FN,
  NIL,
  UNDERSCORE,
  INTEGER,
  STRING,
  PARENS,
  SQUARES,
  BRACES,
  CLOSER,
  CLOSING_BRACE,
  ARROW,
  ELLIPSIS,
  COMMA,
  COLON,
  SEMICOLON,
  ASSIGN,
  QUESTION,
  BAR,
  LESS,
  GREATER,
  OTHER,
};

typedef struct {
  enum Unit unit;
  /* A line breaks before it. */
  bool on_new_line;
} Ahead;

/* Deepest strings within interpolations that are looked into. */
static const unsigned MAX_NESTING = 64;

static const char *const KEYWORDS[] = {
    "pipeline", "extends", "override", "let",    "var",   "const",    "if",      "else",   "for",       "in",
    "while",    "match",   "retry",    "parallel", "defer", "return", "import",  "true",   "false",     "try",
    "catch",    "throw",   "finally",  "spawn",  "type",  "enum",     "struct",  "interface", "impl",   "pub",
    "from",     "to",      "exclusive", "tool",  "guard", "require",  "each",    "settle", "deadline",  "yield",
    "emit",     "mutex",   "break",    "continue", "select",
};

static bool same(const char *a, const char *b) {
  while (*a && *a == *b) a++, b++;
  return *a == *b;
}

enum { WORD = 16 };

/* Reads a word; a longer one than any keyword is cut. */
static void read_word(TSLexer *lexer, char word[WORD]) {
  unsigned length = 0;
  while (is_word(lexer->lookahead) && !lexer->eof(lexer)) {
    if (length < WORD - 1) word[length++] = (char)lexer->lookahead;
    step(lexer);
  }
  word[length] = 0;
}

/* Skips blanks, line breaks and comments. Tells whether a `/` that begins no comment was taken. */
static bool skip_space(TSLexer *lexer, bool *line_break) {
  while (!lexer->eof(lexer)) {
    int32_t c = lexer->lookahead;
    if (c == '\n') {
      *line_break = true;
      step(lexer);
    } else if (is_blank(c)) {
      step(lexer);
    } else if (c == '\\') {
      step(lexer);
      while (is_blank(lexer->lookahead)) step(lexer);
      if (at(lexer, '\n')) step(lexer);
    } else if (c == '/') {
      step(lexer);
      if (at(lexer, '/')) {
        while (!lexer->eof(lexer) && lexer->lookahead != '\n') step(lexer);
      } else if (at(lexer, '*')) {
        bool closed;
        step(lexer);
        if (skip_block_comment(lexer, &closed)) *line_break = true;
      } else {
        return true;
      }
    } else {
      return false;
    }
  }
  return false;
}

static void skip_brackets(TSLexer *lexer, unsigned nesting);

/* Skips a string whose first quote has been taken. */
static void skip_string(TSLexer *lexer, unsigned nesting) {
  bool triple = false;
  if (at(lexer, '"')) {
    step(lexer);
    if (!at(lexer, '"')) return;
    step(lexer);
    triple = true;
  }
  while (!lexer->eof(lexer)) {
    int32_t c = lexer->lookahead;
    if (c == '\n' && !triple) return;
    step(lexer);
    if (c == '\\') {
      if (!lexer->eof(lexer)) step(lexer);
    } else if (c == '$' && at(lexer, '{')) {
      step(lexer);
      skip_brackets(lexer, nesting + 1);
    } else if (c == '"') {
      if (!triple) return;
      unsigned run = 1;
      for (; at(lexer, '"'); run++) step(lexer);
      if (run >= 3) return;
    }
  }
}

/* Reads one token of code, or skips a string. Brackets are returned as they are. */
static enum Unit read_token(TSLexer *lexer, unsigned nesting) {
  int32_t c = lexer->lookahead;
  if (lexer->eof(lexer)) return END;
  if (is_digit(c)) {
    while (is_word(lexer->lookahead)) step(lexer);
    return INTEGER;
  }
  if (is_word(c)) {
    char word[WORD];
    read_word(lexer, word);
    if (same(word, "r") && at(lexer, '"')) {
      step(lexer);
      while (!lexer->eof(lexer) && lexer->lookahead != '"' && lexer->lookahead != '\n') step(lexer);
      if (at(lexer, '"')) step(lexer);
      return STRING;
    }
    if (same(word, "_")) return UNDERSCORE;
    if (same(word, "fn")) return FN;
    if (same(word, "nil")) return NIL;
    for (unsigned i = 0; i < sizeof KEYWORDS / sizeof *KEYWORDS; i++) {
      if (same(word, KEYWORDS[i])) return KEYWORD;
    }
    return IDENTIFIER;
  }
  step(lexer);
  switch (c) {
    case '"': skip_string(lexer, nesting); return STRING;
    case '(': return PARENS;
    case '[': return SQUARES;
    case '{': return BRACES;
    case '}': return CLOSING_BRACE;
    case ')':
    case ']': return CLOSER;
    case ',': return COMMA;
    case ';': return SEMICOLON;
    case '-':
      if (!at(lexer, '>')) return OTHER;
      step(lexer);
      return ARROW;
    case '.':
      if (!at(lexer, '.')) return OTHER;
      while (at(lexer, '.')) step(lexer);
      return ELLIPSIS;
    case ':': return at(lexer, '=') ? OTHER : COLON;
    case '<': return at(lexer, '=') ? OTHER : LESS;
    case '>': return at(lexer, '=') ? OTHER : GREATER;
    case '|': return at(lexer, '|') || at(lexer, '>') ? OTHER : BAR;
    case '?': return at(lexer, '.') || at(lexer, '?') || at(lexer, '[') ? OTHER : QUESTION;
    case '!': 
      if (at(lexer, '=')) step(lexer);
      return OTHER;
    case '=':
      if (!at(lexer, '=') && !at(lexer, '>')) return ASSIGN;
      while (at(lexer, '=') || at(lexer, '>')) step(lexer);
      return OTHER;
    default: return OTHER;
  }
}

/* Skips to the bracket that closes the last one taken, and takes it. */
static void skip_brackets(TSLexer *lexer, unsigned nesting) {
  if (nesting > MAX_NESTING) return;
  unsigned depth = 1;
  bool line_break = false;
  while (depth > 0 && !lexer->eof(lexer)) {
    if (skip_space(lexer, &line_break)) continue;
    switch (read_token(lexer, nesting)) {
      case PARENS:
      case SQUARES:
      case BRACES: depth++; break;
      case CLOSER:
      case CLOSING_BRACE: depth--; break;
      default: break;
    }
  }
}

static Ahead next_unit(TSLexer *lexer) {
  Ahead next = {OTHER, false};
  if (skip_space(lexer, &next.on_new_line)) return next;
  next.unit = read_token(lexer, 0);
  if (next.unit == PARENS || next.unit == SQUARES || next.unit == BRACES) skip_brackets(lexer, 0);
  return next;
}

/* Most units that are looked at after a `{`: the parameters of a closure. */
enum { MAX_UNITS = 256 };

/* The units after a `{`, as far as they have been read. */
typedef struct {
  TSLexer *lexer;
  Ahead read[MAX_UNITS];
  unsigned count, next;
} Units;

static Ahead peek(Units *units) {
  if (units->next == units->count) {
    if (units->count == MAX_UNITS) return (Ahead){END, false};
    units->read[units->count++] = next_unit(units->lexer);
  }
  return units->read[units->next];
}

static void take(Units *units) { units->next++; }

static void skip_type(Units *units) {
  unsigned angles = 0;
  for (;;) {
    switch (peek(units).unit) {
      case FN:
        take(units);
        if (peek(units).unit != PARENS) return;
        take(units);
        if (peek(units).unit != ARROW) return;
        break;
      case LESS: angles++; break;
      case GREATER: angles -= angles > 0; break;
      case COMMA:
        if (angles == 0) return;
        break;
      case IDENTIFIER:
      case NIL:
      case BAR:
      case QUESTION:
      case STRING:
      case BRACES:
      case PARENS: break;
      default: return;
    }
    take(units);
  }
}

static void skip_default(Units *units) {
  for (;;) {
    Ahead next = peek(units);
    switch (next.unit) {
      case COMMA:
      case ARROW:
      case CLOSING_BRACE:
      case CLOSER:
      case SEMICOLON:
      case END: return;
      default:
        if (next.on_new_line) return;
        take(units);
    }
  }
}

/* Parameters and `->`, or `->` alone. */
static bool is_closure(Units *units) {
  for (;;) {
    if (peek(units).unit == ELLIPSIS) take(units);
    switch (peek(units).unit) {
      case ARROW: return true;
      case IDENTIFIER:
      case UNDERSCORE:
      case BRACES:
      case SQUARES:
      case PARENS: take(units); break;
      default: return false;
    }
    if (peek(units).unit == COLON) {
      take(units);
      skip_type(units);
    }
    if (peek(units).unit == ASSIGN) {
      take(units);
      skip_default(units);
    }
    switch (peek(units).unit) {
      case ARROW: return true;
      case COMMA: take(units); break;
      default: return false;
    }
  }
}

/* `}`, `key:`, `...`, `[key]:`, `name,` or `name}`. */
static bool is_dict(Units *units) {
  enum Unit first = peek(units).unit;
  if (first == CLOSING_BRACE || first == ELLIPSIS) return true;
  take(units);
  enum Unit second = peek(units).unit;
  switch (first) {
    case IDENTIFIER:
      if (second == COMMA || second == CLOSING_BRACE) return true;
      break;
    case KEYWORD:
    case FN:
    case NIL:
    case STRING:
    case SQUARES:
    case INTEGER: break;
    default: return false;
  }
  if (second == QUESTION && first != STRING && first != SQUARES && first != INTEGER) {
    take(units);
    second = peek(units).unit;
  }
  return second == COLON;
}

/* What a `{` opens where an expression can begin; it has been taken. */
static enum TokenType brace_of_expression(TSLexer *lexer) {
  Units units;
  units.lexer = lexer;
  units.count = units.next = 0;
  if (is_closure(&units)) return CLOSURE_OPEN;
  units.next = 0;
  return is_dict(&units) ? DICT_OPEN : BLOCK_OPEN;
}

static bool scan_brace(TSLexer *lexer, const bool *valid) {
  step(lexer);
  lexer->mark_end(lexer);
  bool operand = valid[BLOCK_OPEN] || valid[DICT_OPEN] || valid[CLOSURE_OPEN];
  enum TokenType found;
  if (valid[ERROR_SENTINEL]) {
    found = brace_of_expression(lexer);
    if (found == BLOCK_OPEN) found = BODY_OPEN;
  } else if (valid[ARM_OPEN]) {
    found = ARM_OPEN;
  } else if (valid[BODY_OPEN]) {
    /* After an operand a head's body comes before the fields of a struct. */
    found = BODY_OPEN;
    if (operand) {
      enum TokenType other = brace_of_expression(lexer);
      if (other != BLOCK_OPEN && valid[other]) found = other;
    }
  } else if (valid[STRUCT_OPEN] && !operand) {
    found = STRUCT_OPEN;
  } else if (valid[DICT_OPEN] && !valid[BLOCK_OPEN]) {
    found = DICT_OPEN;
  } else if (operand) {
    found = brace_of_expression(lexer);
  } else {
    return false;
  }
  lexer->result_symbol = found;
  return true;
}

/* Tells whether the next token continues the line above. */
static bool joins_line_above(TSLexer *lexer, const bool *valid) {
  int32_t c = lexer->lookahead;
  if (is_word(c)) {
    char word[WORD];
    read_word(lexer, word);
    if (!same(word, "else") && !same(word, "catch") && !same(word, "finally")) return false;
    /* A member of that name. */
    while (is_blank(lexer->lookahead)) step(lexer);
    return !at(lexer, ':');
  }
  switch (c) {
    case '}':
    case '|':
    case '<':
    case '>':
    case '?': return true;
    case '{': return valid[BODY_OPEN] && !valid[ERROR_SENTINEL];
    case '&': step(lexer); return at(lexer, '&');
    case '=':
    case '!': step(lexer); return at(lexer, '=');
    case '+':
    case '*':
    case '/':
    case '%':
    case ':': step(lexer); return !at(lexer, '=');
    case '.':
      step(lexer);
      if (!at(lexer, '.')) return true;
      step(lexer);
      return !at(lexer, '.');
    default: return false;
  }
}

/* Types */

static const char *const TYPES_WITH_ARGUMENTS[] = {"list", "dict", "set", "Result"};

/* Tells whether a type with arguments comes where a value is expected; takes nothing. No comparison ends in `>`. */
static bool scan_type(TSLexer *lexer) {
  lexer->mark_end(lexer);
  char word[WORD];
  read_word(lexer, word);
  bool known = false, line_break = false;
  for (unsigned i = 0; i < sizeof TYPES_WITH_ARGUMENTS / sizeof *TYPES_WITH_ARGUMENTS; i++) {
    known = known || same(word, TYPES_WITH_ARGUMENTS[i]);
  }
  if (!known || !at(lexer, '<')) return false;
  step(lexer);
  unsigned depth = 1;
  while (depth > 0) {
    if (skip_space(lexer, &line_break)) return false;
    switch (read_token(lexer, 0)) {
      case LESS: depth++; break;
      case GREATER: depth--; break;
      case PARENS:
      case BRACES: skip_brackets(lexer, 0); break;
      case IDENTIFIER:
      case FN:
      case NIL:
      case STRING:
      case ARROW:
      case COMMA:
      case COLON:
      case QUESTION:
      case BAR: break;
      default: return false;
    }
  }
  while (is_blank(lexer->lookahead) && !lexer->eof(lexer)) step(lexer);
  if (!lexer->eof(lexer) && !at(lexer, ',') && !at(lexer, '}') && !at(lexer, ')') && !at(lexer, ']') && !at(lexer, '.')) {
    return false;
  }
  lexer->result_symbol = TYPE_AHEAD;
  return true;
}

bool tree_sitter_harn_external_scanner_scan(void *payload, TSLexer *lexer, const bool *valid) {
  (void)payload;
  bool recovering = valid[ERROR_SENTINEL];
  if (!recovering) {
    if (valid[STRING_TEXT]) return scan_string_text(lexer);
    if (valid[TRIPLE_TEXT] || valid[TRIPLE_END]) return scan_triple(lexer);
    if (valid[COMMENT_TEXT]) return scan_comment_text(lexer);
  }

  bool line_break = false;
  for (; !lexer->eof(lexer); lexer->advance(lexer, true)) {
    int32_t c = lexer->lookahead;
    if (c == '\n') {
      line_break = true;
    } else if (c == '\\') {
      do lexer->advance(lexer, true);
      while (is_blank(lexer->lookahead) && !lexer->eof(lexer));
      if (!at(lexer, '\n')) return false;
    } else if (!is_blank(c)) {
      break;
    }
  }

  /* A break after a comment is found by the call after that comment. */
  if (valid[NEWLINE] && line_break) {
    lexer->mark_end(lexer);
    bool slash = false, commented = at(lexer, '/');
    if (commented) slash = skip_space(lexer, &line_break);
    if (!lexer->eof(lexer)) {
      bool joins = slash ? !at(lexer, '=') : joins_line_above(lexer, valid);
      if (!joins) {
        lexer->result_symbol = NEWLINE;
        return true;
      }
    }
    /* The comments come first; a `{` after them is read by the next call. */
    if (commented) return false;
  }
  if (valid[TYPE_AHEAD] && !recovering && is_word(lexer->lookahead)) return scan_type(lexer);
  return at(lexer, '{') && scan_brace(lexer, valid);
}
