//! The question before an act that cannot be undone: it names the thing and what follows.

use crate::admin::form_token::TOKEN;
use crate::admin::parts::field::hidden;
use service::locale::html::Html;

/// A question with its two answers.
pub struct ConfirmPart<'c> {
    pub title: &'c str,
    pub text: &'c str,
    /// The address that the form is sent to.
    pub action: &'c str,
    pub token: &'c str,
    /// The word on the button.
    pub button: &'c str,
    pub is_danger: bool,
    /// The address of the other answer, and its word.
    pub back: (&'c str, &'c str),
    /// Fields beside the button.
    pub fields: Html,
}

impl ConfirmPart<'_> {
    /// Adds the question.
    pub fn add_to(&self, html: &mut Html) {
        html.raw("<div class=\"head\"><h1>").text(self.title).raw("</h1></div>\n");
        if !self.text.is_empty() {
            html.element("p", self.text);
        }
        html.raw("<form class=\"form stack\" method=\"post\" action=\"").text(self.action).raw("\">");
        hidden(html, TOKEN, self.token);
        html.html(&self.fields).raw("<div class=\"actions\">");
        html.raw(if self.is_danger { "<button class=\"danger\">" } else { "<button>" });
        html.text(self.button).raw("</button><a class=\"button plain\" href=\"").text(self.back.0);
        html.raw("\">").text(self.back.1).raw("</a></div></form>\n");
    }
}
