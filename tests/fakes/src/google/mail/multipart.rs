//! Bodies of several parts, as uploads and batches have them.

use bytes::Bytes;

/// A part of a body: its head, with names in lower case, and what follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BodyPart {
    pub head: Vec<(String, String)>,
    pub body: Bytes,
}

impl BodyPart {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.iter().find(|(one, _)| one == name).map(|(_, value)| value.as_str())
    }
}

/// Splits a body with this content type. None without a boundary, or without the line that ends the last part.
pub fn split(content_type: &str, body: &Bytes) -> Option<Vec<BodyPart>> {
    let boundary = find_boundary(content_type)?;
    let (delimiter, end) = (format!("--{boundary}"), format!("--{boundary}--"));
    let (mut parts, mut at, mut start) = (Vec::new(), 0, None);
    for line in body.split_inclusive(|byte| *byte == b'\n') {
        let text = line.trim_ascii_end();
        let is_end = text == end.as_bytes();
        if is_end || text == delimiter.as_bytes() {
            if let Some(start) = start {
                let part = body.get(start..at)?;
                let part = part.strip_suffix(b"\n").unwrap_or(part);
                let part = part.strip_suffix(b"\r").unwrap_or(part);
                let part = body.slice_ref(part);
                let (head, length) = read_head(&part);
                parts.push(BodyPart { head, body: part.slice(length..) });
            }
            if is_end {
                return Some(parts);
            }
            start = Some(at + line.len());
        }
        at += line.len();
    }
    None
}

/// The lines `name: value` up to the first empty one, and the length of all of them together with that one.
pub fn read_head(bytes: &[u8]) -> (Vec<(String, String)>, usize) {
    let mut head: Vec<(String, String)> = Vec::new();
    let mut length = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        length += line.len();
        let text = String::from_utf8_lossy(line.trim_ascii_end()).into_owned();
        if text.is_empty() {
            break;
        }
        match head.last_mut().filter(|_| text.starts_with([' ', '\t'])) {
            Some((_, value)) => *value = format!("{value} {}", text.trim()).trim().to_owned(),
            None => {
                let pair = text.split_once(':');
                head.extend(pair.map(|(name, value)| (name.trim().to_lowercase(), value.trim().to_owned())));
            }
        }
    }
    (head, length)
}

fn find_boundary(content_type: &str) -> Option<String> {
    let mut parameters = content_type.split(';').skip(1).filter_map(|one| one.split_once('='));
    let found = parameters.find(|(name, _)| name.trim().eq_ignore_ascii_case("boundary"));
    found.map(|(_, value)| value.trim().trim_matches('"').to_owned()).filter(|boundary| !boundary.is_empty())
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::split;

    #[test]
    fn parts_end_before_their_delimiters() {
        let body = "--b\r\nContent-ID:\r\n <1>\r\n\r\none\r\n\r\n--b\nX: y\n\ntwo\n--b--\n";
        let parts =
            split("multipart/mixed; boundary=\"b\"", &Bytes::from_static(body.as_bytes())).expect("parts");
        let bodies: Vec<&[u8]> = parts.iter().map(|part| part.body.as_ref()).collect();
        assert_eq!(bodies, [&b"one\r\n"[..], b"two"]);
        assert_eq!((parts[0].header("content-id"), parts[1].header("x")), (Some("<1>"), Some("y")));
        for wrong in ["--b\r\n\r\nno end", "no parts"] {
            assert_eq!(split("multipart/mixed; boundary=b", &Bytes::from_static(wrong.as_bytes())), None);
        }
    }
}
