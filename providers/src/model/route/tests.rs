use std::collections::HashMap;

use runtime::message::{Message, ToolCall};
use runtime::model::ModelErrorKind;

use super::*;
use crate::testing::{TestSession, block_on};

fn routes(env: &[(&str, &str)]) -> Routes {
    let env: HashMap<String, String> =
        env.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    Routes::new(|| CapabilityTable::built_in().unwrap(), move |name| env.get(name).cloned())
}

const ANTHROPIC: (&str, &str) = ("ANTHROPIC_API_KEY", "a");
const OPENAI: (&str, &str) = ("OPENAI_API_KEY", "o");

#[test]
fn the_provider_is_named_or_the_environments_or_the_mock() {
    for (env, named, provider, fell_back) in [
        (&[][..], None, Provider::Mock, true),
        (&[("OPENAI_API_KEY", "  ")], None, Provider::Mock, true),
        (&[OPENAI], None, Provider::Openai, false),
        (&[OPENAI, ANTHROPIC], None, Provider::Anthropic, false),
        (&[OPENAI, ("ANTHROPIC_AUTH_TOKEN", "t")], None, Provider::Anthropic, false),
        (&[OPENAI, ANTHROPIC, ("HARN_LLM_PROVIDER", "openai")], None, Provider::Openai, false),
        (&[OPENAI, ("HARN_LLM_PROVIDER", "mock")], None, Provider::Mock, false),
        (&[OPENAI, ANTHROPIC, ("HARN_LLM_PROVIDER", "openai")], Some("anthropic"), Provider::Anthropic, false),
        (&[("HARN_LLM_PROVIDER", "nonsense")], Some("mock"), Provider::Mock, false),
    ] {
        let route = routes(env).choose(named, None).unwrap();
        assert_eq!((route.provider, route.fell_back_to_mock), (provider, fell_back), "{env:?} {named:?}");
    }
}

#[test]
fn the_model_is_named_or_the_environments_or_the_usual_one() {
    let model = ("HARN_LLM_MODEL", "gpt-5");
    for (env, provider, named, expected) in [
        (&[OPENAI][..], None, None, "gpt-5-mini"),
        (&[OPENAI, model], None, None, "gpt-5"),
        (&[OPENAI, model], None, Some("gpt-4o"), "gpt-4o"),
        (&[OPENAI, model], Some("openai"), None, "gpt-5"),
        (&[OPENAI, model], Some("mock"), None, "mock"),
        (&[model], Some("mock"), None, "gpt-5"),
    ] {
        let route = routes(env).choose(provider, named).unwrap();
        assert_eq!(route.model.as_ref(), expected, "{env:?} {provider:?} {named:?}");
    }
    let route = routes(&[model]).choose(None, None).unwrap();
    assert!(route.capabilities.prefers_role_developer, "the mock takes those of the model name");
}

#[test]
fn the_vendor_itself_is_asked_to_drop_bound_thoughts_with_the_header_for_it() {
    let own = routes(&[ANTHROPIC]);
    let elsewhere = routes(&[ANTHROPIC, ("ANTHROPIC_BASE_URL", "http://localhost:1")]);
    for (routes, model, drops) in [
        (&own, "claude-fable-5-1", true),
        (&own, "claude-mythos-5-2-20261101", true),
        (&own, "claude-opus-6", true),
        (&own, "claude-opus-5-20260901", false),
        (&own, "claude-sonnet-4-5", false),
        (&elsewhere, "claude-fable-5-1", false),
    ] {
        let route = routes.choose(Some("anthropic"), Some(model)).unwrap();
        let thinking = Data::dict([("type", "adaptive".into())]);
        let messages = [Arc::new(Message::user("Look."))].into_iter().collect();
        let body = route.body(&Request { messages, thinking, ..Request::default() }).unwrap();
        assert_eq!(body["thinking"].get("block_binding").is_some(), drops, "{model}");
        let headers = &route.endpoint.unwrap().headers;
        assert_eq!(headers.iter().any(|(name, _)| *name == "anthropic-beta"), drops, "{model}");
    }
}

