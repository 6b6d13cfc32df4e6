//! HTML written anew as a well-formed tree of bounded depth and size, of known elements and attributes alone.
//!
//! A parser that reads it needs none of the standard's repairs: every element is closed, in order; rows are in tables and all else is in
//! their cells; paragraphs, items and links do not nest.

use std::borrow::Cow;

use crate::cid;
use crate::html::options::{DATA_URL_BYTES, DEPTH, OUTPUT_BYTES, Safe};
use crate::html::tags::{Kind, tag};
use crate::html::token::{Token, Tokens};

/// Before the address of a picture that is not fetched. A scheme of its own, so that nothing is fetched should it stay there.
pub const HELD: &str = "x-held:";

/// Before the address of a picture that is part of the message: that address can be a path.
pub const SHOWN: &str = "x-shown:";

/// What is added to each link later, bytes, about.
const LINK_BYTES: usize = 64;

/// What is between two texts that shall not become one: it is left out later.
const BREAK: &str = "<!---->";

/// Bytes of a text after which it is broken at the next character that is written as a reference. The serializer of html5ever looks for
/// the next bracket from each such character on, so that a long text of them takes time with the square of its length.
const TEXT_BYTES: usize = 512;

/// The same for the value of an attribute, which cannot be broken: most of its bytes, as they are written, times its references.
const VALUE_WORK: usize = 1 << 20;

/// Pairs of characters in a `style` that may be written as references. A style is written anew, with a space between any two of its
/// parts, and so grows: what bounds it counts what does not.
const STYLE_PAIRS: usize = 64;

/// The references that the serializer writes.
const WRITTEN: [&str; 5] = ["&amp;", "&quot;", "&lt;", "&gt;", "&nbsp;"];

/// The HTML, tidied.
pub fn tidy(html: &str, options: &Safe<'_>) -> String {
    let mut tree = Tree {
        out: String::with_capacity(html.len()),
        open: Vec::new(),
        unwritten: Vec::new(),
        added: 0,
        unbroken: 0,
    };
    for token in Tokens::new(html) {
        match token {
            Token::Text(text) => tree.text(text),
            Token::LessThan => tree.text("&lt;"),
            Token::Start(name, attributes) => tree.start(&name, &attributes, options),
            Token::End(name) => tree.end(&name),
        }
        if tree.out.len() + tree.added > OUTPUT_BYTES {
            break;
        }
    }
    tree.close(0);
    tree.out
}

struct Tree {
    out: String,
    open: Vec<(&'static str, Kind)>,
    /// Elements that are too deep: their end tags are not written either.
    unwritten: Vec<&'static str>,
    /// Bytes that others will add.
    added: usize,
    /// Bytes of text since the last break.
    unbroken: usize,
}

impl Tree {
    fn text(&mut self, text: &str) {
        if !text.bytes().all(|byte| byte.is_ascii_whitespace()) {
            self.enter_cell();
        }
        for piece in text.split('\0') {
            self.broken(piece);
        }
    }

    /// No reference is parted: it ends where another one begins, with or without its semicolon.
    fn broken(&mut self, text: &str) {
        let mut written = 0;
        for at in escaped(text) {
            if self.unbroken + (at - written) >= TEXT_BYTES {
                self.out.push_str(text.get(written..at).unwrap_or_default());
                self.out.push_str(BREAK);
                (self.unbroken, written) = (0, at);
            }
        }
        self.unbroken += text.len() - written;
        self.out.push_str(text.get(written..).unwrap_or_default());
    }

