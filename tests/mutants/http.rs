//! HTTP/1.1 byte by byte: whatever is sent, an answer is read as far as it comes.

use crate::rpc::{answers, read};
use crate::subject::Verdict;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

/// The time for which a client waits for an answer that may never come. A slower server is not an error; the client only
/// leaves.
pub(crate) const PATIENCE: Duration = Duration::from_millis(500);

/// The time for which a client waits for more of an answer, and for the answer to a request whose end the server may still
/// wait for.
const SHORT: Duration = Duration::from_millis(30);

/// The time in which a good request is answered.
pub(crate) const LIMIT: Duration = Duration::from_secs(200);

/// A request with a body.
pub(crate) fn post(path: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n{headers}\
         Content-Length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// A request without a body.
pub(crate) fn get(path: &str, headers: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n").into_bytes()
}

/// Returns where the body of a message begins.
pub(crate) fn head_end(message: &[u8]) -> Option<usize> {
    message.windows(4).position(|bytes| bytes == b"\r\n\r\n").map(|at| at + 4)
}

fn header<'h>(head: &'h str, name: &str) -> Option<&'h str> {
    head.lines().find_map(|line| {
        let (found, value) = line.split_once(':')?;
        found.eq_ignore_ascii_case(name).then(|| value.trim())
    })
}

/// Returns whether the body has the length that the head says.
fn is_whole(request: &[u8]) -> bool {
    let Some(end) = head_end(request) else { return false };
    let Ok(head) = std::str::from_utf8(&request[..end]) else { return false };
    let length = header(head, "content-length").map_or(Some(0), |length| length.parse().ok());
    length == Some(request.len() - end) && header(head, "transfer-encoding").is_none()
}

/// Puts values in place of words, and corrects the length of the body if it was right.
pub(crate) fn placed(request: &[u8], values: &[(&str, String)]) -> Vec<u8> {
    let was_whole = is_whole(request);
    let mut bytes = request.to_vec();
    for (word, value) in values {
        bytes = replaced(&bytes, word.as_bytes(), value.as_bytes());
    }
    let Some(end) = head_end(&bytes) else { return bytes };
    let said = |bytes: &[u8]| {
        let head = std::str::from_utf8(&bytes[..head_end(bytes)?]).ok()?;
        header(head, "content-length").map(|length| format!("Content-Length: {length}\r\n"))
    };
    match said(&bytes) {
        Some(old) if was_whole => {
            let new = format!("Content-Length: {}\r\n", bytes.len() - end);
            replaced(&bytes, old.as_bytes(), new.as_bytes())
        }
        _ => bytes,
    }
}

pub(crate) fn replaced(bytes: &[u8], word: &[u8], value: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at..].starts_with(word) {
            out.extend_from_slice(value);
            at += word.len();
        } else {
            out.push(bytes[at]);
            at += 1;
        }
    }
    out
}

/// Sends the bytes of a connection, and returns what comes back if the answer to a whole request begins in time.
///
/// # Errors
/// The server does not listen.
pub(crate) fn exchange(address: &str, request: &[u8], patience: Duration) -> Result<Vec<u8>, String> {
    let failed = |error: std::io::Error| format!("{address}: {error}");
    let mut stream = TcpStream::connect(address).map_err(failed)?;
    stream.set_write_timeout(Some(LIMIT)).map_err(failed)?;
    // A server that has answered may hang up before it has read everything.
    let _ = stream.write_all(request);
    stream.set_read_timeout(Some(if is_whole(request) { patience } else { SHORT })).map_err(failed)?;
    let mut answer = Vec::new();
    let mut piece = [0; 1 << 14];
    loop {
        match stream.read(&mut piece) {
            Ok(0) => break,
            Ok(read) => answer.extend_from_slice(&piece[..read]),
            Err(_) if answer.is_empty() && stream.shutdown(Shutdown::Write).is_ok() => {
                let _ = stream.read_to_end(&mut answer);
                break;
            }
            Err(_) => break,
        }
        // Streams have no end of their own.
        stream.set_read_timeout(Some(SHORT)).map_err(failed)?;
    }
    Ok(answer)
}

/// Checks an answer.
///
/// # Errors
/// It is not HTTP, is a failure of the server, or an error without a code.
pub(crate) fn checked(answer: &[u8]) -> Result<Verdict, String> {
    if answer.is_empty() {
        return Ok(Verdict::Rejected);
    }
    let shown = || String::from_utf8_lossy(answer).chars().take(2_000).collect::<String>();
    let Some(end) = head_end(answer) else { return Err(format!("no head: {}", shown())) };
    let head = String::from_utf8_lossy(&answer[..end]).into_owned();
    let status: u16 = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    if !(100..600).contains(&status) || status == 500 {
        return Err(shown());
    }
    let body = &answer[end..];
    let length = header(&head, "content-length").and_then(|length| length.parse().ok());
    let is_json = header(&head, "content-type").is_some_and(|kind| kind.starts_with("application/json"));
    if is_json && length.is_some_and(|length: usize| length <= body.len()) && length != Some(0) {
        let Some(body) = read(&body[..length.unwrap_or(0)])? else { return Ok(Verdict::Rejected) };
        if body.get("jsonrpc").is_some() {
            let found = answers(std::slice::from_ref(&body))?;
            return Ok(if found.errors == 0 && status < 400 { Verdict::Accepted } else { Verdict::Rejected });
        }
        if status >= 400 && body.get("error").is_none() && body.get("status").is_none() {
            return Err(format!("an error without a body that says so: {}", shown()));
        }
    }
    Ok(if status < 400 { Verdict::Accepted } else { Verdict::Rejected })
}
