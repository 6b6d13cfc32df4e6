//! Bodies as Graph answers them: HTML or text, each made of the other where it is missing, and HTML without what is active in it.

use crate::graph::mail::content::MailContent;

/// Elements that a sanitised body has not, with all that is in them.
const ACTIVE_ELEMENTS: [&str; 5] = ["script", "iframe", "object", "applet", "form"];

/// The form of a body that a request asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BodyForm {
    pub is_text: bool,
    /// HTML as it is in the message.
    pub is_unsafe: bool,
}

/// The content of a body in the form.
pub fn body_of(content: &MailContent, form: BodyForm) -> String {
    if form.is_text {
        return content.plain_text();
    }
    let html = match (&content.html, &content.text) {
        (Some(html), _) => html.clone(),
        (None, Some(text)) => format!(
            "<html><head></head><body>\r\n<div class=\"PlainText\">{}</div>\r\n</body></html>",
            escaped(text).replace("\r\n", "<br>\r\n")
        ),
        (None, None) => String::new(),
    };
    if form.is_unsafe || html.is_empty() { html } else { sanitised(&html) }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// HTML without active elements, comments and handlers of events, with the tag of its charset.
pub fn sanitised(html: &str) -> String {
    let mut clean = String::with_capacity(html.len());
    let mut rest = html;
    while let Some((before, from)) = rest.split_once('<') {
        clean.push_str(before);
        if let Some(comment) = from.strip_prefix("!--") {
            rest = comment.split_once("-->").map_or("", |(_, after)| after);
            continue;
        }
        let Some((tag, after)) = from.split_once('>') else {
            rest = "";
            break;
        };
        let name =
            tag.split(|c: char| c.is_whitespace() || c == '/').next().unwrap_or_default().to_lowercase();
        rest = after;
        if ACTIVE_ELEMENTS.contains(&name.as_str()) {
            rest = behind_end(after, &name);
            continue;
        }
        if ACTIVE_ELEMENTS.contains(&tag.trim_start_matches('/').to_lowercase().as_str()) {
            continue;
        }
        clean.push('<');
        clean.push_str(&without_handlers(tag));
        clean.push('>');
        if name == "head" {
            clean.push_str("\r\n<meta http-equiv=\"Content-Type\" content=\"text/html; charset=utf-8\">");
        }
    }
    clean.push_str(rest);
    clean
}

/// Everything behind the end tag of an element.
fn behind_end<'h>(text: &'h str, name: &str) -> &'h str {
    let end = format!("</{name}");
    let at = text.to_ascii_lowercase().find(&end);
    let after = at.and_then(|at| text.get(at..)).and_then(|from| from.split_once('>'));
    after.map_or("", |(_, after)| after)
}

/// A tag without attributes such as `onclick`, and without script addresses.
fn without_handlers(tag: &str) -> String {
    let is_active = |word: &str| {
        let word = word.to_ascii_lowercase();
        (word.starts_with("on") && word.contains('='))
            || word.contains("=\"javascript:")
            || word.contains("='javascript:")
    };
    let mut kept: Vec<&str> = Vec::new();
    let mut is_within = None;
    for word in tag.split(' ') {
        // The value of a handler may have spaces: it ends with its quote.
        if let Some(quote) = is_within {
            is_within = (!word.ends_with(quote)).then_some(quote);
            continue;
        }
        if !is_active(word) {
            kept.push(word);
            continue;
        }
        let quote = word.chars().find(|c| *c == '"' || *c == '\'');
        is_within = quote.filter(|quote| word.matches(*quote).count() < 2);
    }
    kept.join(" ")
}

#[cfg(test)]
mod tests {
    use super::{BodyForm, body_of, sanitised};
    use crate::graph::mail::content::MailContent;

    #[test]
    fn a_body_loses_what_is_active_in_it() {
        let html = "<head></head><p onclick=\"a b()\" class=\"x\">One<script>alert('<p>')</script><!-- c --></p>\
                    <a href=\"javascript:x\">two</a><img src=\"cid:1\">";
        assert_eq!(
            sanitised(html),
            "<head>\r\n<meta http-equiv=\"Content-Type\" content=\"text/html; charset=utf-8\"></head><p class=\"x\">One</p>\
             <a>two</a><img src=\"cid:1\">"
        );
    }

    #[test]
    fn each_form_is_made_of_the_other() {
        let content = MailContent::parse(b"Subject: x\r\n\r\n1 < 2\r\nnext\r\n");
        let html = body_of(&content, BodyForm::default());
        assert!(html.contains("1 &lt; 2<br>\r\nnext"), "{html}");
        let content = MailContent::parse(b"Content-Type: text/html\r\n\r\n<p>One</p><script>x</script>");
        assert_eq!(body_of(&content, BodyForm { is_text: true, is_unsafe: false }).trim(), "One");
        let whole = body_of(&content, BodyForm { is_text: false, is_unsafe: true });
        assert!(whole.contains("<script>"), "{whole}");
    }
}
