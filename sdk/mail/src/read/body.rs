//! The parts that are the text of a message, and those that are files in it (RFC 8621 4.1.4).

use crate::read::entity::{ContentDescription, Entity};

/// Parts by their index.
#[derive(Debug, Default, PartialEq)]
pub struct BodyParts {
    /// The parts that show as text: `text/plain`, and `text/html` where an alternative has nothing else.
    pub text: Vec<usize>,
    /// The parts that show as HTML, and text where an alternative has nothing else.
    pub html: Vec<usize>,
}

/// Chooses as `parseStructure` of RFC 8621 does.
pub fn choose(entities: &[Entity]) -> BodyParts {
    let mut choice = Choice { entities, chosen: BodyParts::default() };
    choice.parts(&[0], "mixed", Want { text: true, html: true, in_alternative: false });
    choice.chosen
}

/// The lists that a part is still added to.
#[derive(Clone, Copy)]
struct Want {
    text: bool,
    html: bool,
    in_alternative: bool,
}

struct Choice<'a> {
    entities: &'a [Entity],
    chosen: BodyParts,
}

impl Choice<'_> {
    /// Recursion is as deep as multiparts are read: `limits::DEPTH`.
    fn parts(&mut self, parts: &[usize], multipart: &str, mut want: Want) {
        let before = (self.chosen.text.len(), self.chosen.html.len());
        for (position, &index) in parts.iter().enumerate() {
            let Some(entity) = self.entities.get(index) else { continue };
            if !entity.children.is_empty() {
                let subtype = entity.kind.media_type.strip_prefix("multipart/").unwrap_or("mixed");
                let in_alternative = want.in_alternative || subtype == "alternative";
                self.parts(&entity.children, subtype, Want { in_alternative, ..want });
            } else if is_shown(&entity.kind, position, multipart) {
                want = self.leaf(index, &entity.kind, multipart, want);
            }
        }
        if multipart == "alternative" && want.text && want.html {
            self.fill_in(before);
        }
    }

    fn leaf(&mut self, index: usize, kind: &ContentDescription, multipart: &str, mut want: Want) -> Want {
        let (is_text, is_html) = (is_plain(kind), kind.media_type == "text/html");
        if multipart == "alternative" {
            if is_text {
                self.chosen.text.push(index);
            } else if is_html {
                self.chosen.html.push(index);
            }
            return want;
        }
        if want.in_alternative {
            want.html &= !is_text;
            want.text &= !is_html;
        }
        if want.text {
            self.chosen.text.push(index);
        }
        if want.html {
            self.chosen.html.push(index);
        }
        want
    }

    /// An alternative with one of the two only shows it in both.
    fn fill_in(&mut self, (texts, htmls): (usize, usize)) {
        let BodyParts { text, html } = &mut self.chosen;
        if text.len() == texts && html.len() > htmls {
            text.extend(html.iter().skip(htmls).copied());
        } else if html.len() == htmls && text.len() > texts {
            html.extend(text.iter().skip(texts).copied());
        }
    }
}

/// `text/plain`, and a multipart without parts, which is text for all that anybody knows.
pub fn is_plain(kind: &ContentDescription) -> bool {
    kind.media_type == "text/plain" || kind.is_multipart()
}

/// It is part of the text that is shown, not a file beside it.
fn is_shown(kind: &ContentDescription, position: usize, multipart: &str) -> bool {
    let is_media = matches!(kind.top(), "image" | "audio" | "video");
    let is_file = kind.disposition.as_ref().is_some_and(|disposition| disposition.is_attachment());
    let can_show = is_plain(kind) || kind.media_type == "text/html" || is_media;
    let is_named = kind.parameter("name").is_some()
        || kind.disposition.as_ref().is_some_and(|d| d.has_attribute("filename"));
    !is_file && can_show && (position == 0 || multipart != "related" && (is_media || !is_named))
}
