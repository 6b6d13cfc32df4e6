//! Notes: what was done, what to heed, what failed; and the page that stands for an empty list.

use crate::admin::parts::badge::BadgeTone;
use crate::admin::parts::icon::{PanelIcon, icon};
use service::locale::html::Html;

/// Adds a note of one sentence.
pub fn note(html: &mut Html, tone: BadgeTone, text: &str) {
    let (start, shape) = match tone {
        BadgeTone::Good => ("<div class=\"note good\" role=\"status\">", PanelIcon::Check),
        BadgeTone::Warn => ("<div class=\"note warn\">", PanelIcon::Alert),
        BadgeTone::Bad => ("<div class=\"note bad\">", PanelIcon::Alert),
        BadgeTone::Neutral => ("<div class=\"note\">", PanelIcon::Clock),
    };
    html.raw(start);
    icon(html, shape);
    html.raw("<div><p>").text(text).raw("</p></div></div>\n");
}

/// Adds a warning with a strong beginning.
pub fn warning(html: &mut Html, strong: &str, text: &str) {
    html.raw("<div class=\"note warn\">");
    icon(html, PanelIcon::Alert);
    html.raw("<div><p><strong>").text(strong).raw("</strong> ").text(text).raw("</p></div></div>\n");
}

/// Adds a fault of the page as a whole, which gets the focus.
pub fn alert(html: &mut Html, text: &str) {
    html.raw("<div class=\"note bad\" role=\"alert\">");
    icon(html, PanelIcon::Alert);
    html.raw("<div><p>").text(text).raw("</p></div></div>\n");
}

/// Adds what stands in place of a list without rows: what it would hold, why one wants it, and one button.
pub fn empty(html: &mut Html, shape: PanelIcon, [title, text]: [&str; 2], button: Option<(&str, &str)>) {
    html.raw("<div class=\"box\"><div class=\"empty\"><span class=\"seal\">");
    icon(html, shape);
    html.raw("</span>").element("h2", title).element("p", text);
    if let Some((href, word)) = button {
        html.raw("<a class=\"button\" href=\"").text(href).raw("\">").text(word).raw("</a>");
    }
    html.raw("</div></div>\n");
}
