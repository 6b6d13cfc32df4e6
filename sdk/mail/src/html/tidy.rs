//! HTML rewritten as a well-formed tree of bounded depth and size, of known elements and attributes alone, without what its writer hid.
//!
//! A parser that reads it needs none of the standard's repairs: every element is closed, in order; rows are in tables and all else is in
//! their cells; paragraphs, items and links do not nest.

use std::borrow::Cow;

use crate::cid;
use crate::html::look::Look;
use crate::html::options::{DATA_URL_BYTES, DEPTH, OUTPUT_BYTES, Safe};
use crate::html::references::{decoded, escaped, style_pairs, work};
use crate::html::sheet::Sheet;
use crate::html::tags::{Kind, READ, has_content, tag};
use crate::html::token::{Attributes, Token, Tokens};

/// Before the address of a picture that is not fetched. A private scheme, so that nothing is fetched if it stays.
pub const HELD: &str = "x-held:";

/// Before the address of a picture that is part of the message: that address can be a path.
pub const SHOWN: &str = "x-shown:";

/// Bytes that are later added to each link, about.
const LINK_BYTES: usize = 64;

/// Before a text in an element without a size for its own: rules that showed the text are not kept.
const RESIZED: &str = "<span style=\"font-size:initial\">";

/// Elements that may be open in one another: one less than the result may have, since a text can need `RESIZED` around it.
const OPEN_ELEMENTS: usize = DEPTH - 1;

/// A separator of two texts that must not become one: it is left out later.
const BREAK: &str = "<!---->";

/// Bytes of a text after which it is broken at the next character that is written as a reference. The serializer of html5ever looks for
/// the next bracket from each such character on, so that a long text of them takes time with the square of its length.
const TEXT_BYTES: usize = 512;

/// The same for the value of an attribute, which cannot be broken: most of its bytes, as they are written, times its references.
const VALUE_WORK: usize = 1 << 20;

/// Pairs of characters in a `style` that may be written as references. A style is rewritten with a space between any two of its
/// parts, and so grows: what bounds it counts what does not.
const STYLE_PAIRS: usize = 64;

/// The HTML, tidied.
pub fn tidy(html: &str, options: &Safe<'_>) -> String {
    let mut sheet = Sheet::from_html(html);
    let mut tree = Tree { out: String::with_capacity(html.len()), ..Tree::default() };
    for token in Tokens::new(html) {
        match token {
            Token::Text(text) => tree.text(text),
            Token::LessThan => tree.text("&lt;"),
            Token::Start(name, attributes) => tree.start(&name, &attributes, &mut sheet, options),
            Token::End(name) => tree.end(&name),
            Token::Style(..) => (),
        }
        if tree.out.len() + tree.added > OUTPUT_BYTES {
            break;
        }
    }
    tree.close(0);
    tree.out
}

/// The HTML that a reader sees, for texts that are derived from it.
pub fn visible_html(html: &str) -> String {
    tidy(html, &Safe::default()).replace(BREAK, "")
}

#[derive(Default)]
struct Tree {
    out: String,
    open: Vec<OpenElement>,
    /// Elements that are too deep: their end tags are not written either.
    too_deep: Vec<DeepElement>,
    /// Bytes that others will add.
    added: usize,
    /// Bytes of text since the last break.
    unbroken: usize,
}

struct OpenElement {
    /// Borrowed of an element that can be written.
    name: Cow<'static, str>,
    kind: Kind,
    look: Look,
    /// The look of the element in the output.
    written: Look,
    is_written: bool,
}

struct DeepElement {
    name: &'static str,
    look: Look,
    /// Elements that were open around this one.
    depth: usize,
}

impl Tree {
    /// The look of the innermost element.
    fn look(&self) -> Look {
        let innermost = self.too_deep.last().filter(|deep| deep.depth >= self.open.len());
        innermost.map(|deep| deep.look).or_else(|| self.open.last().map(|open| open.look)).unwrap_or_default()
    }

    /// How the innermost element comes out.
    fn output_look(&self) -> Look {
        self.open.last().map(|open| open.written).unwrap_or_default()
    }

    fn text(&mut self, text: &str) {
        // Blanks separate words at any size.
        let is_blank = text.bytes().all(|byte| byte.is_ascii_whitespace());
        if !is_blank {
            self.enter_cell();
        }
        let look = self.look();
        if !look.shows_text() && (!is_blank || look.is_gone) {
            return;
        }
        let is_resized = !is_blank && !self.output_look().shows_text();
        self.out.push_str(if is_resized { RESIZED } else { "" });
        text.split('\0').for_each(|piece| self.write_broken(piece));
        self.out.push_str(if is_resized { "</span>" } else { "" });
    }

