//! Hashes and encodings.

use super::args;
use super::bytes::read;
use crate::value::Value;
use crate::vm::{Cx, Raise, RunCode};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::rc::Rc;

crate::builtins! { "" =>
    /// The SHA-256 of a string's UTF-8 or of bytes, in hexadecimal.
    plain "sha256(data: any) -> string" sha256;
    /// A string's UTF-8 or bytes in Base64.
    plain "base64_encode(data: any) -> string" base64_encode;
    /// Decodes a Base64 text: returns a string, or bytes if they are not valid UTF-8.
    plain "base64_decode(text: string) -> any" base64_decode;
}

fn sha256(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    cx.charge(read(args, 0)?.len(), 2);
    let mut text = String::with_capacity(64);
    for byte in Sha256::digest(read(args, 0)?) {
        let _ = write!(text, "{byte:02x}");
    }
    Ok(Value::from(text))
}

fn base64_encode(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    cx.charge(read(args, 0)?.len(), 1);
    let data = read(args, 0)?;
    cx.check_size(data.len().checked_mul(2))?;
    Ok(Value::from(STANDARD.encode(data)))
}

fn base64_decode(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    cx.charge(args::str(args, 0)?.len(), 1);
    // Mail and PEM files break the text into lines.
    let text: Vec<u8> = args::str(args, 0)?.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
    let bytes = STANDARD.decode(&text).map_err(|e| {
        Raise::error(RunCode::Value, format!("invalid Base64: {e}"))
            .about(0, "cannot be decoded")
            .help("Base64 uses the characters `A-Z a-z 0-9 + /` and is padded with `=` to a multiple of four")
    })?;
    Ok(match String::from_utf8(bytes) {
        Ok(text) => Value::from(text),
        Err(e) => Value::Bytes(Rc::new(e.into_bytes())),
    })
}
