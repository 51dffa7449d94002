//! Hashes and encodings.

use super::args;
use super::bytes::{self, read};
use super::items::{items, shown};
use super::string;
use crate::value::Value;
use crate::vm::{Cx, Raise, RunCode};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use sha2::{Digest, Sha256};
use std::rc::Rc;

crate::builtins! { "" =>
    /// Returns the SHA-256 of a string's UTF-8 or of bytes, in hexadecimal.
    ///
    /// ```harn
    /// sha256("abc").substring(0, 8) // => "ba7816bf"
    /// ```
    plain "sha256(data: any) -> string" sha256;
    /// Returns the HMAC-SHA-256 of data with a key, in hexadecimal: what signs many webhooks.
    ///
    /// ```harn
    /// hmac_sha256("key", "message").substring(0, 8) // => "6e9ef29b"
    /// ```
    plain "hmac_sha256(key: string | bytes, data: string | bytes) -> string" hmac_sha256;
    /// Encodes a string's UTF-8 or bytes in Base64.
    ///
    /// ```harn
    /// base64_encode("hi?>") // => "aGk/Pg=="
    /// ```
    plain "base64_encode(data: any) -> string" base64_encode;
    /// Decodes a Base64 text: returns a string, or bytes if they are not valid UTF-8.
    ///
    /// ```harn
    /// base64_decode("aGk/Pg==") // => "hi?>"
    /// ```
    plain "base64_decode(text: string) -> any" base64_decode;
    /// Encodes a string's UTF-8 or bytes in the Base64 of URLs and file names, without padding.
    ///
    /// ```harn
    /// base64url_encode("hi?>") // => "aGk_Pg"
    /// ```
    plain "base64url_encode(data: string | bytes) -> string" base64url_encode;
    /// Decodes a text in the Base64 of URLs, with or without padding: returns a string, or bytes if they are not valid UTF-8.
    ///
    /// ```harn
    /// base64url_decode("aGk_Pg") // => "hi?>"
    /// ```
    plain "base64url_decode(text: string) -> any" base64url_decode;
    /// Encodes a string's UTF-8 or bytes in hexadecimal.
    ///
    /// ```harn
    /// hex_encode("hi") // => "6869"
    /// ```
    plain "hex_encode(data: string | bytes) -> string" hex_encode;
    /// Decodes hexadecimal text: returns a string, or bytes if they are not valid UTF-8.
    ///
    /// ```harn
    /// hex_decode("6869") // => "hi"
    /// hex_decode("6x") // => error: invalid hexadecimal text: unexpected `x`
    /// ```
    plain "hex_decode(text: string) -> any" hex_decode;
    /// Returns the bytes of a text in UTF-8.
    ///
    /// ```harn
    /// bytes_from_string("hé").to_list() // => [104, 195, 169]
    /// ```
    plain "bytes_from_string(text: string) -> bytes" bytes_from_string;
    /// Returns the text that bytes are in UTF-8.
    ///
    /// ```harn
    /// bytes_to_string(bytes_from_hex("6869")) // => "hi"
    /// ```
    plain "bytes_to_string(bytes: bytes) -> string" bytes_to_string;
    /// Returns the bytes that a hexadecimal text stands for.
    ///
    /// ```harn
    /// bytes_from_hex("00ff").to_list() // => [0, 255]
    /// ```
    plain "bytes_from_hex(text: string) -> bytes" bytes_from_hex;
    /// Returns bytes in hexadecimal.
    ///
    /// ```harn
    /// bytes_to_hex(bytes_from_string("hi")) // => "6869"
    /// ```
    plain "bytes_to_hex(bytes: bytes) -> string" hex_encode;
    /// Returns bytes of the ints of a list, which are from 0 to 255.
    ///
    /// ```harn
    /// bytes_from_list([104, 105]).to_string() // => "hi"
    /// ```
    plain "bytes_from_list(ints: list<int>) -> bytes" bytes_from_list;
}

fn sha256(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    cx.charge(read(args, 0)?.len(), 2);
    Ok(Value::from(hex(&Sha256::digest(read(args, 0)?))))
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            text.push(char::from_digit(u32::from(digit), 16).unwrap_or('0'));
        }
    }
    text
}

