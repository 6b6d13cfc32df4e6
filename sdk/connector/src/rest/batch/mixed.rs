//! Batches as `multipart/mixed` of `application/http`: each part is a whole request, and each part of the answer a whole response.
//!
//! The Content-ID of a part is its index, and that of its answer is the same with the prefix `response-`, because answers come in any
//! order. Only the path and query of a part's URL are sent. All parts use the credentials of the batch.

use std::collections::BTreeMap;

use crate::error::{Failure, Outcome, code};
use crate::http::{Request, Response, Segment};
use crate::rest::batch::part::{Part, total_units};

/// The maximum number of parts of an answer that are read.
const MAX_PARTS: usize = 1_000;
/// The maximum number of header fields of a part, and of the response in it.
const MAX_FIELDS: usize = 200;
/// The maximum length of an answer's boundary, in bytes. RFC 2046 section 5.1.1 allows 70.
const MAX_BOUNDARY_BYTES: usize = 256;

/// Returns the batch request with these parts. Its units are the sum of theirs. Fails with `internal` for a part that cannot be written: it
/// has a blob, or a line break where none is allowed.
///
/// ```
/// use connector_sdk::http::Request;
/// use connector_sdk::rest::batch::{Part, mixed};
///
/// let part = Part::new("a", Request::get("https://api.example.com/v1/things/a").units(5));
/// let request = mixed("https://api.example.com/batch", &[part]).unwrap();
/// let text = String::from_utf8(connector_sdk::testing::body(&request)).unwrap();
/// assert!(text.contains("\r\n\r\nGET /v1/things/a HTTP/1.1\r\n"));
/// ```
pub fn mixed(root: &str, parts: &[Part]) -> Outcome<Request> {
    let written: Vec<Vec<u8>> =
        parts.iter().enumerate().map(|(at, part)| write_part(at, &part.request)).collect::<Outcome<_>>()?;
    let boundary = free_boundary(&written);
    let mut body = Vec::with_capacity(written.iter().map(|part| part.len() + boundary.len() + 8).sum());
    for part in &written {
        body.extend_from_slice(format!("--{boundary}\r\n").as_bytes());
        body.extend_from_slice(part);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    let request = Request::post(root).body(&format!("multipart/mixed; boundary={boundary}"), body);
    Ok(request.units(total_units(parts)))
}

/// The part with its header fields, without the line break before the next boundary.
fn write_part(at: usize, request: &Request) -> Outcome<Vec<u8>> {
    let unsendable = || Failure::new(code::INTERNAL, "a request cannot be part of a batch");
    let is_word = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
    let path = path_of(&request.url);
    if !is_word(&request.method) || !is_word(path) {
        return Err(unsendable());
    }
    let mut text = format!(
        "Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\nContent-ID: <{at}>\r\n\r\n{} {path} HTTP/1.1\r\n",
        request.method
    );
    for (name, value) in &request.headers {
        if !is_word(name) || name.contains(':') || value.chars().any(char::is_control) {
            return Err(unsendable());
        }
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    let mut content = Vec::new();
    for segment in &request.body {
        match segment {
            Segment::Bytes(bytes) => content.extend_from_slice(bytes),
            _ => return Err(unsendable()),
        }
    }
    if !request.body.is_empty() {
        text.push_str(&format!("content-length: {}\r\n", content.len()));
    }
    text.push_str("\r\n");
    let mut part = text.into_bytes();
    part.append(&mut content);
    Ok(part)
}

/// The path and query of an absolute URL.
fn path_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.find('/').and_then(|start| rest.get(start..)).unwrap_or("/")
}

/// A boundary that occurs in none of the parts.
fn free_boundary(parts: &[Vec<u8>]) -> String {
    let mut number = 0_u64;
    loop {
        let boundary = format!("batch-{number}-parts");
        let is_in = |part: &Vec<u8>| part.windows(boundary.len()).any(|bytes| bytes == boundary.as_bytes());
        if !parts.iter().any(is_in) {
            return boundary;
        }
        number += 1;
    }
}

/// Reads the answer to a batch: the responses by the indices of their parts. A malformed part is left out; the response of a part that is
/// cut off is `truncated`. Fails with `unavailable` if the answer is not a batch response.
pub fn read_mixed(response: &Response) -> Outcome<BTreeMap<usize, Response>> {
    let boundary = response.header("content-type").and_then(boundary_of);
    let boundary =
        boundary.ok_or_else(|| Failure::unavailable("the provider's answer is not a batch response"))?;
    let mut answers = BTreeMap::new();
    for section in sections(&response.body, &boundary) {
        if let Some((at, answer)) = read_part(section.bytes) {
            let truncated = response.truncated && !section.is_closed;
            answers.entry(at).or_insert(Response { truncated, ..answer });
        }
    }
    Ok(answers)
}

/// The boundary that a content type names.
fn boundary_of(content_type: &str) -> Option<String> {
    const PARAMETER: &str = "boundary=";
    if !content_type.trim_start().to_ascii_lowercase().starts_with("multipart/") {
        return None;
    }
    let start = content_type.to_ascii_lowercase().find(PARAMETER)? + PARAMETER.len();
    let value = content_type.get(start..)?;
    let boundary = match value.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next()?,
        None => value.split([';', ' ', '\t']).next()?,
    };
    let is_good = !boundary.is_empty() && boundary.len() <= MAX_BOUNDARY_BYTES;
    is_good.then(|| boundary.to_owned())
}

