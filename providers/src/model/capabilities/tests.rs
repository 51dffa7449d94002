use runtime::capabilities::{PlacementPolicy, WireFormat};

use super::*;

fn built_in() -> CapabilityTable {
    CapabilityTable::built_in().unwrap()
}

#[test]
fn the_o_series_and_gpt_5_and_later_read_developer_messages() {
    for (model, developer) in [
        ("o1", true),
        ("o3-mini", true),
        ("o4-mini", true),
        ("gpt-5", true),
        ("gpt-5.1-codex", true),
        ("gpt-6-turbo", true),
        ("gpt-10", true),
        ("gpt-4o", false),
        ("gpt-4.1-mini", false),
        ("gpt-3.5-turbo", false),
        ("chatgpt-4o-latest", false),
        ("omni-something", false),
    ] {
        let found = built_in().lookup("openai", model);
        assert_eq!(found.prefers_role_developer, developer, "{model}");
        let wire = if model.contains("codex") { WireFormat::OpenaiResponses } else { WireFormat::OpenaiChat };
        assert_eq!(found.wire, wire, "{model}");
        assert!(!found.prefers_xml_scaffolding && !found.prompt_caching, "{model}");
    }
}

#[test]
fn windows_are_those_of_the_models_and_not_of_their_family() {
    for (model, window) in [
        ("gpt-4", 8_192),
        ("gpt-4-0613", 8_192),
        ("gpt-4-32k", 32_768),
        ("gpt-4o", 128_000),
        ("gpt-4-turbo", 128_000),
        ("gpt-4.1-mini", 1_047_576),
        ("gpt-5-mini", 400_000),
        ("gpt-5-chat-latest", 128_000),
        ("gpt-5.1-chat-latest", 128_000),
    ] {
        assert_eq!(built_in().lookup("openai", model).context_window, Some(window), "{model}");
    }
}

#[test]
fn claude_and_gemini_read_xml() {
    let claude = built_in().lookup("anthropic", "claude-sonnet-4-5");
    assert_eq!(claude.wire, WireFormat::Anthropic);
    assert!(claude.prefers_xml_scaffolding && claude.prompt_caching && !claude.prefers_role_developer);
    assert_eq!(claude.context_window, Some(200_000));
    let gemini = built_in().lookup("gemini", "gemini-2.5-pro");
    assert!(gemini.prefers_xml_scaffolding && gemini.wire == WireFormat::Gemini);
}

#[test]
fn an_unknown_model_gets_what_its_provider_can() {
    assert_eq!(built_in().lookup("anthropic", "something-new").wire, WireFormat::Anthropic);
    assert_eq!(built_in().lookup("openai", "something-new").context_window, Some(128_000));
    assert_eq!(built_in().lookup("nobody", "x"), Capabilities::default());
}

#[test]
fn the_mock_takes_those_of_the_model_name() {
    let table = built_in();
    for (provider, model) in
        [("anthropic", "claude-opus-4-1"), ("openai", "gpt-5-mini"), ("openai", "gpt-4o"), ("gemini", "gemini-3-pro")]
    {
        assert_eq!(table.lookup("mock", model), table.lookup(provider, model), "{model}");
    }
    assert_eq!(table.lookup("mock", "mock"), Capabilities::default());
}

#[test]
fn rows_of_a_project_lie_over_the_built_in_ones() {
    let table = built_in()
        .with_toml(
            "harn.toml",
            r#"
            [package]
            name = "x"
            [[capabilities]]
            provider = "openai"
            model = "gpt-5-nano"
            prefers_role_developer = false
            placement = "tail"
            [[capabilities]]
            provider = "mock"
            model = "tiny"
            context_window = 1000
            system_text = false
            "#,
        )
        .unwrap();
    let nano = table.lookup("openai", "gpt-5-nano");
    assert!(!nano.prefers_role_developer);
    assert_eq!((nano.placement, nano.context_window), (Some(PlacementPolicy::Tail), Some(400_000)));
    assert!(table.lookup("openai", "gpt-5").prefers_role_developer);
    let tiny = table.lookup("mock", "tiny");
    assert_eq!((tiny.context_window, tiny.system_text), (Some(1000), false));
    assert!(built_in().with_toml("harn.toml", "").is_ok());
}

