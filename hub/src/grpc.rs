//! The gRPC services of a hub.
//!
//! - [`serve`]: serves both services at a listener. [`routes`]: the same services in this process. [`Authenticate`]: determines the callers.
//! - `agent_hub`: the published service. `worker`: what it has no method for.
//! - `traced`: requests as spans. `events`: a subscription as a stream of a response. `published`, `status`: replies and errors of the broker.

mod agent_hub;
mod events;
mod identity;
mod incoming;
mod published;
mod status;
mod traced;
mod worker;

use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tonic::service::Routes;
use tonic::transport::{Identity, Server, ServerTlsConfig};

pub use identity::{Authenticate, LEASE, NoAuthentication, OPERATION, trace};
pub use incoming::ConnectionLimits;
pub use status::{CURSOR, ORDER};
pub use traced::{AnsweredRequest, RequestObserver, RequestSpan};

use crate::Hub;
use crate::proto::agenthub::agent_hub_server::AgentHubServer;
use crate::proto::worker::hub_worker_server::HubWorkerServer;
use identity::IdentifiedService;
use incoming::PREFACE_TIMEOUT;
use traced::TracedService;

/// The interval at which idle connections are checked.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// The time within which a client must respond to a check.
const KEEPALIVE_TIMEOUT: Duration = Duration::from_secs(20);

/// The maximum size of the headers of a request in bytes.
const MAX_HEADERS: u32 = 16 * 1024;

/// The settings of a server.
pub struct GrpcSettings {
    /// Determines the callers.
    pub authenticate: Arc<dyn Authenticate>,
    /// The URL of the hub for its card.
    pub url: String,
    /// The maximum size of a message in bytes.
    pub max_message: usize,
    /// The limits of open connections.
    pub connections: ConnectionLimits,
    /// The maximum number of requests of a connection at one time, subscriptions included.
    pub max_streams: u32,
    /// The certificate and key, both in PEM; without them, connections are not encrypted.
    pub tls: Option<TlsFiles>,
    /// Gets every answered request.
    pub observer: Option<RequestObserver>,
}

/// The content of a certificate file and of its key.
pub struct TlsFiles {
    /// The certificate chain in PEM.
    pub certificate: Vec<u8>,
    /// The private key in PEM.
    pub key: Vec<u8>,
}

/// Returns the services of a hub for clients in the same process. Every caller is the operator.
#[must_use]
pub fn routes(hub: &Hub) -> Routes {
    let authenticate: Arc<dyn Authenticate> = Arc::new(NoAuthentication);
    // The broker has limits of its own.
    let (published, workers) = services(hub, &authenticate, String::new(), usize::MAX);
    Routes::new(published).add_service(workers)
}

/// The published service, for known callers.
type PublishedService = IdentifiedService<AgentHubServer<agent_hub::AgentHubService>>;

/// The service for workers, for known callers.
type WorkerService = IdentifiedService<HubWorkerServer<worker::HubWorkerService>>;

fn services(
    hub: &Hub,
    authenticate: &Arc<dyn Authenticate>,
    url: String,
    max_message: usize,
) -> (PublishedService, WorkerService) {
    let published = AgentHubServer::new(agent_hub::AgentHubService { hub: hub.clone(), url });
    let workers = HubWorkerServer::new(worker::HubWorkerService { hub: hub.clone() });
    let published = published.max_decoding_message_size(max_message);
    let workers = workers.max_decoding_message_size(max_message);
    (
        IdentifiedService { inner: published, authenticate: authenticate.clone() },
        IdentifiedService { inner: workers, authenticate: authenticate.clone() },
    )
}

/// Serves a hub until `stop` is ready, and then until open requests are answered. Subscriptions end when the hub is
/// closed.
///
/// # Errors
/// The certificate or the key is invalid, or the listener failed.
pub async fn serve(
    hub: Hub,
    settings: GrpcSettings,
    listener: TcpListener,
    stop: impl Future<Output = ()>,
) -> Result<(), tonic::transport::Error> {
    let GrpcSettings { authenticate, url, max_message, connections, max_streams, tls, observer } = settings;
    let mut server = Server::builder()
        .http2_keepalive_interval(Some(KEEPALIVE))
        .http2_keepalive_timeout(Some(KEEPALIVE_TIMEOUT))
        .http2_max_header_list_size(MAX_HEADERS)
        .max_concurrent_streams(max_streams);
    if let Some(TlsFiles { certificate, key }) = tls {
        server = server.tls_config(
            ServerTlsConfig::new().identity(Identity::from_pem(certificate, key)).timeout(PREFACE_TIMEOUT),
        )?;
    }
    let (published, workers) = services(&hub, &authenticate, url, max_message);
    let services = match observer {
        None => server.add_service(published).add_service(workers),
        Some(observer) => server
            .add_service(TracedService { inner: published, methods: &traced::PUBLISHED, observer: observer.clone() })
            .add_service(TracedService { inner: workers, methods: &traced::WORKERS, observer }),
    };
    services.serve_with_incoming_shutdown(incoming::connections(listener, connections), stop).await
}
