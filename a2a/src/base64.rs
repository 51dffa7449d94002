//! Files in base64.

use std::sync::Arc;

use base64::Engine;
use base64::alphabet::{Alphabet, STANDARD as PLAIN, URL_SAFE};
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};

/// Returns `text` as Base64 in the alphabet of RFC 4648 with padding. Protocol buffers also accept
/// the URL-safe alphabet, and either alphabet without padding. Returns `None` if `text` is not
/// Base64.
#[must_use]
pub fn plain(text: Arc<str>) -> Option<Arc<str>> {
    if STANDARD.decode(text.as_bytes()).is_ok() {
        return Some(text);
    }
    let lenient = |alphabet: &Alphabet| {
        let config = GeneralPurposeConfig::new()
            .with_decode_padding_mode(DecodePaddingMode::Indifferent)
            .with_decode_allow_trailing_bits(true);
        GeneralPurpose::new(alphabet, config).decode(text.as_bytes()).ok()
    };
    lenient(&PLAIN).or_else(|| lenient(&URL_SAFE)).map(|bytes| STANDARD.encode(bytes).into())
}
