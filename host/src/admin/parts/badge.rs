//! States, told by a shape, a word and a colour.

use crate::admin::parts::icon::{PanelIcon, icon};
use service::locale::html::Html;

/// How a state is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadgeTone {
    Good,
    Warn,
    Bad,
    Neutral,
}

/// Adds a state.
pub fn badge(html: &mut Html, tone: BadgeTone, shape: PanelIcon, word: &str) {
    let class = match tone {
        BadgeTone::Good => "<span class=\"badge good\">",
        BadgeTone::Warn => "<span class=\"badge warn\">",
        BadgeTone::Bad => "<span class=\"badge bad\">",
        BadgeTone::Neutral => "<span class=\"badge\">",
    };
    html.raw(class);
    icon(html, shape);
    html.text(word).raw("</span>");
}
