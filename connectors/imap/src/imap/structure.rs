//! Parses BODYSTRUCTURE (RFC 9051 section 7.5.2) into the text parts and files of a message. Servers get it wrong in many ways; missing or
//! misplaced fields are skipped.

use std::borrow::Cow;

use crate::imap::value::Value;

/// The maximum number of parts that are read. Only malicious mail has more.
const MAX_PARTS: usize = 2_000;

/// A leaf of the structure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Part {
    /// The section number for FETCH (RFC 9051 section 6.4.5).
    pub section: String,
    /// The media type in lower case, such as `text/plain`.
    pub kind: String,
    /// Parameters of the type; names in lower case.
    pub params: Vec<(String, String)>,
    /// The Content-ID without angle brackets.
    pub id: Option<String>,
    /// Transfer encoding, lower case.
    pub encoding: String,
    /// The size of the encoded content, in bytes.
    pub size: Option<u64>,
    /// The disposition in lower case.
    pub disposition: Option<String>,
    /// Parameters of the disposition; names in lower case.
    pub disposition_params: Vec<(String, String)>,
}

impl Part {
    /// A parameter of the type; its name is given in lower case.
    pub fn param(&self, name: &str) -> Option<&str> {
        self.params.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Whether `size` is that of an encoding which is decoded when the part is read.
    pub fn is_encoded(&self) -> bool {
        mail::read::decoding(&self.encoding).is_some()
    }

    /// Whether the part has a file name.
    fn is_named(&self) -> bool {
        let names = |params: &[(String, String)], name: &str| {
            params.iter().any(|(known, _)| known.split('*').next() == Some(name))
        };
        names(&self.disposition_params, "filename") || names(&self.params, "name")
    }
}

/// The parts of a message, grouped as in RFC 8621 section 4.1.4.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parts {
    /// The parts to show as plain text.
    pub text: Vec<Part>,
    /// The parts to show as HTML.
    pub html: Vec<Part>,
    /// All other parts.
    pub files: Vec<File>,
}

impl Parts {
    /// The leaf with this section number.
    pub fn leaf(self, section: &str) -> Option<Part> {
        let files = self.files.into_iter().map(|file| file.part);
        self.text.into_iter().chain(self.html).chain(files).find(|part| part.section == section)
    }
}

/// An attachment, or a picture in the HTML.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct File {
    pub part: Part,
    /// The multipart that the part is in.
    pub within: Within,
}

/// The kind of multipart; `Mixed` for all unknown ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Within {
    #[default]
    Mixed,
    Alternative,
    Related,
    Report,
}

/// The parts of a message.
pub fn read(structure: &Value<'_>) -> Parts {
    let mut walk = Walk { parts: Parts::default(), left: MAX_PARTS };
    if is_multipart(structure) {
        walk.multipart(structure, "");
    } else {
        walk.leaf(structure, "1".into(), Within::Mixed, 0);
    }
    walk.parts
}

/// Whether the value is a multipart, which begins with its parts. One without parts is a leaf: some servers write `(NIL "MIXED" …)` for it.
fn is_multipart(value: &Value<'_>) -> bool {
    matches!(value.list().first(), Some(Value::List(_)))
}

struct Walk {
    parts: Parts,
    left: usize,
}

impl Walk {
    /// Reads a multipart. The recursion is bounded, because `value::read` limits the depth of values.
    fn multipart(&mut self, value: &Value<'_>, prefix: &str) {
        let children = value.list().iter().take_while(|child| matches!(child, Value::List(_)));
        let subtype = value.list().iter().find_map(|value| match value {
            Value::List(_) => None,
            value => value.text(),
        });
        let within = match subtype.map(|name| name.to_ascii_lowercase()).as_deref() {
            Some("alternative") => Within::Alternative,
            Some("related") => Within::Related,
            Some("report") => Within::Report,
            _ => Within::Mixed,
        };
        for (at, child) in children.enumerate() {
            if self.left == 0 {
                return;
            }
            self.left -= 1;
            let section =
                if prefix.is_empty() { format!("{}", at + 1) } else { format!("{prefix}.{}", at + 1) };
            if is_multipart(child) {
                self.multipart(child, &section);
            } else {
                self.leaf(child, section, within, at);
            }
        }
    }

    fn leaf(&mut self, value: &Value<'_>, section: String, within: Within, at: usize) {
        let part = part(value, section);
        let is_text = part.kind == "text/plain" || part.kind == "text/html";
        // RFC 8621: a text part is shown if it is the first one, or if it has no file name and its multipart is not `related`.
        let shown = part.disposition.as_deref() != Some("attachment")
            && is_text
            && (at == 0 || (within != Within::Related && !part.is_named()));
        if !shown {
            self.parts.files.push(File { part, within });
        } else if part.kind == "text/html" {
            self.parts.html.push(part);
        } else {
            self.parts.text.push(part);
        }
    }
}

/// `("TEXT" "PLAIN" ("CHARSET" "utf-8") id description encoding size …)`, then lines for a text, an envelope, a structure and lines
/// for a message, and after those MD5, disposition, language, location.
fn part(value: &Value<'_>, section: String) -> Part {
    let fields = value.list();
    let text = |at: usize| fields.get(at).and_then(Value::text);
    let lower = |at: usize| text(at).map(|text| text.trim().to_ascii_lowercase());
    let kind = match (lower(0), lower(1)) {
        (Some(kind), Some(subtype)) if is_token(&kind) && is_token(&subtype) => format!("{kind}/{subtype}"),
        // The default of RFC 2045 section 5.2 is for parts without any type.
        (None, None) => "text/plain".to_owned(),
        _ => "application/octet-stream".to_owned(),
    };
    let (disposition, disposition_params) = disposition(fields.get(7..).unwrap_or_default());
    Part {
        section,
        params: params(fields.get(2)),
        id: text(3).map(|id| id.trim().trim_start_matches('<').trim_end_matches('>').to_owned()),
        encoding: lower(5).unwrap_or_default(),
        size: fields.get(6).and_then(Value::number),
        disposition,
        disposition_params,
        kind,
    }
}

fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_graphic() && !b"()<>@,;:\\\"/[]?=".contains(&byte))
}

/// The disposition is the first list of a string and a list or NIL; the fields before it depend on the type. An enclosed message has other
/// lists too, but those begin with an envelope of ten fields.
fn disposition(fields: &[Value<'_>]) -> (Option<String>, Vec<(String, String)>) {
    let found = fields.iter().find_map(|field| {
        let values = field.list();
        let is_pair = values.len() <= 2 && !matches!(values.get(1), Some(Value::Text(_) | Value::Atom(_)));
        let kind = values.first().filter(|_| is_pair).and_then(Value::text)?;
        Some((kind.trim().to_ascii_lowercase(), params(values.get(1))))
    });
    found.map_or((None, Vec::new()), |(kind, params)| (Some(kind), params))
}

fn params(value: Option<&Value<'_>>) -> Vec<(String, String)> {
    let pairs = value.map(Value::list).unwrap_or_default().chunks_exact(2).take(50);
    let pairs = pairs.filter_map(|pair| match pair {
        [name, value] => {
            Some((name.text()?.to_ascii_lowercase(), value.text().map_or_else(String::new, Cow::into_owned)))
        }
        _ => None,
    });
    pairs.collect()
}

#[cfg(test)]
mod tests {
    use super::{Parts, read};
    use crate::imap::value;

    fn parts(text: &str) -> Parts {
        read(&value::read(text.as_bytes()).unwrap()[0])
    }

    fn describe(parts: &Parts) -> String {
        let names = |parts: Vec<String>| parts.join(" ");
        let text = parts.text.iter().map(|part| part.section.clone()).collect();
        let html = parts.html.iter().map(|part| part.section.clone()).collect();
        let file = |file: &super::File| {
            format!(
                "{}:{}{}",
                file.part.section,
                file.part.kind,
                if file.within == super::Within::Related { "+" } else { "" }
            )
        };
        let files = parts.files.iter().map(file).collect();
        format!("text {} html {} files {}", names(text), names(html), names(files))
    }

    const TEXT: &str = r#"("TEXT" "PLAIN" ("CHARSET" "UTF-8") NIL NIL "8BIT" 20 1 NIL NIL NIL NIL)"#;
    const HTML: &str = r#"("text" "html" ("charset" "utf-8") NIL NIL "base64" 20 1 NIL ("inline" NIL))"#;
    const IMAGE: &str =
        r#"("IMAGE" "PNG" ("NAME" "a.png") "<c@x>" NIL "BASE64" 400 NIL ("INLINE" ("FILENAME" "a.png")))"#;

    #[test]
    fn a_message_is_taken_apart() {
        assert_eq!(describe(&parts(TEXT)), "text 1 html  files ");
        let related = format!(
            r#"(({TEXT}({HTML}{IMAGE} "RELATED") "ALTERNATIVE")("APPLICATION" "PDF" NIL NIL NIL "BASE64" 9) "MIXED")"#
        );
        assert_eq!(
            describe(&parts(&related)),
            "text 1.1 html 1.2.1 files 1.2.2:image/png+ 2:application/pdf"
        );
        let file = parts(&related).files.remove(0).part;
        assert_eq!(
            (file.id.as_deref(), file.param("name"), file.size),
            (Some("c@x"), Some("a.png"), Some(400))
        );
        assert_eq!(file.disposition.as_deref(), Some("inline"));
        assert_eq!(file.disposition_params, [("filename".to_owned(), "a.png".to_owned())]);
    }

    #[test]
    fn an_enclosed_message_is_a_file() {
        let envelope = r#"(NIL "s" (("A" NIL "a" "x")) NIL NIL NIL NIL NIL NIL "<m@x>")"#;
        let message = format!(
            r#"({TEXT}("MESSAGE" "RFC822" NIL NIL NIL "7BIT" 300 {envelope} ({TEXT}{IMAGE} "MIXED") 9 NIL ("attachment" ("filename" "m.eml")) NIL) "MIXED")"#
        );
        let parts = parts(&message);
        assert_eq!(describe(&parts), "text 1 html  files 2:message/rfc822");
        assert_eq!(parts.files[0].part.disposition.as_deref(), Some("attachment"));
    }

    #[test]
    fn what_servers_get_wrong_is_passed_over() {
        let cases = [
            ("()", "text 1 html  files "),
            ("(NIL \"MIXED\" NIL)", "text  html  files 1:application/octet-stream"),
            ("(NIL NIL NIL NIL NIL NIL NIL)", "text 1 html  files "),
            ("(\"TEXT\" NIL NIL NIL NIL NIL)", "text  html  files 1:application/octet-stream"),
            ("(TEXT PLAIN (CHARSET) NIL NIL NIL x)", "text 1 html  files "),
            ("((()) () \"MIXED\")", "text 1.1 2 html  files "),
            ("(\"a b\" \"c\")", "text  html  files 1:application/octet-stream"),
        ];
        for (structure, expected) in cases {
            assert_eq!(describe(&parts(structure)), expected, "{structure}");
        }
        let many = format!("({} \"MIXED\")", TEXT.repeat(5_000));
        assert_eq!(parts(&many).text.len(), super::MAX_PARTS);
    }
}
