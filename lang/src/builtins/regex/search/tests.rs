use super::*;

const PATTERNS: &[&str] = &[
    "",
    "a",
    "a*",
    "a*?",
    "a+",
    "a+?",
    "(a+)(b)?",
    "(a|ab)(c|bcd)(d*)",
    "a|ab|abc",
    "abc|ab|a",
    "(?:a|b)*c",
    "(a*)*",
    "(a*)+",
    "(a|b)*?c",
    "^a",
    "a$",
    "^$",
    "(?m)^",
    "(?m)$",
    "(?m)^a*$",
    r"\b",
    r"\B",
    r"\bé",
    r"\b\w+\b",
    r"(\w+)\s(\w+)",
    ".",
    ".*",
    "(?s).*",
    "(?s).",
    r"\pL+",
    r"[^a]",
    r"é|e",
    "(?i)É+",
    r"\d{2,3}",
    r"(\d{2,3}?)",
    "(?P<first>a)(?P<second>b)?",
    "((a)|b)+",
    "(()|a)+",
    "(a{2}){2}",
    "x*",
    r"\s*",
    "(?:)",
    "(|a)",
    "(a|)",
    r"\b{start}\w",
    "[ab]*a[ab]{5}b",
    r"😀+|.",
    "$^",
    "(?:a*)$",
    r"(^|b)(a|$)",
];

const TEXTS: &[&str] = &[
    "",
    "a",
    "ab",
    "abc",
    "abcd",
    "aaa",
    "aaab",
    "ba",
    "baab ab\nabc",
    "é",
    "éa éé",
    "a é b",
    "1234 56 7",
    "😀a😀😀",
    "ÉéE e",
    "\n\n",
    "a\nb\r\nc",
    "xaxbxc",
    "ababababaabbbab",
];

/// The matches of a search: the ends of each group.
type Found = Vec<Vec<Option<(usize, usize)>>>;

fn all(pattern: &CompiledRegex, text: &str, groups: bool) -> Found {
    let mut found = Found::new();
    let done = pattern.each(text, groups, |captures, _| {
        found.push(captures.iter().map(|span| span.map(|s| (s.start, s.end))).collect());
        Ok(())
    });
    assert!(done.is_ok());
    found
}

/// The pattern as if each text were too long for the usual engine.
fn long(text: &str, lazy: bool) -> CompiledRegex {
    let Ok(mut pattern) = CompiledRegex::new(text) else { panic!("{text}") };
    pattern.short = 0;
    if !lazy {
        let mut large = Large::new(text);
        large.lazy = None;
        assert!(pattern.large.set(Box::new(large)).is_ok());
    }
    pattern
}

/// A fixed row of numbers below the one that is asked for.
fn random() -> impl FnMut(usize) -> usize {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 33).unwrap_or(0) % below
    }
}

#[test]
fn each_way_to_search_finds_the_same() {
    let mut matches = 0;
    for pattern in PATTERNS {
        let Ok(usual) = CompiledRegex::new(pattern) else { panic!("{pattern}") };
        let (lazy, simulated) = (long(pattern, true), long(pattern, false));
        for text in TEXTS {
            for groups in [false, true] {
                let expected = all(&usual, text, groups);
                matches += expected.len();
                assert_eq!(all(&lazy, text, groups), expected, "by the automaton: {pattern:?} in {text:?}");
                assert_eq!(all(&simulated, text, groups), expected, "by the simulation: {pattern:?} in {text:?}");
            }
        }
    }
    assert!(matches > 3_500, "{matches}");
}

#[test]
fn generated_patterns_find_the_same() {
    let mut next = random();
    const PARTS: &[&str] =
        &["a", "b", "é", "(", "(?:", ")", "*", "+", "?", "*?", "|", ".", "^", "$", r"\b", r"\B", "[ab]", "{2}", r"\w"];
    let mut tried = 0;
    while tried < 3_000 {
        let pattern: String = (0..=next(9)).map(|_| PARTS[next(PARTS.len())]).collect();
        let Ok(usual) = CompiledRegex::new(&pattern) else { continue };
        tried += 1;
        let text: String = (0..next(14)).map(|_| ["a", "b", "é", " ", "\n"][next(5)]).collect();
        let expected = all(&usual, &text, true);
        assert_eq!(all(&long(&pattern, true), &text, true), expected, "by the automaton: {pattern:?} in {text:?}");
        assert_eq!(all(&long(&pattern, false), &text, true), expected, "by the simulation: {pattern:?} in {text:?}");
    }
}

#[test]
fn a_pattern_whose_text_is_too_long_is_refused_unread() {
    assert!(matches!(CompiledRegex::new(&"x".repeat(LONGEST + 1)), Err(Unusable::TooLong(LONGEST))));
    assert!(CompiledRegex::new(&"x".repeat(LONGEST / 2)).is_ok());
}

#[test]
fn a_pattern_whose_groups_would_take_too_much_is_refused() {
    assert!(matches!(CompiledRegex::new(&"(a)".repeat(6_000)), Err(Unusable::Groups(GROUPS))));
    assert!(CompiledRegex::new(&"(a)".repeat(100)).is_ok());
    assert!(CompiledRegex::new(&"(?:a)".repeat(6_000)).is_ok());
}

/// The simulation is what searches where the pattern makes the automaton give up.
#[test]
fn an_automaton_that_is_rebuilt_again_and_again_gives_up() {
    let large = Large::new(r"[ab]*a[ab]{300}\d");
    let mut next = random();
    let text: String = (0..200_000).map(|_| ['a', 'b'][next(2)]).collect();
    let Some(lazy) = &large.lazy else { panic!("no automaton") };
    let (regex, cache) = &mut *lazy.borrow_mut();
    assert!(regex.try_search(cache, &Input::new(&text)).is_err());
}
