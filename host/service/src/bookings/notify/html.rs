//! Renders a message as HTML for mail programs: no tables, no images, nothing that is loaded, and inline styles. One `style` element has
//! the dark colours and the wide buttons of phones; the message is readable without it.

use crate::bookings::brand::MailColors;
use crate::bookings::notify::content::{
    ButtonWeight, FactLine, MessageButton, MessageFact, MessageLink, NoticeContent, one_line,
};
use crate::locale::Language;
use crate::locale::html::Html;

const HEAD: &str = concat!(
    "\">\n<head>\n<meta charset=\"utf-8\">\n",
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n",
    "<meta name=\"color-scheme\" content=\"light dark\">\n",
    "<meta name=\"supported-color-schemes\" content=\"light dark\">\n",
);
const STYLE: &str = concat!(
    "<style>\n:root{color-scheme:light dark;supported-color-schemes:light dark}\n",
    "@media (prefers-color-scheme:dark){.m-ground{background:#0e1115!important}",
    ".m-card{background:#161a20!important;border-color:#2a3039!important}",
    ".m-text{color:#eceff3!important}.m-soft{color:#a6afbb!important}.m-link{color:",
);
const STYLE_END: &str = concat!(
    "!important}",
    ".m-bad{background:#161a20!important;color:#ff978e!important;border-color:#ff978e!important}",
    ".m-line{border-color:#2a3039!important}}\n",
    "@media (max-width:480px){.m-button{display:block!important;margin-right:0!important;",
    "margin-left:0!important}}\n",
    "</style>\n</head>\n<body class=\"m-ground\" style=\"margin:0;padding:0;background:#f5f6f8\">\n",
);
const ARTICLE: &str = concat!(
    "\" class=\"m-ground m-text\" style=\"background:#f5f6f8;padding:24px 12px;",
    "font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;",
    "font-size:16px;line-height:24px;color:#12161c\">\n",
    "<div style=\"display:none;font-size:1px;line-height:1px;max-height:0;overflow:hidden\">",
);
/// Word's engine, which does not support `max-width`, takes the width of a box around the card.
const CARD: &str = concat!(
    "</div>\n<!--[if mso]><div style=\"width:560px\"><![endif]-->\n",
    "<div class=\"m-card\" style=\"max-width:560px;margin:0 auto;background:#ffffff;",
    "border:1px solid #e3e6eb;border-radius:12px;padding:32px 28px\">\n",
    "<p class=\"m-soft\" style=\"margin:0 0 8px;font-size:14px;color:#565f6b\">",
);
const END: &str = "</div>\n<!--[if mso]></div><![endif]-->\n</div>\n</body>\n</html>\n";
const HEADING: &str = concat!(
    "</p>\n<h1 class=\"m-text\" style=\"margin:0 0 24px;font-size:22px;line-height:28px;",
    "font-weight:600;color:#12161c\">",
);
const PARAGRAPH: &str = "<p class=\"m-text\" style=\"margin:0 0 14px\">";
const LABEL: &str = "<span class=\"m-soft\" style=\"color:#565f6b;font-size:14px\">";
const QUOTE: &str = concat!(
    "<blockquote class=\"m-line\" dir=\"auto\" style=\"margin:0 0 14px;padding:0 12px;",
    "border:solid #e3e6eb;border-width:0 2px\">",
);
const SMALL: &str = concat!(
    "<p class=\"m-soft m-line\" style=\"margin:20px 0 14px;padding:20px 0 0;border-top:1px solid #e3e6eb;",
    "font-size:14px;line-height:22px;color:#565f6b\">",
);
const PLAIN: &str = concat!(
    "<a class=\"m-button m-card m-text\" style=\"background:#ffffff;color:#12161c;",
    "border:1px solid #848c98;",
);
const DANGER: &str =
    "<a class=\"m-button m-bad\" style=\"background:#ffffff;color:#b3261e;border:1px solid #b3261e;";
const BUTTON: &str = concat!(
    "display:inline-block;border-radius:10px;padding:12px 22px;margin:0 4px 12px;font-size:16px;",
    "line-height:20px;font-weight:600;text-align:center;text-decoration:none;mso-padding-alt:0\" href=\"",
);
/// Word ignores the padding of a link: blanks of a given width and raised text form the button's area.
const BUTTON_TEXT: &str = concat!(
    "\"><!--[if mso]><i style=\"mso-font-width:200%;mso-text-raise:20pt\" hidden>&emsp;</i>",
    "<span style=\"mso-text-raise:10pt\"><![endif]-->",
);
const BUTTON_END: &str =
    "<!--[if mso]></span><i style=\"mso-font-width:200%\" hidden>&emsp;&#8203;</i><![endif]--></a>";

