//! The peer: a handler of axum that parses the body of a request as JSON and answers, and does nothing else.

use axum::Router;
use axum::body::Bytes;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::post;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// The argument that makes the bench be it.
pub(crate) const WORD: &str = "bare";

/// Listens on a free port, says on which, and answers until it is killed.
pub(crate) fn serve() {
    super::asking(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let at = listener.local_addr().expect("its address");
        eprintln!("listening on http://{at};");
        let router = Router::new().route("/", post(answer));
        loop {
            let Ok((stream, _)) = listener.accept().await else { continue };
            let _ = stream.set_nodelay(true);
            let service = TowerToHyperService::new(router.clone());
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        }
    });
}

async fn answer(body: Bytes) -> impl IntoResponse {
    let Ok(request) = serde_json::from_slice::<Value>(&body) else {
        return (StatusCode::BAD_REQUEST, [(header::CONTENT_TYPE, "application/json")], String::new());
    };
    let result = json!({
        "reminderId": request["params"]["reminder"]["id"], "dedupedCount": 0, "acceptedAt": "2026-04-30T12:34:56.789Z",
    });
    let answer = json!({"jsonrpc": "2.0", "id": request["id"], "result": result});
    (StatusCode::OK, [(header::CONTENT_TYPE, "application/json")], answer.to_string())
}
