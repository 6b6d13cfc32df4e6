//! HTML rewritten as a well-formed tree of bounded depth and size, of known elements and attributes alone, without what its writer hid.
//!
//! A parser that reads it needs none of the standard's repairs: every element is closed, in order; rows are in tables and all else is in
//! their cells; paragraphs, items and links do not nest.

use std::borrow::Cow;

use crate::characters::is_ignorable;
use crate::html::attribute::{write_attribute, write_source};
use crate::html::look::Look;
use crate::html::options::{DEPTH, OUTPUT_BYTES, Safe};
use crate::html::references::{decoded, escaped};
use crate::html::sheet::Sheet;
use crate::html::tags::{Kind, READ, has_content, tag};
use crate::html::token::{Attributes, Token, Tokens};

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

/// The HTML, tidied.
pub fn tidy(html: &str, options: &Safe<'_>) -> String {
    Tree::from_html(html, options, Look::default()).out
}

/// The HTML that a reader sees, for texts that are derived from it.
pub fn visible_html(html: &str) -> String {
    tidy(html, &Safe::default()).replace(BREAK, "")
}

/// HTML as a person sees it.
pub struct VisibleHtml {
    pub html: String,
    /// Characters of text that were left out, without blanks.
    pub hidden: usize,
    /// The HTML has more than is written of it.
    pub is_cut: bool,
}

/// The HTML that a person sees, without text in the colour of its background either.
pub fn seen_html(html: &str) -> VisibleHtml {
    let tree = Tree::from_html(html, &Safe::default(), Look::page());
    VisibleHtml { html: tree.out.replace(BREAK, ""), hidden: tree.hidden, is_cut: tree.is_cut }
}

#[derive(Default)]
struct Tree {
    out: String,
    open: Vec<OpenElement>,
    /// Elements that are too deep: their end tags are not written either.
    too_deep: Vec<DeepElement>,
    /// The look of the page.
    page: Look,
    /// Bytes that others will add.
    added: usize,
    /// Bytes of text since the last break.
    unbroken: usize,
    /// Characters of text that is not seen, without blanks.
    hidden: usize,
    is_cut: bool,
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
    fn from_html(html: &str, options: &Safe<'_>, page: Look) -> Tree {
        let mut sheet = Sheet::from_html(html);
        let mut tree = Tree { out: String::with_capacity(html.len()), page, ..Tree::default() };
        for token in Tokens::new(html) {
            match token {
                Token::Text(text) => tree.text(text),
                Token::LessThan => tree.text("&lt;"),
                Token::Start(name, attributes) => tree.start(&name, &attributes, &mut sheet, options),
                Token::End(name) => tree.end(&name),
                Token::Style(..) => (),
            }
            if tree.out.len() + tree.added > OUTPUT_BYTES {
                tree.is_cut = true;
                break;
            }
        }
        tree.close(0);
        tree
    }

    /// The look of the innermost element.
    fn look(&self) -> Look {
        let innermost = self.too_deep.last().filter(|deep| deep.depth >= self.open.len());
        innermost
            .map(|deep| deep.look)
            .or_else(|| self.open.last().map(|open| open.look))
            .unwrap_or(self.page)
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
            let is_seen = |c: &char| !c.is_whitespace() && !is_ignorable(*c);
            self.hidden += decoded(text).chars().filter(is_seen).count();
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
        if matches!(name, "html" | "body") && self.open.is_empty() {
            self.page = self.page.with_root(look);
        }
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
                ("img", "src") => write_source(&mut self.out, value, options),
                (_, "src") => (),
                (_, "style") if !keeps_style => (),
                (_, attribute) if READ.contains(&attribute) => (),
                (_, attribute) => write_attribute(&mut self.out, attribute, "", value),
            }
        }
        self.out.push('>');
        self.added += if name == "a" { LINK_BYTES } else { 0 };
    }

    fn open_tag(&mut self, name: &str) {
        self.out.push('<');
        self.out.push_str(name);
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
