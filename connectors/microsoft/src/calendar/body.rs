//! Bodies of events. Graph stores a text as HTML with a stylesheet around it, and appends the block by which people join an online meeting;
//! a change of the body that leaves the block out removes the meeting's link.

use model::calendar::Event;
use serde_json::{Value, json};

use crate::calendar::native::{self, EventBody};

/// The comment in the HTML that Exchange makes of a text.
const CONVERTED: &str = "<!-- converted from text -->";
/// The beginning of the text in that HTML.
const TEXT_BEGIN: &str = "class=\"PlainText\">";
/// The line above a block to join a meeting.
const BLOCK_LINE: &str = "____________________";
/// The class and the id of the parts of a block.
const BLOCK_NAMES: [&str; 2] = ["me-email-text", "meet_invite_block"];
/// Elements that a block begins with.
const BLOCK_TAGS: [&str; 3] = ["<div", "<table", "<p"];

/// A body of an event in the model's terms.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Description {
    /// Plain text.
    pub text: Option<String>,
    /// HTML; none where the author wrote a text.
    pub html: Option<String>,
}

/// Returns what the author wrote: without Exchange's HTML around a text, and without the block to join a meeting.
pub fn description_from(theirs: &native::Event) -> Description {
    let Some(content) = theirs.body.as_ref().and_then(|body| body.content.as_deref()) else {
        return Description::default();
    };
    if !is_html(theirs.body.as_ref()) {
        return Description { text: said(content), html: None };
    }
    let own = without_block(content, theirs);
    if content.contains(CONVERTED) {
        let text = converted_text(&own).unwrap_or_else(|| mail::html::plain(&own));
        return Description { text: said(&text), html: None };
    }
    let text = said(&mail::html::plain(&own));
    let is_written = text.is_some() || own.contains("<img");
    Description { text, html: is_written.then_some(own) }
}

