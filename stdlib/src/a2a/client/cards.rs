//! [`Cards`]: the cards of the peers of a run, fetched once and asked for again when they may have changed.

use std::cell::RefCell;
use std::collections::BTreeMap;

use base::data::Data;
use providers::web::{Method, Opened, Question, Url, Web};

use super::access::{Access, has, shown};
use super::card::{Card, REMINDERS};
use super::peer::{MOST_BODY, excerpt, refused};
use super::{ErrorKind, PeerError};

/// The paths of cards: the current one, and the one before 0.3.
const PLACES: [&str; 2] = ["/.well-known/agent-card.json", "/.well-known/agent.json"];

/// The maximum number of kept cards.
const MOST: usize = 256;

/// The default freshness of a card, in milliseconds.
const FRESH_MS: u64 = 60_000;

/// The longest that a card is taken to be true without asking, in milliseconds.
const FRESHEST_MS: u64 = 3_600_000;

/// The timeout of a card, in milliseconds, independent of that of tasks.
const CARD_TIMEOUT_MS: u64 = 30_000;

/// The cards of a run.
#[derive(Default)]
pub(crate) struct Cards {
    cached: RefCell<BTreeMap<CardKey, CachedCard>>,
}

/// The URL that was asked, and with which headers: an agent may show itself differently to different callers.
type CardKey = (String, Vec<(String, String)>);

#[derive(Clone)]
struct CachedCard {
    data: Data,
    /// The URL that it was found at.
    at: String,
    etag: Option<String>,
    fresh_until_ms: u64,
}

/// The result of requesting a card.
enum CardResponse {
    /// This card.
    Card(CachedCard),
    /// The one that is kept still holds, until then.
    Same(u64),
    /// The card is missing: the status.
    None(u16),
}

impl Cards {
    /// The card of a peer.
    pub(crate) async fn get(&self, web: &Web, access: &Access, now_ms: u64) -> Result<Card, PeerError> {
        let url = access.address()?;
        let key = (url.to_string(), access.secret_headers());
        let known = self.cached.borrow().get(&key).cloned();
        let cached = match known {
            Some(cached) if now_ms < cached.fresh_until_ms => cached,
            known => self.fetch(web, access, &url, known, now_ms).await?,
        };
        let card = Card::read(cached.data.clone(), &cached.at, access.version)?;
        self.keep(key, cached);
        Ok(card)
    }

    /// Forgets a card: what it says did not hold.
    pub(crate) fn forget(&self, access: &Access) {
        if let Ok(url) = access.address() {
            self.cached.borrow_mut().remove(&(url.to_string(), access.secret_headers()));
        }
    }

    fn keep(&self, key: CardKey, card: CachedCard) {
        let mut cached = self.cached.borrow_mut();
        if cached.len() >= MOST && !cached.contains_key(&key) {
            cached.pop_first();
        }
        cached.insert(key, card);
    }

    async fn fetch(
        &self,
        web: &Web,
        access: &Access,
        url: &Url,
        known: Option<CachedCard>,
        now_ms: u64,
    ) -> Result<CachedCard, PeerError> {
        let places = match &known {
            Some(cached) => vec![cached.at.clone()],
            None => places(url),
        };
        let mut last = 404;
        for place in &places {
            let etag = known.as_ref().and_then(|cached| cached.etag.clone());
            match ask(web, access, place, etag, now_ms).await? {
                CardResponse::Card(cached) => return Ok(cached),
                CardResponse::Same(fresh_until_ms) => {
                    if let Some(cached) = &known {
                        return Ok(CachedCard { fresh_until_ms, ..cached.clone() });
                    }
                }
                CardResponse::None(status) => last = status,
            }
        }
        self.forget(access);
        let message = format!("no agent card found at {}", shown(places.first().map_or(&*access.url, |place| place)));
        let error = PeerError::new(ErrorKind::NoCard, message).fact("status", i64::from(last).into());
        Err(error.help("use the agent's base URL, or the URL of its card, which ends in `.json`"))
    }
}