/// Bytes of a block of SHA-256.
const BLOCK: usize = 64;

/// Computes the code of RFC 2104.
fn hmac_sha256(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let (key, data) = (read(args, 0)?, read(args, 1)?);
    cx.charge(key.len().saturating_add(data.len()), 2);
    let mut block = [0; BLOCK];
    if key.len() > BLOCK {
        block[..32].copy_from_slice(&Sha256::digest(key));
    } else {
        block[..key.len()].copy_from_slice(key);
    }
    let inner = Sha256::new().chain_update(block.map(|byte| byte ^ 0x36)).chain_update(data).finalize();
    let outer = Sha256::new().chain_update(block.map(|byte| byte ^ 0x5c)).chain_update(inner).finalize();
    Ok(Value::from(hex(&outer)))
}

/// Text where the bytes are UTF-8, else bytes.
fn decoded(bytes: Vec<u8>) -> Value {
    match String::from_utf8(bytes) {
        Ok(text) => Value::from(text),
        Err(e) => Value::Bytes(Rc::new(e.into_bytes())),
    }
}

fn base64url_encode(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let data = read(args, 0)?;
    cx.charge(data.len(), 1);
    cx.check_size(data.len().checked_mul(2))?;
    Ok(Value::from(URL_SAFE_NO_PAD.encode(data)))
}

fn base64url_decode(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let text = args::str(args, 0)?;
    cx.charge(text.len(), 1);
    cx.check_copy(text.len())?;
    let bytes = URL_SAFE_NO_PAD.decode(text.trim().trim_end_matches('=')).map_err(|e| {
        Raise::error(RunCode::Value, format!("invalid Base64: {e}"))
            .about(0, "cannot be decoded")
            .help("the Base64 of URLs uses the characters `A-Z a-z 0-9 - _`; for `+` and `/` use `base64_decode`")
    })?;
    Ok(decoded(bytes))
}

fn hex_encode(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let data = read(args, 0)?;
    cx.charge(data.len(), 1);
    cx.check_size(data.len().checked_mul(2))?;
    Ok(Value::from(hex(data)))
}

fn from_hex(cx: &Cx<'_>, args: &[Value]) -> Result<Vec<u8>, Box<Raise>> {
    let text = args::str(args, 0)?;
    cx.charge(text.len(), 1);
    cx.check_copy(text.len() / 2)?;
    let wrong = |why: String| Raise::error(RunCode::Value, format!("invalid hexadecimal text: {why}")).about(0, "");
    let mut bytes = Vec::with_capacity(text.len() / 2);
    let mut half = None;
    // Dumps break the text into groups.
    for c in text.chars().filter(|c| !c.is_whitespace()) {
        let digit = c.to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let digit = digit.ok_or_else(|| wrong(format!("unexpected `{c}`")))?;
        match half.take() {
            Some(high) => bytes.push(high << 4 | digit),
            None => half = Some(digit),
        }
    }
    if half.is_some() {
        return Err(wrong("the number of digits is odd".to_owned()));
    }
    Ok(bytes)
}

fn hex_decode(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    from_hex(cx, args).map(decoded)
}

fn bytes_from_hex(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    from_hex(cx, args).map(|bytes| Value::Bytes(Rc::new(bytes)))
}

fn bytes_from_string(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    string::to_bytes(cx, args)
}

fn bytes_to_string(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    bytes::to_string(cx, args)
}

fn bytes_from_list(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let items = items(cx, args, 0)?;
    cx.check_copy(items.len())?;
    let byte = |(i, item): (usize, &Value)| {
        item.as_int().and_then(|n| u8::try_from(n).ok()).ok_or_else(|| {
            let message = format!("expected ints from 0 to 255, found {} at index {i}", shown(item));
            Raise::error(RunCode::Value, message).about(0, "not bytes")
        })
    };
    Ok(Value::Bytes(Rc::new(items.iter().enumerate().map(byte).collect::<Result<_, _>>()?)))
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
    Ok(decoded(bytes))
}