/// A part of an answer.
struct Section<'b> {
    bytes: &'b [u8],
    /// Whether a boundary line ends the part; false if the body was cut off.
    is_closed: bool,
}

/// The parts between the boundary lines. The body may lack the closing boundary.
fn sections<'b>(body: &'b [u8], boundary: &str) -> Vec<Section<'b>> {
    let delimiter = format!("--{boundary}");
    let (mut sections, mut start, mut at) = (Vec::new(), None, 0);
    for line in body.split_inclusive(|byte| *byte == b'\n') {
        let end = line.strip_prefix(delimiter.as_bytes()).map(<[u8]>::trim_ascii);
        if let Some(end) = end.filter(|end| matches!(*end, b"" | b"--")) {
            let bytes = start.and_then(|start: usize| body.get(start..at));
            sections.extend(bytes.map(|bytes| Section { bytes, is_closed: true }));
            start = Some(at + line.len());
            if end == b"--" || sections.len() >= MAX_PARTS {
                return sections;
            }
        }
        at += line.len();
    }
    let bytes = start.and_then(|start| body.get(start..));
    sections.extend(bytes.map(|bytes| Section { bytes, is_closed: false }));
    sections
}

/// The response in a part, and the index of the request that it answers.
fn read_part(section: &[u8]) -> Option<(usize, Response)> {
    let (outer, inner) = split_fields(section)?;
    let id = &outer.iter().find(|(name, _)| name == "content-id")?.1;
    let id = id.trim_start_matches('<').trim_end_matches('>');
    let at: usize = id.strip_prefix("response-").unwrap_or(id).parse().ok()?;
    let end = inner.iter().position(|byte| *byte == b'\n')?;
    let (line, rest) = inner.split_at_checked(end + 1)?;
    let mut words = str::from_utf8(line).ok()?.split_ascii_whitespace();
    let is_http = words.next()?.starts_with("HTTP/");
    let status: u16 = words.next()?.parse().ok()?;
    let (headers, body) = split_fields(rest)?;
    // The line break before a boundary belongs to the boundary (RFC 2046 section 5.1.1).
    let body = body.strip_suffix(b"\n").map_or(body, |body| body.strip_suffix(b"\r").unwrap_or(body));
    let response = Response { status, headers, body: body.to_vec(), ..Response::default() };
    (is_http && (100..600).contains(&status)).then_some((at, response))
}

/// Names and values of header fields.
type Fields = Vec<(String, String)>;

