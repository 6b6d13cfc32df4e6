//! Forms with files: the parts of a `multipart/form-data` body (RFC 7578, RFC 2046 section 5.1) piece by piece as they arrive. However large a
//! part is, no more of it is in memory than one piece of the body and a boundary.

use std::time::Duration;

use axum::body::Body;
use base::error::{Code, Error, Result, refuse};
use bytes::{Buf, Bytes, BytesMut};
use http::{HeaderMap, header};
use http_body_util::BodyExt;
use tokio::time::{Instant, timeout_at};

/// Most bytes of the headers of a part.
const MAX_HEAD_BYTES: usize = 8 << 10;
/// Most characters of a boundary (RFC 2046 section 5.1.1).
const MAX_BOUNDARY: usize = 70;

/// The message of the refusal of files that are too large.
pub const FILES_TOO_LARGE: &str = "the files are larger than this form takes";

/// The time that a body may take.
#[derive(Clone, Copy, Debug)]
pub struct MultipartTimes {
    /// From one piece to the next.
    pub pause: Duration,
    /// From the first piece to the last.
    pub all: Duration,
}

/// A body of several parts.
pub struct Multipart {
    body: Body,
    buffer: BytesMut,
    /// The line end before a boundary, and the boundary.
    delimiter: Vec<u8>,
    /// The buffer is in the content of a part, or before the first boundary.
    is_in_part: bool,
    is_over: bool,
    /// Bytes that may still arrive.
    room: usize,
    pause: Duration,
    end: Instant,
}

/// The boundary of a form with files, as its `Content-Type` names it; none for other bodies.
pub fn boundary(headers: &HeaderMap) -> Option<String> {
    let content_type = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    let mut parts = content_type.split(';').map(str::trim);
    parts.next().filter(|kind| kind.eq_ignore_ascii_case("multipart/form-data"))?;
    let boundary = parts.find_map(|part| parameter(part, "boundary"))?;
    let is_good =
        (1..=MAX_BOUNDARY).contains(&boundary.len()) && boundary.bytes().all(|b| b.is_ascii_graphic());
    is_good.then(|| boundary.to_owned())
}

/// The value of a parameter of a header.
fn parameter<'p>(part: &'p str, name: &str) -> Option<&'p str> {
    let (key, value) = part.trim().split_once('=')?;
    let unquoted = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
    key.eq_ignore_ascii_case(name).then(|| unquoted.unwrap_or(value))
}

impl Multipart {
    /// Reads a body of at most `max_bytes` bytes.
    pub fn new(body: Body, boundary: &str, max_bytes: usize, times: MultipartTimes) -> Multipart {
        Multipart {
            body,
            // The first boundary has no line end before it.
            buffer: BytesMut::from("\r\n"),
            delimiter: format!("\r\n--{boundary}").into_bytes(),
            is_in_part: true,
            is_over: false,
            room: max_bytes,
            pause: times.pause,
            end: Instant::now() + times.all,
        }
    }

    /// Goes on to the next part and returns its name. None: there are no more.
    ///
    /// # Errors
    /// `unsupported_media_type` for a body that is none of a form, or breaks off; `payload_too_large`; `request_timeout`.
    pub async fn next_part(&mut self) -> Result<Option<String>> {
        if self.is_over {
            return Ok(None);
        }
        while self.chunk().await?.is_some() {}
        self.fill_to(2).await?;
        match self.buffer.split_to(2).as_ref() {
            b"--" => {
                self.is_over = true;
                return Ok(None);
            }
            b"\r\n" => {}
            _ => return Err(malformed()),
        }
        let head = self.read_head().await?;
        self.is_in_part = true;
        part_name(&head).map(Some).ok_or_else(malformed)
    }