    fn start(&mut self, name: &str, attributes: &[(&'static str, &str)], options: &Safe<'_>) {
        let Some((name, kind)) = tag(name) else { return };
        if !self.make_room(name, kind) {
            return;
        }
        // A table's text is in a cell of a row of a group of it.
        let needed = if kind == Kind::Table { 4 } else { 1 };
        if self.open.len() + needed > DEPTH {
            if kind != Kind::Void && self.unwritten.len() < DEPTH {
                self.unwritten.push(name);
            }
            return;
        }
        self.open_tag(name);
        for (attribute, value) in attributes {
            match (name, *attribute) {
                ("img", "src") => self.source(value, options),
                (_, "src") => (),
                (_, attribute) => self.attribute(attribute, "", value),
            }
        }
        self.out.push('>');
        if kind != Kind::Void {
            self.open.push((name, kind));
        }
        self.added += if name == "a" { LINK_BYTES } else { 0 };
    }

    fn open_tag(&mut self, name: &str) {
        self.out.push('<');
        self.out.push_str(name);
    }

    /// Character references stay as they are.
    fn attribute(&mut self, name: &str, prefix: &str, value: &str) {
        let is_costly = match name {
            "style" => style_pairs(value) > STYLE_PAIRS,
            _ => work(value) > VALUE_WORK,
        };
        if is_costly {
            return;
        }
        self.out.extend([" ", name, "=\"", prefix]);
        for piece in value.split_inclusive(['"', '<', '>', '\0']) {
            let plain = piece.trim_end_matches(['"', '<', '>', '\0']);
            self.out.push_str(plain);
            match piece.get(plain.len()..) {
                Some("\"") => self.out.push_str("&quot;"),
                Some("<") => self.out.push_str("&lt;"),
                Some(">") => self.out.push_str("&gt;"),
                _ => (),
            }
        }
        self.out.push('"');
    }

    /// The address of a picture: where it comes from says whether it is shown.
    fn source(&mut self, value: &str, options: &Safe<'_>) {
        let value = value.trim();
        let after = |prefix: &str| {
            value.get(..prefix.len()).filter(|head| head.eq_ignore_ascii_case(prefix)).map(|_| prefix.len())
        };
        if let Some(id) = after("cid:").and_then(|at| value.get(at..)) {
            let link = unescaped(id);
            // Some programs write an id that has percent escapes as it is.
            if let Some(url) = (options.cid)(&cid::decoded(&link)).or_else(|| (options.cid)(&link)) {
                self.attribute("src", SHOWN, &url.replace('&', "&amp;"));
            }
        } else if after("http://").or_else(|| after("https://")).is_some() {
            self.attribute("src", if options.images { "" } else { HELD }, value);
        } else if value.starts_with("//") {
            self.attribute("src", if options.images { "https:" } else { "x-held:https:" }, value);
        } else if is_picture(value) && value.len() <= DATA_URL_BYTES {
            self.attribute("src", "", value);
        }
    }

    fn end(&mut self, name: &str) {
        let Some((name, kind)) = tag(name) else { return };
        if let Some(at) = self.unwritten.iter().rposition(|unwritten| *unwritten == name) {
            self.unwritten.truncate(at);
            return;
        }
        let is_wall = |found: Kind| match kind {
            Kind::Table => false,
            Kind::Group | Kind::Row | Kind::Cell => found == Kind::Table,
            _ => is_table(found),
        };
        if let Some(at) = self.find(|open| open.0 == name, is_wall) {
            self.close(at);
        }
    }

    /// The innermost open element that is sought, with no wall before it.
    fn find(
        &self,
        is_sought: impl Fn(&(&'static str, Kind)) -> bool,
        is_wall: impl Fn(Kind) -> bool,
    ) -> Option<usize> {
        let at = self.open.iter().rposition(|open| is_sought(open) || is_wall(open.1))?;
        self.open.get(at).is_some_and(is_sought).then_some(at)
    }

    /// Ends the open elements from this one on.
    fn close(&mut self, at: usize) {
        while self.open.len() > at {
            if let Some((name, _)) = self.open.pop() {
                self.out.extend(["</", name, ">"]);
            }
        }
        if self.open.len() < DEPTH {
            self.unwritten.clear();
        }
    }

    /// Ends what the new element ends, and opens what it must be in. False where it can be nowhere.
    fn make_room(&mut self, name: &str, kind: Kind) -> bool {
        match kind {
            Kind::Group => return self.back_to(|kind| kind == Kind::Table),
            Kind::Row => {
                let is_found = self.back_to(|kind| matches!(kind, Kind::Table | Kind::Group));
                self.enter_group();
                return is_found;
            }
            Kind::Cell => {
                let is_found = self.back_to(|kind| matches!(kind, Kind::Table | Kind::Group | Kind::Row));
                self.enter_row();
                return is_found;
            }
            _ => self.enter_cell(),
        }
        let ended = match (name, kind) {
            ("a", _) => self.find(|open| open.0 == "a", is_table),
            (_, Kind::Item) => {
                self.find(|open| open.1 == Kind::Item, is_table).filter(|at| !self.has_list_after(*at))
            }
            _ => None,
        };
        let ended = ended.or_else(|| {
            let ends_paragraph = matches!(kind, Kind::Block | Kind::Item | Kind::Table) || name == "hr";
            self.find(|open| open.0 == "p", is_table).filter(|_| ends_paragraph)
        });
        if let Some(at) = ended {
            self.close(at);
        }
        true
    }

    fn has_list_after(&self, at: usize) -> bool {
        self.open.iter().skip(at).any(|(name, _)| matches!(*name, "ul" | "ol" | "dl"))
    }

    /// Ends what is open in the innermost such element of the innermost table.
    fn back_to(&mut self, is_home: impl Fn(Kind) -> bool) -> bool {
        match self.find(|open| is_home(open.1), |kind| kind == Kind::Table) {
            Some(at) => {
                self.close(at + 1);
                true
            }
            None => false,
        }
    }

    /// Between the cells of a table there is nothing: what comes there gets a cell.
    fn enter_cell(&mut self) {
        self.enter_row();
        if self.is_in(Kind::Row) {
            self.open_plain("td", Kind::Cell);
        }
    }

    fn enter_row(&mut self) {
        self.enter_group();
        if self.is_in(Kind::Group) {
            self.open_plain("tr", Kind::Row);
        }
    }

    fn enter_group(&mut self) {
        if self.is_in(Kind::Table) {
            self.open_plain("tbody", Kind::Group);
        }
    }

    fn is_in(&self, kind: Kind) -> bool {
        self.open.last().is_some_and(|open| open.1 == kind)
    }

    fn open_plain(&mut self, name: &'static str, kind: Kind) {
        self.open_tag(name);
        self.out.push('>');
        self.open.push((name, kind));
    }
}

/// Where characters are, or may be after a reference is resolved, that are written as references: `&`, and those that begin like a
/// no-break space in UTF-8.
fn escaped(text: &str) -> impl Iterator<Item = usize> {
    memchr::memchr2_iter(b'&', 0xC2, text.as_bytes())
}

/// How many references a value is written with, at most, times its length then: no more for what was written already, so that what is
/// shown once is shown again.
fn work(value: &str) -> usize {
    let (mut references, mut bytes) = (0_usize, value.len());
    for (at, byte) in value.bytes().enumerate() {
        let rest = || value.get(at..).unwrap_or_default();
        bytes += match byte {
            b'&' if WRITTEN.iter().any(|reference| rest().starts_with(reference)) => 0,
            b'&' | 0xC2 => 4,
            b'"' => 5,
            b'<' | b'>' => 3,
            _ => continue,
        };
        references += 1;
    }
    references.saturating_mul(bytes)
}

/// Pairs of characters of a style that may be written as references (`WRITTEN`, and the quotes of strings). In pairs, because a string that
/// is not closed is closed when it is written.
fn style_pairs(value: &str) -> usize {
    value.bytes().filter(|byte| matches!(byte, b'&' | b'<' | b'>' | 0xC2 | b'"' | b'\'')).count().div_ceil(2)
}

/// The value with those references resolved that programs write for characters of a Content-ID.
fn unescaped(value: &str) -> Cow<'_, str> {
    const REFERENCES: [(&str, &str); 8] = [
        ("&quot;", "\""),
        ("&#34;", "\""),
        ("&#39;", "'"),
        ("&apos;", "'"),
        ("&#64;", "@"),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&amp;", "&"),
    ];
    if !value.contains('&') {
        return Cow::Borrowed(value);
    }
    let resolved = REFERENCES.into_iter();
    Cow::Owned(resolved.fold(value.to_owned(), |value, (reference, c)| value.replace(reference, c)))
}

fn is_table(kind: Kind) -> bool {
    matches!(kind, Kind::Table | Kind::Group | Kind::Row | Kind::Cell)
}

/// Formats that are pixels and nothing else: an SVG is a document.
fn is_picture(value: &str) -> bool {
    let head = value.get(..24).unwrap_or(value).to_ascii_lowercase();
    ["png", "gif", "jpeg", "jpg", "webp", "bmp"]
        .iter()
        .any(|kind| head.starts_with(&format!("data:image/{kind};")))
}
