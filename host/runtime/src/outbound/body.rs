//! Bodies: request bodies put together from segments while they are sent, response bodies read under a cap and decoded into
//! blobs.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use bytes::Bytes;
use http_body::Frame;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};

use crate::bindings::http::Segment;
use crate::blobs::{Blob, Blobs};

/// Bytes read from a blob at a time; a multiple of 3, so that base64 pieces join.
const PIECE: usize = 48 << 10;
/// Up to this size a body is assembled in memory.
const WHOLE: u64 = 1 << 20;

/// The body of a client's request.
pub(crate) type ClientBody = UnsyncBoxBody<Bytes, std::io::Error>;

/// A request body that can be sent any number of times.
#[derive(Clone)]
pub(crate) struct RequestBody {
    parts: Vec<BodyPart>,
    pub(crate) size: u64,
}

#[derive(Clone)]
enum BodyPart {
    Bytes(Bytes),
    Blob(Blob, Encoding),
}

#[derive(Clone, Copy)]
enum Encoding {
    Raw,
    Base64,
    Base64Url,
}

impl RequestBody {
    /// None when a segment names a blob that does not exist.
    pub(crate) fn new(segments: Vec<Segment>, blobs: &Blobs) -> Option<Self> {
        let blob = |id: String, encoding| blobs.get(&id).map(|b| BodyPart::Blob(b, encoding));
        let parts = segments
            .into_iter()
            .map(|segment| match segment {
                Segment::Bytes(bytes) => Some(BodyPart::Bytes(bytes.into())),
                Segment::Blob(id) => blob(id, Encoding::Raw),
                Segment::BlobBase64(id) => blob(id, Encoding::Base64),
                Segment::BlobBase64url(id) => blob(id, Encoding::Base64Url),
            })
            .collect::<Option<Vec<_>>>()?;
        let size = parts.iter().map(BodyPart::size).sum();
        Some(RequestBody { parts, size })
    }

    /// The body as the client sends it.
    pub(crate) fn to_client(&self) -> std::io::Result<ClientBody> {
        if self.size <= WHOLE {
            let mut whole = Vec::with_capacity(usize::try_from(self.size).unwrap_or(0));
            for piece in self.clone().pieces() {
                whole.extend_from_slice(&piece?);
            }
            return Ok(Full::from(whole).map_err(|never| match never {}).boxed_unsync());
        }
        let frames = self.clone().pieces().map(|piece| piece.map(Frame::data));
        Ok(StreamBody::new(futures::stream::iter(frames)).boxed_unsync())
    }

    fn pieces(self) -> impl Iterator<Item = std::io::Result<Bytes>> + Send + 'static {
        self.parts.into_iter().flat_map(BodyPart::pieces)
    }
}

impl BodyPart {
    fn size(&self) -> u64 {
        match self {
            BodyPart::Bytes(bytes) => bytes.len() as u64,
            BodyPart::Blob(blob, Encoding::Raw) => blob.size(),
            BodyPart::Blob(blob, Encoding::Base64) => blob.size().div_ceil(3) * 4,
            BodyPart::Blob(blob, Encoding::Base64Url) => (blob.size() * 4).div_ceil(3),
        }
    }

    fn pieces(self) -> Box<dyn Iterator<Item = std::io::Result<Bytes>> + Send> {
        match self {
            BodyPart::Bytes(bytes) => Box::new(std::iter::once(Ok(bytes))),
            BodyPart::Blob(blob, encoding) => {
                let offsets = (0..blob.size()).step_by(PIECE);
                Box::new(offsets.map(move |offset| {
                    let piece = blob.read(offset, PIECE)?;
                    Ok(match encoding {
                        Encoding::Raw => piece,
                        Encoding::Base64 => STANDARD.encode(piece).into(),
                        Encoding::Base64Url => URL_SAFE_NO_PAD.encode(piece).into(),
                    })
                }))
            }
        }
    }
}

/// The conversion of a response body to a blob: the WIT's `decode`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Decode {
    Raw,
    /// Base64 text at a JSON pointer (RFC 6901).
    Json(String, Alphabet),
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Alphabet {
    Base64,
    Base64Url,
}

impl Decode {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text == "raw" {
            return Some(Decode::Raw);
        }
        let (kind, pointer) = text.split_once(':')?;
        if !pointer.starts_with('/') {
            return None;
        }
        match kind {
            "json-base64" => Some(Decode::Json(pointer.to_owned(), Alphabet::Base64)),
            "json-base64url" => Some(Decode::Json(pointer.to_owned(), Alphabet::Base64Url)),
            _ => None,
        }
    }
}

/// Decodes the base64 text at `pointer` of the JSON text `body`; with or without padding.
pub(crate) fn decode_json(body: &[u8], pointer: &str, alphabet: &Alphabet) -> Option<Vec<u8>> {
    let json: serde_json::Value = serde_json::from_slice(body).ok()?;
    let text = json.pointer(pointer)?.as_str()?.trim_end_matches('=');
    match alphabet {
        Alphabet::Base64 => base64::engine::general_purpose::STANDARD_NO_PAD.decode(text).ok(),
        Alphabet::Base64Url => URL_SAFE_NO_PAD.decode(text).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_known_before_the_body_is_sent() {
        for len in [0, 1, 2, 3, 4, 100, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE + 2] {
            let blobs = Blobs::default();
            let content: Vec<u8> = (0..len).map(|n| (n % 256) as u8).collect();
            let id = blobs.create(&content, None).unwrap();
            for (segment, want) in [
                (Segment::Blob(id.clone()), content.clone()),
                (Segment::BlobBase64(id.clone()), STANDARD.encode(&content).into_bytes()),
                (Segment::BlobBase64url(id.clone()), URL_SAFE_NO_PAD.encode(&content).into_bytes()),
            ] {
                let body = RequestBody::new(vec![Segment::Bytes(b"<".into()), segment], &blobs).unwrap();
                let sent: Vec<u8> = body.clone().pieces().flat_map(|p| p.unwrap()).collect();
                assert_eq!(sent.len() as u64, body.size);
                assert_eq!(sent[1..], want);
            }
        }
    }

    #[test]
    fn a_blob_may_hide_in_json() {
        let decode = Decode::parse("json-base64url:/a/0").unwrap();
        let Decode::Json(pointer, alphabet) = decode else { panic!("a pointer") };
        assert_eq!(decode_json(br#"{"a":["aGk_"]}"#, &pointer, &alphabet).unwrap(), b"hi?");
        assert_eq!(decode_json(br#"{"a":[]}"#, &pointer, &alphabet), None);
        assert_eq!(Decode::parse("json-base64:data"), None);
    }
}