    /// The next piece of the part; none at its end. Never empty.
    ///
    /// # Errors
    /// As of `next_part`.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>> {
        if !self.is_in_part {
            return Ok(None);
        }
        loop {
            match position(&self.buffer, &self.delimiter) {
                Some(0) => {
                    self.buffer.advance(self.delimiter.len());
                    self.is_in_part = false;
                    return Ok(None);
                }
                Some(at) => return Ok(Some(self.buffer.split_to(at).freeze())),
                // The last bytes may be the beginning of a boundary.
                None => match (self.buffer.len() + 1).checked_sub(self.delimiter.len()) {
                    Some(at @ 1..) => return Ok(Some(self.buffer.split_to(at).freeze())),
                    _ => self.fill().await?,
                },
            }
        }
    }

    /// The headers of a part, without the empty line behind them.
    async fn read_head(&mut self) -> Result<Bytes> {
        const END: &[u8] = b"\r\n\r\n";
        loop {
            let begun = self.buffer.get(..self.buffer.len().min(MAX_HEAD_BYTES)).unwrap_or_default();
            if let Some(at) = position(begun, END) {
                let head = self.buffer.split_to(at).freeze();
                // The line end of an empty part is that before its boundary.
                self.buffer.advance(END.len());
                return Ok(head);
            }
            if self.buffer.len() >= MAX_HEAD_BYTES {
                return Err(malformed());
            }
            self.fill().await?;
        }
    }

    async fn fill_to(&mut self, length: usize) -> Result<()> {
        while self.buffer.len() < length {
            self.fill().await?;
        }
        Ok(())
    }

    /// Waits for the next piece of the body.
    async fn fill(&mut self) -> Result<()> {
        let until = self.end.min(Instant::now() + self.pause);
        let Ok(frame) = timeout_at(until, self.body.frame()).await else {
            return Err(refuse(Code::RequestTimeout, "the body arrives too slowly"));
        };
        let Some(Ok(frame)) = frame else { return Err(malformed()) };
        let Some(data) = frame.data_ref() else { return Ok(()) };
        self.room = self.room.checked_sub(data.len()).ok_or_else(too_large)?;
        self.buffer.extend_from_slice(data);
        Ok(())
    }
}

/// The place of `needle` in `bytes`.
fn position(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    bytes.windows(needle.len()).position(|window| window == needle)
}

/// The name in the headers of a part. Browsers write it before the file's name.
fn part_name(head: &[u8]) -> Option<String> {
    let head = std::str::from_utf8(head).ok()?;
    let value = head.split("\r\n").find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-disposition").then(|| value.trim())
    })?;
    let mut parts = value.split(';');
    parts.next().filter(|kind| kind.trim().eq_ignore_ascii_case("form-data"))?;
    parts.find_map(|part| parameter(part, "name")).map(str::to_owned)
}

fn malformed() -> Error {
    refuse(Code::UnsupportedMediaType, "the body is no whole form of the type multipart/form-data")
}

