//! Serves a script to one editor.

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use stdlib::Diagnostic;
use tokio::sync::Notify;

use super::AcpCode;
use super::connection::EditorConnection;
use super::dispatcher::Dispatcher;
use super::peer::AcpPeer;
use super::session::AcpSessions;
use super::transport::{LineStreams, Transport, TransportLimits};
use super::update::ReminderUpdates;
use crate::drain::{StopSignal, drain};
use crate::host::{Host, Mode, Served};
use crate::http::{ListenError, ListenerNames, Token};
use crate::probe::{HEALTH, METRICS, Probe, Probed, READY};
use crate::spawn::on_this_thread;

/// The names that configure the address of the endpoint for health, readiness and metrics, and its token.
pub const PROBE_NAMES: ListenerNames = ListenerNames { option: "--metrics", token: "HARN_METRICS_TOKEN", port: 41_241 };

/// The timeout for writing the last lines after all sessions are over.
const LAST_LINES: Duration = Duration::from_millis(500);

/// The settings of a server.
#[derive(Debug, Clone, Default)]
pub struct AcpSettings {
    /// The limits on reading and writing.
    pub bounds: TransportLimits,
    /// The mode of new sessions; the default is `ask`.
    pub mode: Option<Arc<str>>,
    /// The clients that get the updates on reminders.
    pub reminders: ReminderUpdates,
    /// The time for which running work may continue after shutdown begins.
    pub drain: Duration,
    /// The endpoint for health, readiness and metrics.
    pub probe: Option<ProbeSettings>,
}

/// The endpoint for health, readiness and metrics.
#[derive(Debug, Clone)]
pub struct ProbeSettings {
    /// The address to listen on; port 0 selects a free one.
    pub listen: SocketAddr,
    /// The token for the metrics; without one, only a loopback address is allowed.
    pub token: Option<Token>,
}

/// Serves a script until the editor closes its end, and returns 0, or until `stop` is ready, and returns its result.
/// Running work is then cancelled with a grace period of two seconds. Creates a runtime on the current thread.
///
/// # Errors
/// The script is invalid, before anything is read; or the system refuses a runtime or a thread.
pub fn serve<'a>(
    served: Served,
    streams: LineStreams,
    settings: AcpSettings,
    stop: &'a dyn Fn() -> StopSignal<'a>,
) -> Result<i32, Vec<Diagnostic>> {
    on_this_thread(AcpCode::Internal, talk(served, streams, settings, stop))
}

async fn talk<'a>(
    served: Served,
    streams: LineStreams,
    settings: AcpSettings,
    stop: &'a dyn Fn() -> StopSignal<'a>,
) -> Result<i32, Vec<Diagnostic>> {
    let transport = Transport::new(streams, settings.bounds);
    let gauge = transport.gauge().clone();
    let connection = EditorConnection::new(transport.writer().clone(), gauge.clone());
    let peer = Arc::new(AcpPeer::new(connection.clone(), gauge.clone()));
    let host = Host::start(served, peer.clone())?;
    let probed: Arc<dyn Probed> = Arc::new(host.clone());
    let probe = settings.probe.map(|at| Probe::open(at.listen, at.token, probed)).transpose();
    let probe = probe.map_err(|error| vec![cannot_listen(&error)])?;
    if let Some(probe) = &probe {
        tracing::info!("serving {HEALTH}, {READY} and {METRICS} on http://{}", probe.address);
    }
    let mode = settings.mode.unwrap_or_else(|| Mode::Ask.as_str().into());
    let sessions = AcpSessions { host: host.clone(), peer: peer.clone(), mode };
    let mut dispatcher = Dispatcher::new(connection.clone(), settings.reminders, sessions);
    let input_ended = Notify::new();
    // Messages are taken until all sessions are over: a running turn may wait for an answer.
    let reading = async {
        transport.read(|message| dispatcher.take(message)).await;
        connection.close();
        input_ended.notify_one();
        std::future::pending::<()>().await;
    };
    let ended = async {
        let stopped = async {
            let code = stop().await;
            host.begin_drain();
            drain(settings.drain, &|| host.waits(), pin!(host.idle())).await;
            code
        };
        let code = tokio::select! {
            biased;
            code = stopped => code,
            () = gauge.gone() => 0,
            () = input_ended.notified() => 0,
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
        () = reading => 0,
        () = peer.tell_all() => 0,
        () = answering => 0,
    };
    peer.tell_rest();
    let _ = tokio::time::timeout(LAST_LINES, async {
        dispatcher.all_answered().await;
        gauge.all_taken().await;
    })
    .await;
    Ok(code)
}

/// Returns the diagnostic for an address that the endpoint cannot listen on.
#[must_use]
pub fn cannot_listen(error: &ListenError) -> Diagnostic {
    let code = if matches!(error, ListenError::Exposed(_)) { AcpCode::ProbeExposed } else { AcpCode::ProbeAddress };
    Diagnostic::new(code, error.to_string()).help(PROBE_NAMES.help(error))
}