/// The HTML of a message. `what` labels the title if that is not the heading.
pub fn render(content: &NoticeContent, what: &str, subject: &str) -> Html {
    let colors = &content.colors;
    let heading = if content.asks { &content.sentence } else { &content.title };
    let mut html = Html::default();
    html.raw("<!doctype html>\n<html lang=\"");
    push_language(&mut html, content.language);
    html.raw(HEAD).element("title", subject).raw(STYLE).text(&content.colors.link_on_dark).raw(STYLE_END);
    html.raw("<div role=\"article\" aria-roledescription=\"email\" aria-label=\"").text(subject);
    html.raw("\" lang=\"");
    push_language(&mut html, content.language);
    html.raw(ARTICLE).text(&content.preview).raw(CARD).text(content.state);
    html.raw(HEADING).raw("<bdi>").text(&one_line(heading)).raw("</bdi></h1>\n");
    if content.asks {
        html.html(&fact(&MessageFact::new(what, [content.title.clone()]), colors));
    } else {
        html.raw(PARAGRAPH).text(&one_line(&content.sentence)).raw("</p>\n");
    }
    for one in &content.facts {
        html.html(&fact(one, colors));
    }
    html.html(&buttons(&content.buttons, colors));
    html.html(&remarks(&content.remarks));
    for one in &content.words {
        html.html(&fact(one, colors));
    }
    html.html(&small_print(content)).raw(END);
    html
}

fn push_language(html: &mut Html, language: Language) {
    html.text(language.tag()).raw(if language.is_right_to_left() { "\" dir=\"rtl" } else { "\" dir=\"ltr" });
}

/// A label, and the lines below it.
fn fact(fact: &MessageFact, colors: &MailColors) -> Html {
    let mut html = Html::default();
    html.raw(PARAGRAPH).raw(LABEL).raw("<bdi>").text(&one_line(&fact.label)).raw("</bdi></span>");
    html.raw(if fact.is_quoted { "</p>\n" } else { "" }).raw(if fact.is_quoted { QUOTE } else { "" });
    for (number, line) in fact.lines.iter().enumerate() {
        if number > 0 || !fact.is_quoted {
            html.raw("<br>\n");
        }
        html.html(&fact_line(line, colors));
    }
    html.raw(if fact.is_quoted { "</blockquote>\n" } else { "</p>\n" });
    html
}

fn fact_line(line: &FactLine, colors: &MailColors) -> Html {
    let mut html = Html::default();
    match &line.url {
        Some(url) => html.html(&link(url, &line.text, colors)),
        None => html.raw("<bdi>").text(&line.text).raw("</bdi>"),
    };
    html
}

fn buttons(buttons: &[MessageButton], colors: &MailColors) -> Html {
    let mut html = Html::default();
    if buttons.is_empty() {
        return html;
    }
    html.raw("<p style=\"margin:28px -4px 4px\">");
    for MessageButton { label, url, weight } in buttons {
        match weight {
            ButtonWeight::Main => {
                html.raw("<a class=\"m-button\" style=\"background:").text(&colors.fill).raw(";color:");
                html.text(&colors.on_fill).raw(";border:1px solid ").text(&colors.link).raw(";")
            }
            ButtonWeight::Plain => html.raw(PLAIN),
            ButtonWeight::Danger => html.raw(DANGER),
        };
        html.raw(BUTTON).text(url).raw(BUTTON_TEXT).text(label).raw(BUTTON_END);
    }
    html.raw("</p>\n");
    html
}

/// Sentences about the buttons.
fn remarks(remarks: &[String]) -> Html {
    let mut html = Html::default();
    if remarks.is_empty() {
        return html;
    }
    html.raw(SMALL);
    for (number, remark) in remarks.iter().enumerate() {
        html.raw(if number > 0 { "<br>\n" } else { "" }).text(remark);
    }
    html.raw("</p>\n");
    html
}

/// The ways to change the booking.
fn small_print(content: &NoticeContent) -> Html {
    let mut html = Html::default();
    if content.links.is_empty() {
        return html;
    }
    html.raw(SMALL);
    for (number, MessageLink { label, url }) in content.links.iter().enumerate() {
        html.raw(if number > 0 { " · " } else { "" }).html(&link(url, label, &content.colors));
    }
    if let Some(deadline) = &content.deadline {
        html.raw("<br>\n").text(deadline);
    }
    html.raw("</p>\n");
    html
}

fn link(url: &str, text: &str, colors: &MailColors) -> Html {
    let mut html = Html::default();
    html.raw("<a class=\"m-link\" style=\"color:").text(&colors.link).raw("\" href=\"").text(url);
    // An address as text keeps its order between words of other scripts.
    html.raw(if text == url || text.contains('@') { "\" dir=\"ltr\">" } else { "\">" });
    html.text(text).raw("</a>");
    html
}