#[test]
fn a_project_says_where_providers_live() {
    let text = "[providers.openai]\nbase_url = \"https://x/v1\"\nkey_env = \"MY_KEY\"\n[providers.ollama]\n";
    let table = built_in().with_servers("harn.toml", text).unwrap();
    let server = table.servers().get(&crate::model::Provider::Openai).unwrap();
    assert_eq!((server.base_url.as_deref(), server.key_env.as_deref()), (Some("https://x/v1"), Some("MY_KEY")));
    for (text, parts) in [
        ("[providers.opena]", &["[providers.opena] in harn.toml", "did you mean \"openai\"?"][..]),
        ("[providers.mock]", &["has no server"]),
        ("[providers]\nopenai = 3", &["must be a table", "got integer"]),
        ("[providers.openai]\nbase_ulr = \"x\"", &["`base_ulr`", "did you mean `base_url`?"]),
        ("[providers.openai]\nbase_url = \"localhost:1\"", &["`base_url` has the scheme \"localhost\""]),
        ("[providers.openai]\nbase_url = \"https://a:b@x\"", &["password", "key_env"]),
        ("[providers.openai]\nbase_url = 3", &["`base_url` must be a string, got integer"]),
        ("[providers.openai]\nkey_env = \"sk-abc\"", &["`key_env` must be the name of the environment variable"]),
    ] {
        let error = built_in().with_servers("harn.toml", text).unwrap_err().to_string();
        for part in parts {
            assert!(error.contains(part), "{text}: {error}");
        }
        assert!(!error.contains("sk-abc"), "{error}");
    }
}

