//! Pages of a list: its beginning, and the page after this one.

use crate::admin::texts::FrameTexts;
use service::locale::html::Html;

/// Rows of one page of a list.
pub const PAGE_ROWS: i64 = 50;

/// Adds the ways to other pages. `path` is the list's own address, `next` the cursor of the page after this one, `is_first` whether this is the
/// beginning.
pub fn pager(html: &mut Html, texts: &FrameTexts, path: &str, is_first: bool, next: Option<&str>) {
    if is_first && next.is_none() {
        return;
    }
    html.raw("<nav class=\"pager\" aria-label=\"").text(texts.more).raw("\">");
    if !is_first {
        html.raw("<a class=\"button plain\" href=\"").text(path).raw("\">").text(texts.start).raw("</a>");
    }
    if let Some(cursor) = next {
        html.raw("<a class=\"button plain\" rel=\"next\" href=\"").text(path);
        html.raw(if path.contains('?') { "&amp;cursor=" } else { "?cursor=" }).text(cursor);
        html.raw("\">").text(texts.older).raw("</a>");
    }
    html.raw("</nav>\n");
}
