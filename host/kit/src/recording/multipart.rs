//! Bodies of several parts (RFC 2046, section 5.1; RFC 7578), cut so that the pieces together are the body.

/// A body in parts.
pub struct MultipartBody<'b> {
    pub parts: Vec<BodyPart<'b>>,
}

/// A part, with the bytes before its content.
pub struct BodyPart<'b> {
    /// The boundary and the part's headers; after the last part, the closing boundary.
    pub before: &'b [u8],
    pub content: &'b [u8],
    pub content_type: Option<String>,
    /// The name of a form's field.
    pub name: Option<String>,
}

impl<'b> MultipartBody<'b> {
    /// The parts of a body of this content type; none where it has no parts.
    pub fn parse(content_type: &str, body: &'b [u8]) -> Option<MultipartBody<'b>> {
        if !content_type.to_ascii_lowercase().starts_with("multipart/") {
            return None;
        }
        let boundary = format!("--{}", parameter(content_type, "boundary")?);
        let mut parts = Vec::new();
        let mut begin = 0;
        while let Some((headers_end, content)) = head_end(body, begin, boundary.as_bytes()) {
            let headers = String::from_utf8_lossy(body.get(begin..headers_end)?).into_owned();
            let end = find(body, content, boundary.as_bytes()).unwrap_or(body.len());
            // The line end before a boundary belongs to the boundary.
            let text = body.get(content..end)?;
            let text = text.strip_suffix(b"\n").unwrap_or(text);
            let text = text.strip_suffix(b"\r").unwrap_or(text);
            parts.push(BodyPart {
                before: body.get(begin..content)?,
                content: text,
                content_type: header(&headers, "content-type").map(str::to_owned),
                name: header(&headers, "content-disposition").and_then(|value| parameter(value, "name")),
            });
            begin = content + text.len();
        }
        let before = body.get(begin..)?;
        parts.push(BodyPart { before, content: &[], content_type: None, name: None });
        Some(MultipartBody { parts })
    }
}

/// The value of the header of this name, which is in lower case.
fn header<'h>(headers: &'h str, name: &str) -> Option<&'h str> {
    let mut lines = headers.lines().filter_map(|line| line.split_once(':'));
    lines.find(|(other, _)| other.trim().eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
}

/// Returns the end of the headers of the first part after `from`, and the beginning of its content; none after the last part.
fn head_end(body: &[u8], from: usize, boundary: &[u8]) -> Option<(usize, usize)> {
    let start = find(body, from, boundary)? + boundary.len();
    if body.get(start..)?.starts_with(b"--") {
        return None;
    }
    // The search stops at the next boundary.
    let end = find(body, start, boundary).unwrap_or(body.len());
    let part = body.get(..end)?;
    let ends =
        [b"\r\n\r\n".as_slice(), b"\n\n"].map(|end| find(part, start, end).map(|at| (at, at + end.len())));
    Some(ends.into_iter().flatten().min().unwrap_or((end, end)))
}

fn find(bytes: &[u8], from: usize, what: &[u8]) -> Option<usize> {
    let at = bytes.get(from..)?.windows(what.len()).position(|window| window == what)?;
    Some(from + at)
}

/// A parameter of a header's value, without quotes.
fn parameter(value: &str, name: &str) -> Option<String> {
    value.split(';').skip(1).find_map(|parameter| {
        let (other, value) = parameter.split_once('=')?;
        let value = value.trim().trim_matches('"');
        (other.trim().eq_ignore_ascii_case(name) && !value.is_empty()).then(|| value.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pieces_are_the_body() {
        let body = b"--b\r\nContent-Disposition: form-data; name=\"token\"\r\n\r\nabc\r\n--b\r\n\
            Content-Type: image/png\r\n\r\n\xff\x00\r\n--b--\r\n";
        let multipart = MultipartBody::parse("multipart/form-data; boundary=\"b\"", body).unwrap();
        let pieces: Vec<u8> =
            multipart.parts.iter().flat_map(|part| [part.before, part.content].concat()).collect();
        assert_eq!(pieces, body);
        let contents: Vec<&[u8]> = multipart.parts.iter().map(|part| part.content).collect();
        assert_eq!(contents, [b"abc".as_slice(), b"\xff\x00", b""]);
        assert_eq!(multipart.parts[0].name.as_deref(), Some("token"));
        assert_eq!(multipart.parts[1].content_type.as_deref(), Some("image/png"));
        assert!(MultipartBody::parse("multipart/mixed", body).is_none());
        assert!(MultipartBody::parse("text/plain; boundary=b", body).is_none());
        assert_eq!(MultipartBody::parse("multipart/mixed; boundary=c", body).unwrap().parts.len(), 1);
    }
}