#[test]
fn a_bad_file_says_where_and_what() {
    for (text, parts) in [
        ("[[capabilities]\n", &["harn.toml is not valid TOML", "line 1"][..]),
        ("capabilities = 3", &["must be a list of tables"]),
        ("capabilities = [3]", &["row 1", "expected a table, got integer"]),
        (
            "[[capabilities]]\nprovider = \"openai\"\n[[capabilities]]\nprovider = \"openai\"\ncontext_windw = 3",
            &["row 2", "`context_windw`", "did you mean `context_window`?"],
        ),
        ("[[capabilities]]\nmodel = \"x\"", &["row 1", "missing field `provider`"]),
        ("[[capabilities]]\nprovider = \"opnai\"", &["did you mean \"openai\"?"]),
        ("[[capabilities]]\nprovider = \"openai\"\nwire = \"smoke\"", &["smoke", "openai_chat"]),
        ("[[capabilities]]\nprovider = \"openai\"\nmodel = \"a[\"", &["invalid glob in `model`"]),
        (
            "[[capabilities]]\nprovider = \"openai\"\ncontext_window = -1",
            &["row 1", "`context_window` must be a number of tokens from 1", "found -1"],
        ),
        ("[[capabilities]]\nprovider = \"openai\"\ncontext_window = 0", &["a number of tokens from 1", "found 0"]),
        (
            "[[capabilities]]\nprovider = \"openai\"\nprice = {input = -1, output = 2}",
            &["`price.input` must be", "found -1"],
        ),
        ("[[capabilities]]\nprovider = \"openai\"\nprice = {input = 1}", &["row 1", "output"]),
        ("[[capabilities]]\nprovider = \"openai\"\nprice = {input = 1, outptu = 2}", &["outptu"]),
        (
            "[[capabilities]]\nprovider = \"mock\"\nwire = \"anthropic\"\nprefers_role_developer = true",
            &["has no role `developer`"],
        ),
    ] {
        let error = built_in().with_toml("harn.toml", text).unwrap_err().to_string();
        for part in parts {
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}

/// A price of one row in dollars, as a table in TOML.
fn priced(price: &str) -> Result<CapabilityTable, CapabilityError> {
    built_in()
        .with_toml("harn.toml", &format!("[[capabilities]]\nprovider = \"openai\"\nmodel = \"x\"\nprice = {price}"))
}

#[test]
fn the_models_that_the_providers_use_by_default_have_windows_limits_and_dated_prices() {
    for (provider, model, window, limit) in [
        ("anthropic", "claude-sonnet-4-5", 200_000, 64_000),
        ("anthropic", "claude-sonnet-4-5-20250929", 200_000, 64_000),
        ("anthropic", "claude-opus-4-8", 1_000_000, 128_000),
        ("anthropic", "claude-fable-5-1", 1_000_000, 128_000),
        ("openai", "gpt-5-mini", 400_000, 128_000),
        ("openai", "o3-pro", 200_000, 100_000),
        ("openai", "o3-deep-research", 200_000, 100_000),
        ("openai", "gpt-5.2-codex", 400_000, 128_000),
        ("gemini", "gemini-2.5-flash", 1_048_576, 65_536),
    ] {
        let found = built_in().lookup(provider, model);
        assert_eq!((found.context_window, found.output_limit), (Some(window), Some(limit)), "{model}");
        assert!(found.price.is_some_and(|price| price.date.is_some()), "{model}");
        assert_eq!(built_in().lookup("mock", model).price, found.price, "{model}");
    }
}

#[test]
fn every_built_in_price_has_a_date_and_an_output_limit_within_its_window() {
    let table = built_in();
    for row in table.rows.iter() {
        let mut alone = Capabilities::default();
        row.lay_over(&mut alone);
        let Some(price) = alone.price else { continue };
        assert!(price.date.is_some() && alone.output_limit.is_some(), "{row:?}");
        assert!(price.cache_read <= price.input && price.input < price.output, "{row:?}");
        assert!(price.long.is_none_or(|long| long.input >= price.input && long.output > price.output), "{row:?}");
    }
}

#[test]
fn a_model_of_an_unknown_name_has_no_price() {
    for (provider, model) in [
        ("anthropic", "claude-sonnet-6"),
        ("anthropic", "claude-opus-4-55"),
        ("openai", "gpt-4o-audio-preview"),
        ("openai", "gpt-5-something"),
        ("gemini", "gemini-2.5-pro-tts"),
        ("ollama", "llama3.2"),
        ("openai_compatible", "gpt-5"),
        ("mock", "mock"),
    ] {
        let found = built_in().lookup(provider, model);
        assert_eq!((found.price, found.output_limit), (None, None), "{provider} {model}");
    }
}

#[test]
fn a_price_of_a_project_replaces_the_built_in_one_as_a_whole() {
    let text = "[[capabilities]]\nprovider = \"anthropic\"\nmodel = \"claude-haiku-5-5\"\noutput_limit = 1_000\n\
        price = {input = 1, output = 2.5, date = \"2027-01-01\"}";
    let found = built_in().with_toml("harn.toml", text).unwrap().lookup("anthropic", "claude-haiku-5-5");
    let price = found.price.unwrap();
    assert_eq!((price.input, price.output), (1_000_000_000, 2_500_000_000));
    assert_eq!((price.cache_read, price.cache_write, price.long), (1_000_000_000, 1_000_000_000, None));
    assert_eq!(price.date.unwrap().to_string(), "2027-01-01");
    assert_eq!((found.output_limit, found.context_window), (Some(1_000), Some(1_000_000)));
}

#[test]
fn amounts_that_are_no_price_are_refused_with_their_key() {
    let long = "{input = 1, output = 2, long = {above = 9, input = 1, output = 2}}";
    assert!(priced(long).is_ok() && priced("{input = 0, output = 0.0, date = 2026-01-31}").is_ok());
    for (price, key, part) in [
        ("{input = nan, output = 2}", "price.input", "found nan"),
        ("{input = inf, output = 2}", "price.input", "from 0 to 1000000"),
        ("{input = 1, output = -0.01}", "price.output", "found -0.01"),
        ("{input = 1, output = 1e300}", "price.output", "from 0 to 1000000"),
        ("{input = 1, output = 2000000}", "price.output", "found 2000000"),
        ("{input = 1, output = 2, cache_read = -1}", "price.cache_read", "found -1"),
        ("{input = 1, output = 2, cache_write = \"3\"}", "price.cache_write", "found \"3\""),
        ("{input = 1, output = 2, date = \"May\"}", "price.date", "the date of the prices"),
        ("{input = 1, output = 2, date = \"2026-02-30\"}", "price.date", "2026-02-30"),
        ("{input = 1, output = 2, date = 2026}", "price.date", "found 2026"),
        ("{input = 1, output = 2, long = {above = 0, input = 1, output = 2}}", "price.long.above", "from 1"),
        ("{input = 1, output = 2, long = {above = 9, input = 1, output = -2}}", "price.long.output", "found -2"),
    ] {
        match priced(price) {
            Err(CapabilityError::Row { row: 1, key: Some(found), message, .. }) => {
                assert_eq!(found, key, "{price}");
                assert!(message.contains(part), "{price}: {message}");
            }
            other => panic!("{price}: {other:?}"),
        }
    }
}

#[test]
fn limits_of_tokens_are_counts() {
    for (row, part) in [
        ("output_limit = 0", "found 0"),
        ("output_limit = -3", "found -3"),
        ("output_limit = 1.5", "found 1.5"),
        ("output_limit = 9223372036854775807", "from 1 to 1000000000"),
        ("context_window = 9223372036854775807", "from 1 to 1000000000"),
        ("context_window = nan", "found nan"),
    ] {
        let text = format!("[[capabilities]]\nprovider = \"openai\"\n{row}");
        let error = built_in().with_toml("harn.toml", &text).unwrap_err().to_string();
        assert!(error.contains(part), "{row}: {error}");
    }
}
