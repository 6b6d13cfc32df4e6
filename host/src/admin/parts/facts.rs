//! Facts of one thing: terms and values.

use crate::admin::parts::icon::{PanelIcon, icon};
use service::locale::html::Html;

/// A list of facts.
#[derive(Default)]
pub struct Facts(Html);

impl Facts {
    /// Adds a fact whose value is text.
    pub fn text(&mut self, shape: Option<PanelIcon>, term: &str, value: &str) -> &mut Facts {
        let mut html = Html::default();
        html.raw("<bdi>").text(value).raw("</bdi>");
        self.html(shape, term, &html)
    }

    /// Adds a fact whose value is an id or another text that is written from left to right.
    pub fn id(&mut self, term: &str, value: &str) -> &mut Facts {
        let mut html = Html::default();
        html.raw("<span class=\"id\" dir=\"ltr\">").text(value).raw("</span>");
        self.html(None, term, &html)
    }

    /// Adds a fact whose value was put together before.
    pub fn html(&mut self, shape: Option<PanelIcon>, term: &str, value: &Html) -> &mut Facts {
        self.0.raw("<div><dt>");
        if let Some(shape) = shape {
            icon(&mut self.0, shape);
        }
        self.0.raw("<span>").text(term).raw("</span></dt><dd>").html(value).raw("</dd></div>\n");
        self
    }

    /// Adds the facts to a page.
    pub fn add_to(&self, html: &mut Html) {
        html.raw("<dl class=\"facts\">").html(&self.0).raw("</dl>\n");
    }
}
