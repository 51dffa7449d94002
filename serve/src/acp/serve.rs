//! Serving a script to one editor, from the first line to the last.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use agent_client_protocol::{Agent, Builder};
use stdlib::Diagnostic;

use super::AcpCode;
use super::connection::Front;
use super::peer::AcpPeer;
use super::session::Sessions;
use super::transport::{Bounds, Streams, Transport};
use super::update::ReminderUpdates;
use crate::a2a::Token;
use crate::drain::drain;
use crate::host::{Host, Mode, Served};
use crate::probe::{HEALTH, METRICS, Probe, Probed, READY};

/// How long the last lines may take to be written, once all is over.
const LAST_LINES: Duration = Duration::from_millis(500);

/// How a script is served to an editor.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// What is read and written at once.
    pub bounds: Bounds,
    /// The mode of new sessions; `ask` where nothing is said.
    pub mode: Option<Arc<str>>,
    /// Whom the updates on reminders go to.
    pub reminders: ReminderUpdates,
    /// How long what is at work may go on once the end is asked for.
    pub drain: Duration,
    /// Where health, readiness and metrics are answered.
    pub probe: Option<ProbeAt>,
}

/// Where health, readiness and metrics are answered.
#[derive(Debug, Clone)]
pub struct ProbeAt {
    /// Where to listen; port 0 is one that is free.
    pub listen: SocketAddr,
    /// What callers must know who ask for the metrics; without one only this machine is answered.
    pub token: Option<Token>,
}

/// Serves a script until the editor closes its end, which gives 0, or `stop` is ready, which gives what that gives. What runs
/// then is cancelled, with a grace of two seconds. It makes a runtime of its own for the thread that it is called on.
///
/// # Errors
/// What is wrong with the script, before anything is read; or a runtime or thread that the system does not give.
pub fn serve<S: Future<Output = i32>>(
    served: Served,
    streams: Streams,
    settings: Settings,
    stop: impl FnOnce() -> S,
) -> Result<i32, Vec<Diagnostic>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| {
        vec![Diagnostic::new(AcpCode::Internal, format!("could not start the async runtime: {error}"))]
    })?;
    let ended = runtime.block_on(async { talk(served, streams, settings, stop()).await });
    // Threads that read and write may be stuck for as long as the other side likes.
    runtime.shutdown_background();
    ended
}

async fn talk(
    served: Served,
    streams: Streams,
    settings: Settings,
    stop: impl Future<Output = i32>,
) -> Result<i32, Vec<Diagnostic>> {
    let (transport, channel) = Transport::new(streams, settings.bounds);
    let gauge = transport.gauge().clone();
    let peer = Arc::new(AcpPeer::new(gauge.clone()));
    let host = Host::start(served, peer.clone())?;
    let probed: Arc<dyn Probed> = Arc::new(host.clone());
    let probe = settings.probe.map(|at| Probe::open(at.listen, at.token, probed)).transpose()?;
    if let Some(probe) = &probe {
        tracing::info!("answering {HEALTH}, {READY} and {METRICS} on http://{}", probe.address);
    }
    let mode = settings.mode.unwrap_or_else(|| Mode::Ask.as_str().into());
    let front = Front::new(settings.reminders, Sessions { host: host.clone(), peer: peer.clone(), mode });
    let carried = tokio::spawn(transport.carry());
    let connection = Builder::new_with(Agent, front).name("harn").connect_with(channel, async |connection| {
        peer.connect(connection.clone());
        let ended = async {
            let stopped = async {
                let code = stop.await;
                host.begin_drain();
                drain(settings.drain, || host.waits(), host.idle()).await;
                code
            };
            let code = tokio::select! {
                biased;
                code = stopped => code,
                () = gauge.gone() => 0,
                () = connection.incoming_closed() => 0,
            };
            host.stop().await;
            code
        };
        let answering = async {
            match &probe {
                Some(probe) => match probe.answer_all().await {},
                None => std::future::pending().await,
            }
        };
        let code = tokio::select! {
            biased;
            code = ended => code,
            () = peer.tell_all() => 0,
            () = answering => 0,
        };
        peer.tell_rest();
        Ok(code)
    });
    let code = connection.await.unwrap_or_else(|error| {
        tracing::error!("the connection was lost: {}", error.message);
        1
    });
    let _ = tokio::time::timeout(LAST_LINES, async {
        let _ = carried.await;
        gauge.all_taken().await;
    })
    .await;
    Ok(code)
}
