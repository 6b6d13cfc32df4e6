//! HTML into tags and text, as the standard's tokenizer does (WHATWG HTML 13.2.5), in one pass.

use memchr::memmem;

use crate::html::tags::{ATTRIBUTES, READ};

/// Elements that are left out with all that is in them.
pub const DROPPED: [&str; 22] = [
    "applet",
    "audio",
    "canvas",
    "datalist",
    "embed",
    "frameset",
    "iframe",
    "math",
    "noembed",
    "noframes",
    "object",
    "plaintext",
    "script",
    "select",
    "selectedcontent",
    "style",
    "svg",
    "template",
    "textarea",
    "title",
    "video",
    "xmp",
];

/// Longest name of an element or attribute that is looked at, bytes.
const NAME_BYTES: usize = 16;

/// Attributes of an element: the known ones, each once, with their values as they stand in the source, without their quotes.
pub type Attributes<'a> = [(&'static str, &'a str)];

/// A piece of HTML.
#[derive(Debug, PartialEq)]
pub enum Token<'a> {
    /// Text with its character references as they are.
    Text(&'a str),
    /// A `<` that begins nothing.
    LessThan,
    /// Name in lower case, and attributes.
    Start(String, Vec<(&'static str, &'a str)>),
    End(String),
    /// A style sheet, with the media that it is for.
    Style(Option<&'a str>, &'a str),
}

/// The pieces of an HTML text; comments, declarations and the content of `DROPPED` elements other than `style` are skipped.
pub struct Tokens<'a> {
    html: &'a str,
    at: usize,
    /// The raw-text elements without a further end tag, so that the search for one is not repeated.
    endless: Vec<&'static str>,
}

impl<'a> Tokens<'a> {
    pub fn new(html: &'a str) -> Tokens<'a> {
        Tokens { html, at: 0, endless: Vec::new() }
    }

    fn rest(&self) -> &'a str {
        self.html.get(self.at..).unwrap_or_default()
    }

    fn byte(&self) -> Option<u8> {
        self.html.as_bytes().get(self.at).copied()
    }

    /// Everything up to one of the bytes, which are ASCII.
    fn until(&mut self, is_end: impl Fn(u8) -> bool) -> &'a str {
        let rest = self.rest();
        let len = rest.bytes().position(is_end).unwrap_or(rest.len());
        self.at += len;
        rest.get(..len).unwrap_or_default()
    }

    /// Behind the next occurrence; to the end if there is none.
    fn pass(&mut self, end: &str) {
        self.at = memmem::find(self.rest().as_bytes(), end.as_bytes())
            .map_or(self.html.len(), |at| self.at + at + end.len());
    }

    /// At `<!`, `<?` and `</` without a name.
    fn pass_comment(&mut self) {
        let Some(comment) = self.rest().strip_prefix("<!--") else { return self.pass(">") };
        self.at += 4;
        if comment.starts_with('>') || comment.starts_with("->") {
            return self.pass(">");
        }
        // From bracket to bracket, so that nothing beyond the comment is looked at: there may be a hundred thousand more of them.
        let bytes = comment.as_bytes();
        let ends =
            |at: &usize| bytes.get(..*at).is_some_and(|to| to.ends_with(b"--") || to.ends_with(b"--!"));
        let end = memchr::memchr_iter(b'>', bytes).find(ends);
        self.at = end.map_or(self.html.len(), |end| self.at + end + 1);
    }

    /// At a letter: the name and the attributes, behind the `>`. None where the text ends first.
    fn tag(&mut self) -> Option<(String, Vec<(&'static str, &'a str)>)> {
        let name = self.until(|byte| byte.is_ascii_whitespace() || byte == b'/' || byte == b'>');
        let name = name.get(..NAME_BYTES).unwrap_or(name).to_ascii_lowercase();
        let mut attributes = Vec::new();
        loop {
            self.until(|byte| !byte.is_ascii_whitespace() && byte != b'/');
            if self.byte()? == b'>' {
                self.at += 1;
                return Some((name, attributes));
            }
            let (name, value) = self.attribute()?;
            if let Some(known) =
                ATTRIBUTES.into_iter().chain(READ).find(|known| name.eq_ignore_ascii_case(known))
                && !attributes.iter().any(|(set, _)| *set == known)
            {
                attributes.push((known, value));
            }
        }
    }

    fn attribute(&mut self) -> Option<(&'a str, &'a str)> {
        let start = self.at;
        // An equals sign at the beginning belongs to the name.
        self.at += usize::from(self.byte()? == b'=');
        self.until(|byte| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>' | b'='));
        let name = self.html.get(start..self.at)?;
        self.until(|byte| !byte.is_ascii_whitespace());
        if self.byte()? != b'=' {
            return Some((name, ""));
        }
        self.at += 1;
        self.until(|byte| !byte.is_ascii_whitespace());
        let quote = self.byte()?;
        if quote != b'"' && quote != b'\'' {
            return Some((name, self.until(|byte| byte.is_ascii_whitespace() || byte == b'>')));
        }
        self.at += 1;
        let value = self.until(|byte| byte == quote);
        self.byte()?;
        self.at += 1;
        Some((name, value))
    }

    /// Behind the end tag of a dropped element, whose content is returned. One that never ends takes the rest with it where its content is
    /// no HTML.
    fn pass_content(&mut self, name: &'static str) -> &'a str {
        if self.endless.contains(&name) {
            return "";
        }
        let rest = self.rest();
        let bytes = rest.as_bytes();
        let ends = memmem::find_iter(bytes, b"</").find(|at| {
            let after = bytes.get(at + 2..).unwrap_or_default();
            let is_named =
                after.get(..name.len()).is_some_and(|end| end.eq_ignore_ascii_case(name.as_bytes()));
            is_named
                && after
                    .get(name.len())
                    .is_none_or(|byte| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>'))
        });
        match ends {
            Some(end) => {
                self.at += end;
                self.pass(">");
                rest.get(..end).unwrap_or_default()
            }
            None if matches!(
                name,
                "script"
                    | "style"
                    | "xmp"
                    | "iframe"
                    | "noembed"
                    | "noframes"
                    | "title"
                    | "textarea"
                    | "plaintext"
            ) =>
            {
                self.at = self.html.len();
                rest
            }
            None => {
                self.endless.push(name);
                ""
            }
        }
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            let rest = self.rest();
            if self.byte()? != b'<' {
                let len = memchr::memchr(b'<', rest.as_bytes()).unwrap_or(rest.len());
                self.at += len;
                return rest.get(..len).map(Token::Text);
            }
            match (rest.as_bytes().get(1), rest.as_bytes().get(2)) {
                (Some(b'/'), Some(letter)) if letter.is_ascii_alphabetic() => {
                    self.at += 2;
                    return self.tag().map(|(name, _)| Token::End(name));
                }
                (Some(b'/' | b'!' | b'?'), _) => self.pass_comment(),
                (Some(letter), _) if letter.is_ascii_alphabetic() => {
                    self.at += 1;
                    let (name, attributes) = self.tag()?;
                    match DROPPED.into_iter().find(|dropped| *dropped == name) {
                        Some("embed") => (),
                        Some("style") => {
                            let media = attributes.iter().find(|(name, _)| *name == "media");
                            let media = media.map(|(_, value)| *value);
                            return Some(Token::Style(media, self.pass_content("style")));
                        }
                        Some(dropped) => {
                            self.pass_content(dropped);
                        }
                        None => return Some(Token::Start(name, attributes)),
                    }
                }
                _ => {
                    self.at += 1;
                    return Some(Token::LessThan);
                }
            }
        }
    }
}
