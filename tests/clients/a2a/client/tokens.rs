//! Tokens, and where they go.

use super::{Peer, Reply, card, result, run, task};

const SEND: &str = r#"
try {
  println(a2a.send(args()[0], "Look.", {token_env: "WORKER_TOKEN", trust: args().slice(1)}).state)
} catch (e) {
  println("${e.code} ${e.category} ${e.message}")
}
"#;
const TOKEN: (&str, &str) = ("WORKER_TOKEN", "a-token-that-opens-nothing");

fn done() -> Reply {
    result(&format!(r#"{{"task": {}}}"#, task("COMPLETED", "")))
}

#[test]
fn a_token_of_a_variable_goes_with_each_request() {
    let peer = super::agent("{}", |_| done());
    let outcome = run("token", SEND, &[&peer.url], &[TOKEN]);
    assert_eq!(outcome.out, "completed\n", "{}", outcome.err);
    for asked in peer.asked() {
        assert_eq!(asked.header("authorization"), "Bearer a-token-that-opens-nothing");
    }
    let outcome = run("token-unset", SEND, &[&peer.url], &[]);
    assert_eq!(outcome.out, "HARN-A2A-110 nil `token_env` names the variable `WORKER_TOKEN`, which is not set\n");
    let denied = crate::harn::scratch("a2a-client-token-denied").join("script.harn");
    std::fs::write(&denied, SEND).unwrap();
    let outcome = crate::harn::harn(&["run", "--deny", "env", denied.to_str().unwrap(), "--", &peer.url]);
    assert!(outcome.out.starts_with("HARN-RUN-014 nil `token_env` needs the capability `env`"), "{}", outcome.out);
}

#[test]
fn a_token_that_is_refused_is_said_so_and_not_shown() {
    let peer = super::agent("{}", |asked| match asked.header("authorization") {
        "" => Reply::whole(401, "WWW-Authenticate: Bearer\r\n", ""),
        token => Reply::text(403, &format!("no {token}")),
    });
    let outcome = run("refused", SEND, &[&peer.url], &[TOKEN]);
    assert!(outcome.out.starts_with("HARN-A2A-104 refused worker at http://127.0.0.1:"), "{}", outcome.out);
    assert!(outcome.out.ends_with("/rpc denied access (403)\n"), "{}", outcome.out);
    let open = "try { a2a.send(args()[0], \"Look.\") } catch (e) { println(\"${e.code} ${e.status}\") }\n";
    let outcome = run("wanted", open, &[&peer.url], &[]);
    assert_eq!(outcome.out, "HARN-A2A-104 401\n", "{}", outcome.err);
    assert!(!(outcome.out + outcome.err.as_str()).contains("opens-nothing"));
}

#[test]
fn a_redirect_is_followed_within_the_origin_alone() {
    let other = Peer::start(|_, _| done());
    let location = format!("Location: {}/rpc\r\n", other.url);
    let peer = Peer::start(move |asked, port| match asked.path.as_str() {
        "/.well-known/agent-card.json" => Reply::whole(302, "Location: /card\r\n", ""),
        "/card" => Reply::json(200, &card(port, "{}")),
        "/rpc" => Reply::whole(307, &location, ""),
        _ => Reply::text(404, ""),
    });
    let outcome = run("redirect", SEND, &[&peer.url], &[TOKEN]);
    assert!(outcome.out.starts_with("HARN-A2A-108 moved worker at "), "{} {}", outcome.out, outcome.err);
    assert!(outcome.out.contains("another server"), "{}", outcome.out);
    assert!(other.asked().is_empty(), "nothing went there");
}

#[test]
fn a_token_goes_to_no_other_origin_that_a_card_names_unless_it_is_trusted() {
    let other = Peer::start(|_, _| done());
    let elsewhere = other.port;
    let peer = Peer::start(move |_, _| Reply::json(200, &card(elsewhere, "{}")));
    let outcome = run("elsewhere", SEND, &[&peer.url], &[TOKEN]);
    assert!(outcome.out.starts_with("HARN-A2A-108 moved the card of "), "{} {}", outcome.out, outcome.err);
    assert!(other.asked().is_empty(), "nothing went there");
    let outcome = run("trusted", SEND, &[&peer.url, &other.url], &[TOKEN]);
    assert_eq!(outcome.out, "completed\n", "{}", outcome.err);
    let open = "println(a2a.send(args()[0], \"Look.\").state)\n";
    assert_eq!(run("open", open, &[&peer.url], &[]).out, "completed\n", "without a token there is nothing to lose");
}
