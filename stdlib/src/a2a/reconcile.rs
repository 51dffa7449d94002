//! [`reconcile_peer_tasks`]: asks peers about the tasks that an ended process has left.

use std::sync::Arc;

use a2a::peer_task::{PeerContact, PeerTaskFacts, PeerTaskLink, UnavailableCause};
use eventlog::NewRecord;
use providers::web::{Url, Web};

use super::client::{Access, Cards, ErrorKind, Method, Peer, PeerError};
use super::linked::{contact_of, reported};

/// The timeout of a request.
const TIMEOUT_MS: u64 = 10_000;

/// Asks the peers of unfinished links about their tasks, one after the other, and calls `append` with the link and each
/// record of what has changed. A peer that needs credentials cannot be asked: they are in the script, and the task is
/// unavailable until the script asks.
pub async fn reconcile_peer_tasks(
    links: Vec<PeerTaskLink>,
    now_ms: impl Fn() -> u64,
    mut append: impl FnMut(&PeerTaskLink, NewRecord),
) {
    let web = Web::new(|name| std::env::var(name).ok());
    let cards = Cards::default();
    for mut link in links {
        let Some(address) = link.agent_card_ref.clone() else { continue };
        let asked = ask(&web, &cards, &address, &link, now_ms()).await;
        let now = now_ms();
        let records = match asked {
            Ok(task) => {
                let facts = PeerTaskFacts {
                    native: task.status.state,
                    contact: PeerContact::Reached,
                    quiet_ms: 0,
                    artifacts_stored: false,
                };
                reported(&mut link, false, facts, Some(&task.artifacts), now)
            }
            Err(error) => {
                let unavailable = PeerContact::Unavailable(UnavailableCause::Network);
                let contact = contact_of(&error).unwrap_or(unavailable);
                let native = link.native_status;
                let facts = PeerTaskFacts { native, contact, quiet_ms: 0, artifacts_stored: false };
                reported(&mut link, false, facts, None, now)
            }
        };
        for record in records {
            append(&link, record);
        }
    }
}

/// Asks for a task at the endpoint that was asked before, and nowhere else.
async fn ask(
    web: &Web,
    cards: &Cards,
    address: &Arc<str>,
    link: &PeerTaskLink,
    now_ms: u64,
) -> Result<a2a::Task, PeerError> {
    let access = |url: &str| Access {
        url: url.into(),
        token: None,
        headers: Vec::new(),
        trusted: Vec::new(),
        timeout_ms: TIMEOUT_MS,
        version: None,
        extensions: Vec::new(),
    };
    let mut access_used = access(address);
    let mut card = cards.get(web, &access_used, now_ms).await;
    // The card is at the root of most servers, whatever the path of the endpoint is.
    if matches!(&card, Err(error) if error.kind == ErrorKind::NoCard)
        && let Ok(mut root) = Url::parse(address)
    {
        root.set_path("/");
        access_used = access(root.as_str());
        card = cards.get(web, &access_used, now_ms).await;
    }
    let peer = Peer { card: card?, access: access_used };
    if peer.address().trim_end_matches('/') != address.trim_end_matches('/') {
        let message = format!("the agent at {address} has moved to {}", peer.address());
        return Err(PeerError::new(ErrorKind::Moved, message));
    }
    peer.call_for_task(web, Method::Get, Peer::task_params(&link.remote_task_id, None)).await
}
