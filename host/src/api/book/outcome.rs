//! Parts of the pages that show a booking's status: the seal over its heading, the badge, the box with the facts, and the note with the
//! reason why a form was not accepted.

use crate::api::book::about;
use crate::api::book::booked::BookedEvent;
use crate::api::book::icon::{PageIcon, icon};
use crate::api::book::layout::{HtmlPage, SheetShape};
use service::locale::html::Html;

/// The colour of a seal or a badge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Plain,
    Good,
    Warn,
}

/// The page of a booking, with the event type's image over its content.
pub fn page(title: &str, content: &Html, booked: &BookedEvent) -> HtmlPage {
    let mut html = Html::default();
    html.raw("<div class=\"stack wide\">\n");
    if let Some(event_type) = &booked.event_type {
        html.html(&about::logo(event_type));
    }
    html.html(content).raw("</div>\n");
    let page = HtmlPage::new(title, html).shaped(SheetShape::One);
    match &booked.event_type {
        Some(event_type) => page.with_event_type(event_type),
        None => page,
    }
}

/// The seal, the page's heading and a sentence.
pub fn sealed(tone: Tone, drawing: PageIcon, title: &str, sentence: &Html) -> Html {
    let mut html = Html::default();
    html.raw("<div class=\"outcome\">").raw(match tone {
        Tone::Plain => "<span class=\"seal\">",
        Tone::Good => "<span class=\"seal good\">",
        Tone::Warn => "<span class=\"seal warn\">",
    });
    html.html(&icon(drawing)).raw("</span><h1>").text(title).raw("</h1>");
    if !sentence.as_str().is_empty() {
        html.raw("<p class=\"soft\">").html(sentence).raw("</p>");
    }
    html.raw("</div>\n");
    html
}

/// The badge, and the page's heading.
pub fn badged(tone: Tone, drawing: PageIcon, word: &str, heading: &Html) -> Html {
    let mut html = Html::default();
    html.raw("<div class=\"stack\"><p>").raw(match tone {
        Tone::Plain => "<span class=\"badge\">",
        Tone::Good => "<span class=\"badge good\">",
        Tone::Warn => "<span class=\"badge warn\">",
    });
    html.html(&icon(drawing)).text(word).raw("</span></p><h1 dir=\"auto\">").html(heading);
    html.raw("</h1></div>\n");
    html
}

/// The page's heading and a sentence, without a seal.
pub fn headed(title: &str, sentence: &str) -> Html {
    let mut html = Html::default();
    html.raw("<div class=\"stack\"><h1>").text(title).raw("</h1>");
    if !sentence.is_empty() {
        html.raw("<p class=\"soft\">").text(sentence).raw("</p>");
    }
    html.raw("</div>\n");
    html
}

/// The facts of a booking in a box, below the booking's name unless that is the page's heading.
pub fn boxed(name: Option<&str>, facts: &Html) -> Html {
    let mut html = Html::default();
    html.raw("<div class=\"box stack\">");
    if let Some(name) = name {
        html.raw("<h2 dir=\"auto\">").text(name).raw("</h2>");
    }
    html.html(facts).raw("</div>\n");
    html
}

/// The note with the reason why nothing was changed. It has the focus when the page opens.
pub fn fault_note(title: &str, text: &str) -> Html {
    let mut html = Html::default();
    html.raw("<div class=\"note bad\" role=\"alert\" tabindex=\"-1\" autofocus>")
        .html(&icon(PageIcon::Alert));
    html.raw("<div>").element("h2", title).element("p", text).raw("</div></div>\n");
    html
}

/// A field for a reason that another person reads. `read_by` follows its label.
pub fn reason_field(label: &str, read_by: &str, typed: &str) -> Html {
    let mut html = Html::default();
    html.raw("<div class=\"field\"><label for=\"reason\">").text(label);
    html.raw(" <span class=\"optional\">").text(read_by).raw("</span></label>\n");
    // A browser drops the first line feed.
    html.raw("<textarea id=\"reason\" name=\"reason\" rows=\"4\" maxlength=\"2000\" autocomplete=\"off\" dir=\"auto\">\n");
    html.text(typed).raw("</textarea></div>\n");
    html
}
