//! [`Loopback`]: the address of this machine to which the browser returns after a login (RFC 8252).

use std::collections::HashMap;
use std::io;
use std::net::Ipv4Addr;
use std::time::Duration;

use providers::web::Url;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::spawn_local;
use tokio::time::timeout;

use super::secret::equal;

/// The path of the address.
const PATH: &str = "/callback";
/// The largest head of a request that is read.
const MAX_HEAD: usize = 16 << 10;
/// The time for a browser to send its request.
const SLOW: Duration = Duration::from_secs(10);

/// An address that waits for the browser.
pub(crate) struct Loopback {
    listener: TcpListener,
    port: u16,
}

/// The parameters with which the browser returns.
pub(crate) type Returned = HashMap<String, String>;

impl Loopback {
    /// Opens the address at a port, or at a free one.
    pub(crate) async fn open(port: Option<u16>) -> io::Result<Loopback> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port.unwrap_or(0))).await?;
        let port = listener.local_addr()?.port();
        Ok(Loopback { listener, port })
    }

    /// Returns the address.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}{PATH}", self.port)
    }

    /// Waits for the browser. Requests without the right `state` are refused and do not end the wait: any page can send the
    /// browser here.
    pub(crate) async fn returned(&self, state: &str) -> Returned {
        // Browsers open connections that they do not use, so no connection waits for another one.
        let (found, mut arrived) = mpsc::channel(1);
        loop {
            tokio::select! {
                Some(returned) = arrived.recv() => return returned,
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, _)) => {
                        let (found, state) = (found.clone(), state.to_owned());
                        spawn_local(async move {
                            if let Ok(Some(returned)) = timeout(SLOW, answer(stream, &state)).await {
                                let _ = found.send(returned).await;
                            }
                        });
                    }
                    // Too many open files, for instance.
                    Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
                },
            }
        }
    }
}

async fn answer(mut stream: TcpStream, state: &str) -> Option<Returned> {
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let read = stream.read_buf(&mut head).await.ok()?;
        if read == 0 || head.len() > MAX_HEAD {
            return None;
        }
    }
    let line = String::from_utf8_lossy(&head).lines().next().unwrap_or_default().to_owned();
    let returned = parameters(&line).filter(|returned| {
        returned.get("state").is_some_and(|given| equal(given, state))
            && (returned.contains_key("code") || returned.contains_key("error"))
    });
    let (status, text) = match &returned {
        None => ("400 Bad Request", "This is not the answer to a login that harn waits for."),
        Some(returned) if returned.contains_key("code") => {
            ("200 OK", "The login is complete. You can close this page and return to the terminal.")
        }
        Some(_) => ("200 OK", "The login failed. The terminal shows the reason."),
    };
    let page = format!("<!doctype html><meta charset=\"utf-8\"><title>harn</title><p>{text}</p>");
    let response = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {}\r\n\
         cache-control: no-store\r\nreferrer-policy: no-referrer\r\nconnection: close\r\n\r\n{page}",
        page.len()
    );
    // The answer counts even if the browser is gone.
    let _ = stream.write_all(response.as_bytes()).await;
    let _ = stream.shutdown().await;
    returned
}

/// Reads the parameters of the first line of a request.
fn parameters(line: &str) -> Option<Returned> {
    let target = line.strip_prefix("GET ")?.split(' ').next()?;
    let url = Url::parse("http://127.0.0.1").ok()?.join(target).ok()?;
    if url.path() != PATH {
        return None;
    }
    let mut returned = Returned::new();
    for (key, value) in url.query_pairs() {
        // A parameter must not come twice (RFC 6749).
        if returned.insert(key.into_owned(), value.into_owned()).is_some() {
            return None;
        }
    }
    Some(returned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_redirect_is_read() {
        let read = |line: &str| parameters(line).map(|found| found.get("code").cloned().unwrap_or_default());
        assert_eq!(read("GET /callback?code=a%20b&state=s HTTP/1.1").as_deref(), Some("a b"));
        for line in
            ["", "GET", "POST /callback?code=a HTTP/1.1", "GET /other?code=a HTTP/1.1", "GET /favicon.ico HTTP/1.1"]
        {
            assert_eq!(read(line), None, "{line}");
        }
        assert_eq!(read("GET /callback?code=a&code=b HTTP/1.1"), None);
    }
}