/// The text in the HTML that Exchange made of it, with its empty lines and indents; none where there is more than a text.
fn converted_text(html: &str) -> Option<String> {
    let (_, rest) = html.split_once(TEXT_BEGIN)?;
    let (inside, _) = rest.split_once("</div>")?;
    let source: String = inside.chars().filter(|c| !matches!(c, '\r' | '\n')).collect();
    let (mut text, mut rest) = (String::new(), source.as_str());
    while let Some((before, behind)) = rest.split_once('<') {
        text.push_str(before);
        let (tag, after) = behind.split_once('>')?;
        match tag.trim_matches('/').split([' ', '/']).next() {
            Some("br") => text.push('\n'),
            Some("a") => {}
            _ => return None,
        }
        rest = after;
    }
    text.push_str(rest);
    // The ampersand is last: `&amp;lt;` is the text `&lt;`.
    let entities =
        [("&nbsp;", " "), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    let is_known = !text.replace("&#39;", "").contains("&#");
    let unescaped = entities.iter().fold(text, |text, (entity, c)| text.replace(entity, c));
    is_known.then_some(unescaped)
}

/// Returns Graph's body for the description of an event. `before`: the event as it is at Graph, whose block to join a meeting stays.
pub fn body_to(event: &Event, is_html: bool, before: Option<&native::Event>) -> Value {
    let html = event.description_html.as_deref().filter(|_| is_html);
    let text = event.description.as_deref().unwrap_or_default();
    let link = before.and_then(native::Event::join_url);
    let is_written = link.is_some_and(|link| link_position(html.unwrap_or(text), link).is_some());
    let block = before.filter(|_| !is_written).and_then(block_of);
    match (html, block) {
        (Some(html), None) => json!({ "contentType": "html", "content": html }),
        // Null is refused: an empty text is none.
        (None, None) => json!({ "contentType": "text", "content": text }),
        (html, Some(block)) => {
            let own = html.map_or_else(|| html_of(text), |html| inner_html(html).to_owned());
            json!({ "contentType": "html", "content": format!("<html><body>{own}{block}</body></html>") })
        }
    }
}

/// Whether the description that is wanted is the one that Graph has.
pub fn is_same(event: &Event, is_html: bool, before: &native::Event) -> bool {
    let theirs = description_from(before);
    match event.description_html.as_deref().filter(|_| is_html) {
        Some(html) => theirs.html.is_some_and(|theirs| same_text(&theirs, html)),
        None => same_text(
            theirs.text.as_deref().unwrap_or_default(),
            event.description.as_deref().unwrap_or_default(),
        ),
    }
}

/// Whether two texts differ in their line ends and in the blanks around them alone.
fn same_text(one: &str, other: &str) -> bool {
    let lines = |text: &str| -> Vec<String> {
        text.trim().lines().map(|line| line.trim_end().replace('\u{a0}', " ")).collect()
    };
    lines(one) == lines(other)
}

/// The block by which people join the meeting of an event, as HTML; without marks it is the element with the link.
fn block_of(theirs: &native::Event) -> Option<&str> {
    let content = theirs.body.as_ref().filter(|body| is_html(Some(body)))?.content.as_deref()?;
    let by_link = || element_before(content, link_position(content, theirs.join_url()?)?);
    let start = block_start(content, theirs).or_else(by_link)?;
    content.get(start..body_end(content))
}

fn without_block(content: &str, theirs: &native::Event) -> String {
    match block_start(content, theirs) {
        Some(start) => {
            let (own, rest) = (content.get(..start), content.get(body_end(content)..));
            format!("{}{}", own.unwrap_or_default(), rest.unwrap_or_default())
        }
        None => content.to_owned(),
    }
}

/// The position at which the block begins, by its marks before the link to join. The marks alone may be an author's, and so may the link;
/// a line with text below it is an author's.
fn block_start(content: &str, theirs: &native::Event) -> Option<usize> {
    let before = content.get(..link_position(content, theirs.join_url()?)?)?;
    let part = BLOCK_NAMES.iter().filter_map(|name| before.find(name)).min();
    let part = part.and_then(|at| element_before(content, at));
    let line = before.rfind(BLOCK_LINE).and_then(|at| element_before(content, at));
    let is_above = |line: &usize| {
        let between = part.and_then(|part| content.get(*line..part)).unwrap_or_default();
        mail::html::plain(between).chars().all(|c| c == '_' || c.is_whitespace())
    };
    part.into_iter().chain(line.filter(is_above)).min()
}

fn link_position(content: &str, join_url: &str) -> Option<usize> {
    let escaped = join_url.replace('&', "&amp;");
    [join_url, escaped.as_str()].into_iter().filter_map(|url| content.find(url)).min()
}

/// The position at which the element begins that this position is in.
fn element_before(content: &str, at: usize) -> Option<usize> {
    let before = content.get(..at)?;
    let element = BLOCK_TAGS.iter().filter_map(|tag| before.rfind(tag)).max();
    element.or_else(|| before.rfind("<a"))
}

/// The position at which the content of the body ends.
fn body_end(content: &str) -> usize {
    content.rfind("</body>").unwrap_or(content.len())
}

/// The content of the body element of a document; of a fragment all.
fn inner_html(html: &str) -> &str {
    let start = html.find("<body").and_then(|at| Some(at + html.get(at..)?.find('>')? + 1)).unwrap_or(0);
    html.get(start..body_end(html)).unwrap_or(html)
}

/// A text as HTML.
fn html_of(text: &str) -> String {
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let lines: Vec<&str> = escaped.lines().collect();
    format!("<div>{}</div>", lines.join("<br>"))
}

fn is_html(body: Option<&EventBody>) -> bool {
    let kind = body.and_then(|body| body.content_type.as_deref());
    kind.is_none_or(|kind| kind.eq_ignore_ascii_case("html"))
}

/// A text without the blanks around it; none where there is nothing else.
fn said(text: &str) -> Option<String> {
    let text = text.replace("\r\n", "\n");
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}