/// The header fields, with names in lower case, and the bytes after the empty line.
fn split_fields(bytes: &[u8]) -> Option<(Fields, &[u8])> {
    let mut fields = Vec::new();
    let mut rest = bytes;
    loop {
        let end = rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |end| end + 1);
        let (line, after) = rest.split_at_checked(end)?;
        let line = line.trim_ascii();
        if line.is_empty() {
            return Some((fields, after));
        }
        if fields.len() >= MAX_FIELDS {
            return None;
        }
        if let Some((name, value)) = String::from_utf8_lossy(line).split_once(':') {
            fields.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
        }
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::{free_boundary, mixed, read_mixed};
    use crate::error::code;
    use crate::http::{Request, Response, Segment};
    use crate::rest::batch::part::Part;
    use crate::testing::{body, response};

    fn answer(content_type: &str, body: &str) -> Response {
        response(200, &[("content-type", content_type)], body)
    }

    #[test]
    fn parts_are_whole_requests() {
        let get = Request::get("https://x.test/v1/a%2Fb?fields=id").units(20);
        let change = Request::patch("https://x.test/v1/c").if_match(Some("\"e\"")).json(&["batch-0-parts"]);
        let request = mixed("https://x.test/batch", &[Part::new("a", get), Part::new("c", change)]).unwrap();
        let expected = "--batch-1-parts\r\n\
            Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\nContent-ID: <0>\r\n\r\n\
            GET /v1/a%2Fb?fields=id HTTP/1.1\r\n\r\n\r\n\
            --batch-1-parts\r\n\
            Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\nContent-ID: <1>\r\n\r\n\
            PATCH /v1/c HTTP/1.1\r\nif-match: \"e\"\r\ncontent-type: application/json\r\ncontent-length: 17\r\n\r\n\
            [\"batch-0-parts\"]\r\n\
            --batch-1-parts--\r\n";
        assert_eq!(String::from_utf8(body(&request)).unwrap(), expected);
        assert_eq!(request.extra, [("units".to_owned(), "21".to_owned())]);
        assert_eq!(request.headers[0].1, "multipart/mixed; boundary=batch-1-parts");
        assert_eq!(free_boundary(&[]), "batch-0-parts");
    }

    /// An id or a header cannot inject a part, a header or a request.
    #[test]
    fn a_part_that_would_be_another_one_is_refused() {
        let blob = Request { body: vec![Segment::Blob("b".into())], ..Request::post("https://x.test/a") };
        let rows = [
            Request::get("https://x.test/a\r\nX: y"),
            Request::get("https://x.test/a b"),
            Request::new("GET /b HTTP/1.1\r\n", "https://x.test/a"),
            Request::get("https://x.test/a").header("x", "1\r\ny: 2"),
            Request::get("https://x.test/a").header("x: 1", "2"),
            blob,
        ];
        for request in rows {
            let failure = mixed("https://x.test/batch", &[Part::new("a", request.clone())]).unwrap_err();
            assert_eq!(failure.code, code::INTERNAL, "{request:?}");
        }
    }

    #[test]
    fn answers_come_in_any_order() {
        let body = "preamble\r\n--b_1\r\nContent-Type: application/http\r\nContent-ID: <response-1>\r\n\r\n\
            HTTP/1.1 404 Not Found\r\nContent-Type: application/json; charset=UTF-8\r\nRetry-After: 3\r\n\r\n{\"error\":1}\r\n\r\n\
            --b_1\nContent-Id: response-0\n\nHTTP/1.1 200 OK\nETag: \"x\"\n\n{\"id\":\"--b_2\"}\n\
            --b_1--\r\nepilogue";
        for content_type in
            ["multipart/mixed; boundary=b_1", "Multipart/Mixed; charset=x; Boundary=\"b_1\"; y=z"]
        {
            let answers = read_mixed(&answer(content_type, body)).unwrap();
            assert_eq!(answers.len(), 2);
            assert_eq!((answers[&0].status, answers[&0].text().as_ref()), (200, "{\"id\":\"--b_2\"}"));
            assert_eq!((answers[&1].status, answers[&1].text().as_ref()), (404, "{\"error\":1}\r\n"));
            assert_eq!(answers[&1].header("retry-after"), Some("3"));
            assert_eq!(answers[&0].header("etag"), Some("\"x\""));
        }
    }

    #[test]
    fn a_part_that_is_cut_off_says_so() {
        let part = |at: u32| {
            format!(
                "--b\r\nContent-ID: <response-{at}>\r\n\r\nHTTP/1.1 200 OK\r\n\r\n{{\"id\":\"{at}\"}}\r\n"
            )
        };
        let text = format!("{}{}", part(0), part(1));
        let whole = answer("multipart/mixed; boundary=b", &text);
        assert_eq!(read_mixed(&whole).unwrap().len(), 2);
        let cut = read_mixed(&Response { truncated: true, ..whole }).unwrap();
        assert_eq!((cut[&0].truncated, cut[&1].truncated), (false, true));
    }

    /// Malformed answers cause no panic, and each byte is read once.
    #[test]
    fn hostile_answers_have_no_parts() {
        let no_batch =
            ["text/html", "multipart/mixed", "multipart/mixed; boundary=", "application/json; boundary=b"];
        for content_type in no_batch {
            assert_eq!(read_mixed(&answer(content_type, "x")).unwrap_err().code, code::UNAVAILABLE);
        }
        let head = "--b\r\nContent-ID: <response-0>\r\n\r\n";
        let bodies = [
            String::new(),
            "--b".to_owned(),
            "--b--".to_owned(),
            "--bb\r\nContent-ID: <0>\r\n\r\nHTTP/1.1 200 OK\r\n\r\n".to_owned(),
            head.to_owned(),
            format!("{head}HTTP/1.1 200 OK"),
            format!("{head}HTTP/1.1 99 Odd\r\n\r\n--b--"),
            format!("{head}HTTP/1.1 99999 Odd\r\n\r\n--b--"),
            format!("{head}FTP/1 200 OK\r\n\r\n--b--"),
            "--b\r\nContent-ID: <response-x>\r\n\r\nHTTP/1.1 200 OK\r\n\r\n--b--".to_owned(),
            "--b\r\nContent-ID: <response-99999999999999999999999>\r\n\r\nHTTP/1.1 200 OK\r\n\r\n--b--"
                .to_owned(),
            format!("--b\r\n{}\r\nHTTP/1.1 200 OK\r\n\r\n--b--", "Content-ID: <0>\r\n".repeat(300)),
            "--b\r\n".repeat(100_000),
            "\n".repeat(1 << 20),
        ];
        for body in bodies {
            let answers = read_mixed(&answer("multipart/mixed; boundary=b", &body)).unwrap();
            assert!(answers.is_empty(), "{body:.60}");
        }
    }
}