/// Returns the URLs where an agent's card may be.
fn places(url: &Url) -> Vec<String> {
    if url.path().ends_with(".json") {
        return vec![url.to_string()];
    }
    let base = url.path().trim_end_matches('/').to_owned();
    let place = |place: &&str| {
        let mut url = url.clone();
        url.set_path(&format!("{base}{place}"));
        url.set_query(None);
        url.set_fragment(None);
        url.to_string()
    };
    PLACES.iter().map(place).collect()
}

async fn ask(
    web: &Web,
    access: &Access,
    place: &str,
    etag: Option<String>,
    now_ms: u64,
) -> Result<CardResponse, PeerError> {
    let mut headers = access.secret_headers();
    for (name, value) in [("accept", "application/json"), ("a2a-version", "1.0"), ("a2a-extensions", REMINDERS)] {
        if !has(&headers, name) {
            headers.push((name.to_owned(), value.to_owned()));
        }
    }
    headers.extend(etag.map(|etag| ("if-none-match".to_owned(), etag)));
    let timeout_ms = access.timeout_ms.min(CARD_TIMEOUT_MS);
    let question = Question { method: Method::Get, url: place.to_owned(), headers, body: Vec::new(), timeout_ms };
    let opened = web.open(&question).await?;
    let fresh_until_ms = now_ms.saturating_add(freshness(opened.header("cache-control").as_deref()));
    match opened.status() {
        200 => read(access, opened, place, fresh_until_ms).await.map(CardResponse::Card),
        304 => Ok(CardResponse::Same(fresh_until_ms)),
        status @ (404 | 405 | 410) => Ok(CardResponse::None(status)),
        status => Err(refused(access, status, opened.header("location"), &shown(place))),
    }
}

async fn read(access: &Access, opened: Opened, place: &str, fresh_until_ms: u64) -> Result<CachedCard, PeerError> {
    let (at, etag) = (opened.url().to_owned(), opened.header("etag"));
    let body = opened.body(MOST_BODY).await?;
    let data = std::str::from_utf8(&body).ok().and_then(|text| Data::from_json(text).ok());
    let data = data.filter(|_| !providers::web::too_many_values(&body)).ok_or_else(|| {
        let message = format!("invalid agent card of {}: {}", shown(place), excerpt(access, &body));
        PeerError::new(ErrorKind::NotAgent, message).help("check that the URL belongs to an A2A agent")
    })?;
    Ok(CachedCard { data, at, etag, fresh_until_ms })
}

/// Returns how long a card is valid without a request, in milliseconds.
fn freshness(cache_control: Option<&str>) -> u64 {
    let Some(said) = cache_control else { return FRESH_MS };
    let said = said.to_ascii_lowercase();
    let mut words = said.split(',').map(str::trim);
    if words.clone().any(|word| word == "no-store" || word == "no-cache") {
        return 0;
    }
    let age = words.find_map(|word| word.strip_prefix("max-age=")?.parse::<u64>().ok());
    age.map_or(FRESH_MS, |seconds| seconds.saturating_mul(1000).min(FRESHEST_MS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_stands_below_the_base_url_unless_its_own_is_given() {
        let of = |url: &str| places(&Url::parse(url).unwrap());
        assert_eq!(
            of("http://h:1/agents/w/?a=b#c"),
            ["http://h:1/agents/w/.well-known/agent-card.json", "http://h:1/agents/w/.well-known/agent.json"]
        );
        assert_eq!(of("http://h")[0], "http://h/.well-known/agent-card.json");
        assert_eq!(of("http://h/card.json?v=2"), ["http://h/card.json?v=2"]);
    }

    #[test]
    fn how_long_a_card_is_true() {
        assert_eq!(freshness(None), FRESH_MS);
        assert_eq!(freshness(Some("public, max-age=5")), 5_000);
        assert_eq!(freshness(Some("max-age=99999999999999999999")), FRESH_MS);
        assert_eq!(freshness(Some("max-age=9999999")), FRESHEST_MS);
        assert_eq!(freshness(Some("No-Cache, max-age=5")), 0);
    }
}
