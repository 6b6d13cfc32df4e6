//! Text to be copied: a key, a line for a terminal, a link.

use crate::admin::parts::icon::{PanelIcon, icon};
use crate::admin::texts::FrameTexts;
use service::locale::html::Html;

/// Adds text with a button that copies it; without a script there is no button.
pub fn code(html: &mut Html, texts: &FrameTexts, text: &str, label: &str) {
    block(html, texts, "<div class=\"code\">", text, label);
}

/// Adds a secret with a button that copies it.
pub fn secret(html: &mut Html, texts: &FrameTexts, text: &str, label: &str) {
    block(html, texts, "<div class=\"code secret\">", text, label);
}

fn block(html: &mut Html, texts: &FrameTexts, start: &'static str, text: &str, label: &str) {
    html.raw(start).raw("<pre tabindex=\"0\" dir=\"ltr\">").text(text).raw("</pre>");
    html.raw("<button type=\"button\" class=\"plain small\" hidden data-copied=\"").text(texts.copied);
    html.raw("\">");
    icon(html, PanelIcon::Copy);
    html.raw("<span>").text(label).raw("</span></button></div>\n");
}

/// An argument of a command in a POSIX shell, in single quotes.
pub fn quoted(argument: &str) -> String {
    format!("'{}'", argument.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn nothing_in_an_argument_ends_its_quotes() {
        assert_eq!(quoted("https://a.example/?q=$(x)"), "'https://a.example/?q=$(x)'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
    }
}