    /// No reference is parted: it ends where another one begins, with or without its semicolon.
    fn write_broken(&mut self, text: &str) {
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

    fn start(&mut self, name: &str, attributes: &Attributes<'_>, sheet: &mut Sheet, options: &Safe<'_>) {
        let known = tag(name);
        let kind = known.map_or(Kind::Inline, |(_, kind)| kind);
        if known.is_some() && !self.make_room(name, kind) {
            return;
        }
        let look = Look::for_element(name, kind, attributes, sheet, self.look());
        let Some((name, _)) = known else { return self.start_unknown(name, look) };
        // A table's text is in a cell of a row of a group of it.
        let needed = if kind == Kind::Table { 4 } else { 1 };
        if self.open.len() + needed > OPEN_ELEMENTS {
            if kind != Kind::Void && self.too_deep.len() < DEPTH {
                self.too_deep.push(DeepElement { name, look, depth: self.open.len() });
            } else if kind != Kind::Void && !look.shows_text() {
                self.hide_rest();
            }
            return;
        }
        let is_written = !look.is_gone && (name != "img" || look.shows_pictures());
        let around = self.output_look();
        let written = if is_written { around.for_output(name, kind, attributes, look) } else { None };
        if is_written {
            self.write_start(name, written.is_some(), attributes, options);
        }
        if kind != Kind::Void {
            let written = written.unwrap_or(around);
            self.open.push(OpenElement { name: Cow::Borrowed(name), kind, look, written, is_written });
        }
    }

    /// Remembers an element that does not stay, if it hides something. The roots do not count: a whole message is hidden by mistake.
    fn start_unknown(&mut self, name: &str, look: Look) {
        if !(look.is_gone || look != self.look())
            || !has_content(name)
            || matches!(name, "html" | "head" | "body")
        {
            return;
        }
        self.enter_cell();
        if self.open.len() < OPEN_ELEMENTS {
            let (name, written) = (Cow::Owned(name.to_owned()), self.output_look());
            self.open.push(OpenElement { name, kind: Kind::Inline, look, written, is_written: false });
        } else if !look.shows_text() {
            self.hide_rest();
        }
    }

    /// Hides the rest of the innermost element: its content is nested too deep to be judged.
    fn hide_rest(&mut self) {
        let looks = self.too_deep.last_mut().map(|deep| &mut deep.look);
        for look in looks.into_iter().chain(self.open.last_mut().map(|open| &mut open.look)) {
            *look = look.hide();
        }
    }

    fn write_start(
        &mut self,
        name: &str,
        keeps_style: bool,
        attributes: &Attributes<'_>,
        options: &Safe<'_>,
    ) {
        self.open_tag(name);
        for (attribute, value) in attributes {
            match (name, *attribute) {
                ("img", "src") => self.source(value, options),
                (_, "src") => (),
                (_, "style") if !keeps_style => (),
                (_, attribute) if READ.contains(&attribute) => (),
                (_, attribute) => self.attribute(attribute, "", value),
            }
        }
        self.out.push('>');
        self.added += if name == "a" { LINK_BYTES } else { 0 };
    }

    fn open_tag(&mut self, name: &str) {
        self.out.push('<');
        self.out.push_str(name);
    }

    /// Character references stay as they are. NUL is U+FFFD as in HTML: without it `font\0-size` would become a declaration.
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
            self.out.push_str(match piece.get(plain.len()..) {
                Some("\"") => "&quot;",
                Some("<") => "&lt;",
                Some(">") => "&gt;",
                Some("\0") if !self.out.ends_with('\u{fffd}') => "\u{fffd}",
                _ => "",
            });
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
            let link = decoded(id);
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
        let kind = tag(name).map_or(Kind::Inline, |(_, kind)| kind);
        if let Some(at) = self.too_deep.iter().rposition(|deep| deep.name == name) {
            self.too_deep.truncate(at);
            return;
        }
        let is_wall = |found: Kind| match kind {
            Kind::Table => false,
            Kind::Group | Kind::Row | Kind::Cell => found == Kind::Table,
            _ => is_table(found),
        };
        if let Some(at) = self.find(|open| open.name == name, is_wall) {
            self.close(at);
        }
    }

    /// The innermost open element that is sought, with no wall before it.
    fn find(
        &self,
        is_sought: impl Fn(&OpenElement) -> bool,
        is_wall: impl Fn(Kind) -> bool,
    ) -> Option<usize> {
        let at = self.open.iter().rposition(|open| is_sought(open) || is_wall(open.kind))?;
        self.open.get(at).is_some_and(is_sought).then_some(at)
    }

    /// Ends the open elements from this one on.
    fn close(&mut self, at: usize) {
        while self.open.len() > at {
            if let Some(open) = self.open.pop()
                && open.is_written
            {
                self.out.extend(["</", &*open.name, ">"]);
            }
        }
        self.too_deep.truncate(if self.open.len() < OPEN_ELEMENTS { 0 } else { usize::MAX });
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
            ("a", _) => self.find(|open| open.name == "a", is_table),
            (_, Kind::Item) => {
                self.find(|open| open.kind == Kind::Item, is_table).filter(|at| !self.has_list_after(*at))
            }
            _ => None,
        };
        let ended = ended.or_else(|| {
            let ends_paragraph = matches!(kind, Kind::Block | Kind::Item | Kind::Table) || name == "hr";
            self.find(|open| open.name == "p", is_table).filter(|_| ends_paragraph)
        });
        if let Some(at) = ended {
            self.close(at);
        }
        true
    }

    fn has_list_after(&self, at: usize) -> bool {
        self.open.iter().skip(at).any(|open| matches!(&*open.name, "ul" | "ol" | "dl"))
    }

    /// Ends what is open in the innermost such element of the innermost table.
    fn back_to(&mut self, is_home: impl Fn(Kind) -> bool) -> bool {
        match self.find(|open| is_home(open.kind), |kind| kind == Kind::Table) {
            Some(at) => {
                self.close(at + 1);
                true
            }
            None => false,
        }
    }

    /// Between the cells of a table there is no content: text there gets a cell.
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
        self.open.last().is_some_and(|open| open.kind == kind)
    }

    fn open_plain(&mut self, name: &'static str, kind: Kind) {
        let (look, written) = (self.look(), self.output_look());
        let is_written = !look.is_gone;
        if is_written {
            self.open_tag(name);
            self.out.push('>');
        }
        self.open.push(OpenElement { name: Cow::Borrowed(name), kind, look, written, is_written });
    }
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
