use lang::source::Source;
fn norm(text: &str) -> Vec<String> {
    let s = Source::new("x", text.replace("\r\n", "\n"));
    lang::lex::lex(&s).tokens.iter().filter(|(t, _)| !matches!(t, lang::lex::token::Token::Newline | lang::lex::token::Token::Semi | lang::lex::token::Token::Comma | lang::lex::token::Token::LParen | lang::lex::token::Token::RParen)).map(|(t, _)| format!("{t:?}")).collect()
}
fn main() {
    let write = std::env::args().any(|a| a == "--write");
    let show = std::env::args().any(|a| a == "--show");
    let (mut n, mut skipped, mut changed) = (0, 0, 0);
    for path in std::env::args().skip(1).filter(|a| !a.starts_with("--")) {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let source = Source::new(path.clone(), text.clone());
        let Ok(once) = fmt::format(&source, 100) else { skipped += 1; continue };
        n += 1;
        if once != text { changed += 1; }
        if show { println!("{once}"); }
        let a = norm(&text);
        let b = norm(&once);
        let fail = |why: &str| { println!("FAIL {why}: {path}"); };
        if a != b { fail("tokens"); let i = a.iter().zip(&b).position(|(x, y)| x != y).unwrap_or(0); println!("  {:?} vs {:?}", a.get(i.saturating_sub(2)..(i+3).min(a.len())), b.get(i.saturating_sub(2)..(i+3).min(b.len()))); }
        match fmt::format(&Source::new("y", once.clone()), 100) {
            Err(e) => { fail("errors after"); println!("{}", lang::diagnostic::draw::draw(&e[0], false)); }
            Ok(twice) if twice != once => { fail("idempotence"); 
                for (x, y) in once.lines().zip(twice.lines()) { if x != y { println!("  1: {x}\n  2: {y}"); break; } } }
            _ => {}
        }
        if write { std::fs::write(&path, once).unwrap(); }
    }
    println!("{n} formatted, {skipped} with errors, {changed} changed");
}