/// The refusal of a body, or of a part of one, that is too large.
pub fn too_large() -> Error {
    refuse(Code::PayloadTooLarge, FILES_TOO_LARGE)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures::{StreamExt, stream};

    use super::*;

    const LONG: MultipartTimes =
        MultipartTimes { pause: Duration::from_secs(60), all: Duration::from_secs(60) };

    /// A body that arrives in pieces of so many bytes.
    fn in_pieces(bytes: &[u8], size: usize) -> Body {
        let pieces: Vec<_> = bytes.chunks(size).map(Bytes::copy_from_slice).collect();
        Body::from_stream(stream::iter(pieces.into_iter().map(Ok::<_, Infallible>)))
    }

    async fn read(body: Body, max_bytes: usize, times: MultipartTimes) -> Result<Vec<(String, Vec<u8>)>> {
        let mut form = Multipart::new(body, "x", max_bytes, times);
        let mut parts = Vec::new();
        while let Some(name) = form.next_part().await? {
            let mut content = Vec::new();
            while let Some(piece) = form.chunk().await? {
                assert!(!piece.is_empty());
                content.extend_from_slice(&piece);
            }
            parts.push((name, content));
        }
        Ok(parts)
    }

    async fn refused(body: &[u8], max_bytes: usize) -> Option<Code> {
        read(in_pieces(body, 7), max_bytes, LONG).await.err().and_then(|e| e.code())
    }

    #[tokio::test]
    async fn parts_are_whole_in_whatever_pieces_they_come() {
        let large = [b"\0asm\r\n--\r\n--y\r\n\r\n-\r\n--".as_slice(), &[b'z'; 20_000]].concat();
        let body = [
            b"--x\r\nContent-Disposition: form-data; name=\"token\"\r\n\r\na\r\n".as_slice(),
            b"--x\r\ncontent-type: text/plain\r\ncontent-disposition: form-data; name=b; filename=\"../x;y\"\r\n\r\n",
            &large,
            b"\r\n--x\r\nContent-Disposition: form-data; name=\"\"\r\n\r\n\r\n--x--\r\nno more",
        ]
        .concat();
        let expected =
            [("token".to_owned(), b"a".to_vec()), ("b".to_owned(), large), (String::new(), Vec::new())];
        for size in [1, 2, 3, 5, 7, 1_000, body.len()] {
            let parts = read(in_pieces(&body, size), body.len(), LONG).await.expect("it is a form");
            assert_eq!(parts, expected, "{size}");
        }
    }

    #[tokio::test]
    async fn what_is_no_whole_form_is_refused() {
        let head = "--x\r\ncontent-disposition: form-data; name=a\r\n\r\n";
        for body in [
            String::new(),
            "before--x--".to_owned(),
            "--xy\r\n".to_owned(),
            head.to_owned(),
            format!("{head}b"),
            format!("{head}b\r\n--x"),
            format!("{head}b\r\n--x \r\n"),
            "--x\r\n\r\n\r\n--x--".to_owned(),
            "--x\r\ncontent-disposition: attachment; name=a\r\n\r\nb\r\n--x--".to_owned(),
            "--x\r\ncontent-disposition: form-data\r\n\r\nb\r\n--x--".to_owned(),
            format!("--x\r\na: {}\r\n\r\nb\r\n--x--", "h".repeat(9_000)),
        ] {
            let code = refused(body.as_bytes(), 100_000).await;
            assert_eq!(code, Some(Code::UnsupportedMediaType), "{}", body.get(..99).unwrap_or(&body));
        }
        let body = format!("{head}b\r\n--x--");
        assert_eq!(refused(body.as_bytes(), body.len()).await, None);
        assert_eq!(refused(body.as_bytes(), body.len() - 1).await, Some(Code::PayloadTooLarge));
    }

    #[tokio::test]
    async fn a_body_that_stalls_or_crawls_ends() {
        let begun = stream::iter([Ok::<_, Infallible>(Bytes::from_static(b"--x\r\ncontent"))]);
        let stalled = Body::from_stream(begun.chain(stream::pending()));
        let short = MultipartTimes { pause: Duration::from_millis(10), ..LONG };
        let code = read(stalled, 1_000, short).await.err().and_then(|e| e.code());
        assert_eq!(code, Some(Code::RequestTimeout));
        let stalled = Body::from_stream(stream::pending::<std::result::Result<Bytes, Infallible>>());
        let short = MultipartTimes { all: Duration::from_millis(10), ..LONG };
        let code = read(stalled, 1_000, short).await.err().and_then(|e| e.code());
        assert_eq!(code, Some(Code::RequestTimeout));
    }

    #[test]
    fn a_boundary_is_that_of_a_form() {
        let of = |content_type: &str| {
            let headers =
                HeaderMap::from_iter([(header::CONTENT_TYPE, content_type.parse().expect("a value"))]);
            boundary(&headers)
        };
        assert_eq!(of("multipart/form-data; boundary=----a1").as_deref(), Some("----a1"));
        assert_eq!(
            of("Multipart/Form-Data;charset=utf-8; Boundary=\"a b\""),
            None,
            "no browser writes a space"
        );
        assert_eq!(of("multipart/form-data; boundary=\"a\"").as_deref(), Some("a"));
        for other in
            ["multipart/form-data", "multipart/form-data; boundary=", "multipart/mixed; boundary=a", ""]
        {
            assert_eq!(of(other), None, "{other}");
        }
        assert_eq!(of(&format!("multipart/form-data; boundary={}", "a".repeat(71))), None);
        assert_eq!(boundary(&HeaderMap::new()), None);
    }
}
