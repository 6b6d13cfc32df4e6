//! QR codes as drawings, by attributes alone: the policy of the pages admits no styles in elements.

use service::locale::html::Html;

/// Adds a drawing of `side` × `side` modules. `path` is its dark modules as the `d` of a path.
pub fn qr(html: &mut Html, side: usize, path: &str, label: &str) {
    html.raw("<svg class=\"qr\" role=\"img\" aria-label=\"").text(label).raw("\" viewBox=\"0 0 ");
    html.text(&format!("{side} {side}")).raw("\"><path d=\"").text(path).raw("\"/></svg>\n");
}
