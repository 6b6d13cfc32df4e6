//! `/apps/{a}/requests/{r}/bodies`: the bodies of a logged request, with the field at fault. That they were seen is in the audit log, so it is a
//! form that shows them and no link.

use base::error::Result;
use serde_json::Value;
use service::locale::html::Html;
use service::manage::request_log::{self, RequestBodies};
use storage::request_log::RequestEntry;

use crate::admin::pages::request::{found, page};
use crate::admin::texts::fill;
use crate::admin::view::View;
use crate::admin::visit::Visit;

/// Levels of a body that are shown.
const MAX_DEPTH: usize = 32;

/// The page with the bodies.
pub async fn show(visit: &Visit) -> Result<View> {
    let (t, entry) = (visit.texts.requests, found(visit).await?);
    let seen = request_log::see_bodies(&visit.app, visit.actor()?, visit.tenant()?, &entry.id).await?;
    let mut section = Html::default();
    match seen {
        Some(bodies) => add_bodies(visit, &entry, &bodies, &mut section),
        None => {
            section.raw("<p class=\"soft\">").text(t.bodies_gone).raw("</p>");
        }
    }
    Ok(page(visit, &entry, &section).await?.with_secret().into())
}

fn add_bodies(visit: &Visit, entry: &RequestEntry, bodies: &RequestBodies, html: &mut Html) {
    let t = visit.texts.requests;
    html.raw("<p class=\"soft\">").text(if bodies.is_full { t.full_note } else { t.shape_note }).raw("</p>");
    let fault = entry.error_param.as_deref();
    for (title, body, fault) in [(t.sent, &bodies.request, fault), (t.answered, &bodies.response, None)] {
        html.element("h3", title);
        match body {
            Some(body) => add_body(visit, body, fault, html),
            None => {
                html.raw("<p class=\"soft\">").text(t.no_body).raw("</p>");
            }
        }
    }
}

/// Adds a body, in which the field at fault is marked.
fn add_body(visit: &Visit, body: &Value, fault: Option<&str>, html: &mut Html) {
    let t = visit.texts.requests;
    let mut tree = BodyTree { fault, word: t.at_fault, is_marked: false, html: Html::default() };
    tree.add(body, "", 0);
    if let Some(param) = fault.filter(|_| !tree.is_marked) {
        html.element("p", &fill(t.fault_missing, &[("param", param)]));
    }
    html.raw("<div class=\"shape\">").html(&tree.html).raw("</div>\n");
}

/// A JSON value as nested lists.
struct BodyTree<'b> {
    /// The path of the field at fault, as errors name it: `to[0].email`.
    fault: Option<&'b str>,
    word: &'b str,
    is_marked: bool,
    html: Html,
}

impl BodyTree<'_> {
    /// Adds a value, whose path is `path`.
    fn add(&mut self, value: &Value, path: &str, depth: usize) {
        match value {
            Value::Object(_) | Value::Array(_) if depth >= MAX_DEPTH => {
                self.html.raw("…");
            }
            Value::Object(fields) if fields.is_empty() => {
                self.html.raw("{}");
            }
            Value::Array(items) if items.is_empty() => {
                self.html.raw("[]");
            }
            Value::Object(fields) => {
                self.html.raw("<ul>");
                for (name, value) in fields {
                    let inner = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                    self.entry(name, value, &inner, depth);
                }
                self.html.raw("</ul>");
            }
            Value::Array(items) => {
                self.html.raw("<ul>");
                for (place, value) in items.iter().enumerate() {
                    self.entry(&format!("[{place}]"), value, &format!("{path}[{place}]"), depth);
                }
                self.html.raw("</ul>");
            }
            Value::String(text) => {
                self.html.raw("<bdi>").text(text).raw("</bdi>");
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {
                self.html.text(&value.to_string());
            }
        }
    }

    /// Adds a field or an item.
    fn entry(&mut self, name: &str, value: &Value, path: &str, depth: usize) {
        let is_at_fault = self.fault == Some(path);
        self.html.raw("<li>");
        if is_at_fault {
            self.is_marked = true;
            self.html.raw("<mark>").text(name).raw("</mark> <strong>(").text(self.word).raw(")</strong>: ");
        } else {
            self.html.raw("<span class=\"soft\">").text(name).raw("</span>: ");
        }
        self.add(value, path, depth + 1);
        self.html.raw("</li>");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(body: &Value, fault: &str) -> (String, bool) {
        let mut tree =
            BodyTree { fault: Some(fault), word: "at fault", is_marked: false, html: Html::default() };
        tree.add(body, "", 0);
        (tree.html.as_str().to_owned(), tree.is_marked)
    }

    #[test]
    fn the_field_at_fault_is_marked_and_all_is_text() {
        let body = serde_json::json!({
            "to": [{ "email": "‹17 characters›" }, { "email": "<script>" }],
            "count": 2, "on": true, "none": null, "empty": {},
        });
        let (html, is_marked) = tree(&body, "to[1].email");
        assert!(is_marked && html.matches("<mark>").count() == 1, "{html}");
        assert!(
            html.contains("<mark>email</mark> <strong>(at fault)</strong>: <bdi>&lt;script&gt;"),
            "{html}"
        );
        assert!(!tree(&body, "to[2].email").1);
    }

    #[test]
    fn a_deep_body_ends() {
        let mut body = Value::Null;
        for _ in 0..100 {
            body = Value::Array(vec![body]);
        }
        let (html, _) = tree(&body, "none");
        assert_eq!(html.matches("<ul>").count(), MAX_DEPTH, "{html}");
        assert_eq!(html.matches("<li>").count(), html.matches("</li>").count());
    }
}