#[test]
fn ids_that_the_vendor_did_not_provide_are_new_in_the_conversation() {
    let ids = |known: &[&str]| {
        let calls = known.iter().map(|id| ToolCall::new(*id, "look", Data::empty_dict())).collect();
        let messages = [Arc::new(Message::assistant("", calls))].into_iter().collect();
        let request = Request { messages, ..Request::default() };
        let own = OwnCallIds::new(3, &request);
        [own.of(0, "call_0").into_owned(), own.of(1, "call_1").into_owned(), own.of(1, "toolu_7").into_owned()]
    };
    assert_eq!(ids(&["call_2_0", "toolu_1"]), ["call_3_0", "call_3_1", "toolu_7"]);
    assert_eq!(ids(&["call_3_0"]), ["call_3_2_0", "call_3_2_1", "toolu_7"]);
    assert_eq!(ids(&["call_3_0", "call_3_2_0"]), ["call_3_3_0", "call_3_3_1", "toolu_7"]);
    // A vendor may provide an id that another one has used, or one id for several calls.
    assert_eq!(ids(&["toolu_7"]), ["call_3_0", "call_3_1", "call_3_1"]);
    let request = Request::default();
    let own = OwnCallIds::new(3, &request);
    for _ in ["streamed", "whole"] {
        assert_eq!((own.of(0, "a"), own.of(1, "a"), own.of(2, "b")), ("a".into(), "call_3_1".into(), "b".into()));
    }
}

#[test]
fn base_urls_may_or_may_not_hold_the_version() {
    for (variable, base, url) in [
        ("ANTHROPIC_BASE_URL", "http://localhost:1", "http://localhost:1/v1/messages"),
        ("ANTHROPIC_BASE_URL", "http://localhost:1/", "http://localhost:1/v1/messages"),
        ("ANTHROPIC_BASE_URL", "http://localhost:1/v1/", "http://localhost:1/v1/messages"),
        ("ANTHROPIC_BASE_URL", "http://localhost:1/proxy", "http://localhost:1/proxy/v1/messages"),
        ("OPENAI_BASE_URL", "http://localhost:1", "http://localhost:1/v1/chat/completions"),
        ("OPENAI_BASE_URL", "http://localhost:1/v1", "http://localhost:1/v1/chat/completions"),
        ("OPENAI_BASE_URL", "http://[::1]:1/v1/", "http://[::1]:1/v1/chat/completions"),
        ("OPENAI_BASE_URL", "http://127.0.0.2/api/v4", "http://127.0.0.2/api/v4/chat/completions"),
        ("OPENAI_COMPATIBLE_BASE_URL", "http://10.0.0.1:8000", "http://10.0.0.1:8000/v1/chat/completions"),
        ("GEMINI_BASE_URL", "http://localhost:1", "http://localhost:1/v1beta/models/gemini-2.5-flash:generateContent"),
        ("GOOGLE_GEMINI_BASE_URL", "http://[::1]/p/v1/", "http://[::1]/p/v1/models/gemini-2.5-flash:generateContent"),
        ("OLLAMA_BASE_URL", "http://10.0.0.1/api", "http://10.0.0.1/api/chat"),
        ("OLLAMA_HOST", "gpu", "http://gpu:11434/api/chat"),
    ] {
        let provider = match variable.split('_').next().unwrap() {
            "ANTHROPIC" => "anthropic",
            "GEMINI" | "GOOGLE" => "gemini",
            "OLLAMA" => "ollama",
            _ if variable.contains("COMPATIBLE") => "openai_compatible",
            _ => "openai",
        };
        let route = routes(&[(variable, base)]).choose(Some(provider), None).unwrap();
        assert_eq!(route.endpoint.unwrap().url.as_str(), url, "{base}");
    }
    let route = routes(&[ANTHROPIC]).choose(None, None).unwrap();
    assert_eq!(route.endpoint.unwrap().url.as_str(), "https://api.anthropic.com/v1/messages");
    let route = routes(&[OPENAI]).choose(None, None).unwrap();
    assert_eq!(route.endpoint.unwrap().url.as_str(), "https://api.openai.com/v1/chat/completions");
    let route = routes(&[]).choose(Some("ollama"), None).unwrap();
    assert_eq!(route.endpoint.unwrap().url.as_str(), "http://127.0.0.1:11434/api/chat");
}

#[test]
fn models_of_the_responses_api_are_asked_there() {
    for (provider, model, path) in [
        ("openai", "gpt-5", "chat/completions"),
        ("openai", "gpt-5-pro", "responses"),
        ("openai", "o3-pro-2025-06-10", "responses"),
        ("openai", "gpt-5.1-codex-max", "responses"),
        ("openai", "o4-mini-deep-research", "responses"),
        ("openai_compatible", "gpt-5-pro", "chat/completions"),
    ] {
        let env = [OPENAI, ("OPENAI_COMPATIBLE_BASE_URL", "https://api.openai.com")];
        let route = routes(&env).choose(Some(provider), Some(model)).unwrap();
        assert_eq!(route.endpoint.unwrap().url.as_str(), format!("https://api.openai.com/v1/{path}"), "{model}");
    }
}

#[test]
fn headers_are_those_of_the_vendor() {
    for (env, expected) in [
        ((&[ANTHROPIC][..]), &[("x-api-key", "a"), ("anthropic-version", "2023-06-01")][..]),
        (&[("ANTHROPIC_AUTH_TOKEN", "t")], &[("authorization", "Bearer t"), ("anthropic-version", "2023-06-01")]),
        (&[OPENAI], &[("authorization", "Bearer o")]),
        (&[("GEMINI_API_KEY", "g"), ("GOOGLE_API_KEY", "h")], &[("x-goog-api-key", "g")]),
        (&[("GOOGLE_API_KEY", "h")], &[("x-goog-api-key", "h")]),
        (&[("HARN_LLM_PROVIDER", "ollama"), ("OLLAMA_API_KEY", "k")], &[("authorization", "Bearer k")]),
        (
            &[("OPENAI_COMPATIBLE_BASE_URL", "https://x"), ("OPENAI_COMPATIBLE_API_KEY", "c")],
            &[("authorization", "Bearer c")],
        ),
        (
            &[("HARN_LLM_PROVIDER", "anthropic"), ("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")],
            &[("anthropic-version", "2023-06-01")],
        ),
    ] {
        let endpoint = routes(env).choose(None, None).unwrap().endpoint.unwrap();
        let headers: Vec<_> = endpoint.headers.iter().map(|(name, value)| (*name, value.to_str().unwrap())).collect();
        assert_eq!(headers, expected);
    }
    let shown = format!("{:?}", routes(&[("OPENAI_API_KEY", "sk-secret")]).choose(None, None).unwrap());
    assert!(!shown.contains("sk-secret"), "{shown}");
}

#[test]
fn a_call_that_can_go_nowhere_says_why() {
    for (env, named, kind, parts) in [
        (&[][..], Some("antropic"), ModelErrorKind::BadRequest, &["\"antropic\"", "did you mean \"anthropic\"?"][..]),
        (
            &[],
            Some("xyz"),
            ModelErrorKind::BadRequest,
            &["the providers are \"anthropic\", \"openai\", \"gemini\", \"ollama\""],
        ),
        (&[], Some("gemini"), ModelErrorKind::Auth, &["no key for gemini", "GEMINI_API_KEY", "GEMINI_BASE_URL"]),
        (&[], Some("openai_compatible"), ModelErrorKind::BadRequest, &["OPENAI_COMPATIBLE_BASE_URL", "8000/v1"]),
        (&[("OLLAMA_HOST", "a b")], Some("ollama"), ModelErrorKind::BadRequest, &["OLLAMA_HOST is not the URL"]),
        (&[("HARN_LLM_PROVIDER", "olama")], None, ModelErrorKind::BadRequest, &["in HARN_LLM_PROVIDER"]),
        (&[], Some("openai"), ModelErrorKind::Auth, &["no key for openai", "OPENAI_API_KEY", "OPENAI_BASE_URL"]),
        (&[("OPENAI_BASE_URL", "http://10.0.0.1/v1")], Some("openai"), ModelErrorKind::Auth, &["no key"]),
        (&[("OPENAI_BASE_URL", "https://localhost/v1")], Some("openai"), ModelErrorKind::Auth, &["no key"]),
        (
            &[OPENAI, ("OPENAI_BASE_URL", "localhost")],
            None,
            ModelErrorKind::BadRequest,
            &["OPENAI_BASE_URL is not the URL"],
        ),
        (&[OPENAI, ("OPENAI_BASE_URL", "ftp://x")], None, ModelErrorKind::BadRequest, &["scheme is \"ftp\""]),
        (&[("OPENAI_API_KEY", "a\nb")], None, ModelErrorKind::Auth, &["OPENAI_API_KEY contains characters"]),
    ] {
        let request = Request { provider: named.map(Into::into), ..Request::default() };
        let place = TestSession::new();
        let failure = block_on(routes(env).call(place.turn(), &request, &|_| {}).get()).unwrap_err();
        let error = failure.as_any().downcast_ref::<ModelError>().unwrap();
        assert_eq!(error.kind, kind, "{error}");
        for part in parts {
            assert!(error.message.contains(part), "{part}: {error}");
        }
    }
}

#[test]
fn a_request_without_a_provider_and_without_keys_reaches_the_mock() {
    let (routes, place) = (routes(&[]), TestSession::new());
    let request = Request { messages: [Arc::new(Message::user("hi"))].into_iter().collect(), ..Request::default() };
    let shown = RefCell::new(String::new());
    let live = |delta: Delta<'_>| shown.borrow_mut().push_str(&format!("{delta:?}"));
    let reply = block_on(routes.call(place.turn(), &request, &live).get()).unwrap();
    assert_eq!((reply.text.as_ref(), reply.provider.as_ref()), ("mock: hi", "mock"));
    assert_eq!(*shown.borrow(), "Text(\"mock: hi\")");
    assert_eq!(routes.mock().calls().len(), 1);
}
