//! Bodies of events: text that is stored as HTML, HTML that is answered as text, and the block that joins a Teams meeting.

use serde_json::{Value, json};

/// Letters of `bodyPreview`.
const MAX_PREVIEW_CHARACTERS: usize = 255;
/// Text that the block with the link of a meeting begins with.
const JOIN_MARK: &str = "<div class=\"me-email-text\" itemprop=\"joinUrl\">";

/// A body as it is stored: always HTML. A text gets the page that Exchange's converter writes around it.
pub fn stored_html(content: &str, is_text: bool) -> String {
    if content.is_empty() {
        return String::new();
    }
    if is_text {
        let lines: Vec<String> = content.lines().map(escaped).collect();
        return format!(
            "<html>\r\n<head>\r\n<meta http-equiv=\"Content-Type\" content=\"text/html; charset=utf-8\">\r\n\
             <meta name=\"Generator\" content=\"Microsoft Exchange Server\">\r\n<!-- converted from text -->\r\n\
             <style><!-- .EmailQuote {{ margin-left: 1pt; padding-left: 4pt; border-left: #800000 2px solid; }} --></style>\r\n\
             </head>\r\n<body>\r\n<font size=\"2\"><span style=\"font-size:11pt;\"><div class=\"PlainText\">{}</div></span></font>\r\n\
             </body>\r\n</html>\r\n",
            lines.join("<br>\r\n")
        );
    }
    match content.to_ascii_lowercase().contains("<html") {
        true => content.to_owned(),
        false => format!(
            "<html>\r\n<head>\r\n<meta http-equiv=\"Content-Type\" content=\"text/html; charset=utf-8\">\r\n</head>\r\n\
             <body>\r\n{content}\r\n</body>\r\n</html>\r\n"
        ),
    }
}

/// The stored HTML with the block that joins a meeting.
pub fn with_join_block(html: &str, url: &str) -> String {
    let block = format!(
        "\r\n<div>________________________________________________________________________________</div>\r\n\
         {JOIN_MARK}<a href=\"{url}\">Join the meeting now</a></div>\r\n"
    );
    match html.rfind("</body>") {
        Some(at) => {
            let (before, after) = html.split_at(at);
            format!("{before}{block}{after}")
        }
        None => format!("<html>\r\n<body>\r\n{html}{block}</body>\r\n</html>\r\n"),
    }
}

/// Whether a body still has the block that joins a meeting.
pub fn has_join_block(html: &str) -> bool {
    html.contains(JOIN_MARK) || html.contains("teams.microsoft.com/l/meetup-join")
}

/// The member `body` in the form that is asked for.
pub fn shown(html: &str, as_text: bool) -> Value {
    match as_text {
        true => json!({ "contentType": "text", "content": plain(html) }),
        false => json!({ "contentType": "html", "content": html }),
    }
}

/// The member `bodyPreview`.
pub fn preview(html: &str) -> String {
    plain(html).chars().take(MAX_PREVIEW_CHARACTERS).collect()
}

fn escaped(line: &str) -> String {
    line.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The text of HTML: lines end at `<br>` and at the ends of blocks.
fn plain(html: &str) -> String {
    let mut text = String::new();
    let mut rest = html;
    while let Some((before, behind)) = rest.split_once('<') {
        push_line_text(&mut text, before);
        let skips =
            ["!--", "style", "head"].into_iter().find(|name| behind.to_ascii_lowercase().starts_with(name));
        let end = match skips {
            Some("!--") => "-->",
            Some("style") => "</style>",
            Some(_) => "</head>",
            None => ">",
        };
        let (tag, after) = behind.split_once(end).unwrap_or((behind, ""));
        let is_break = skips.is_none()
            && ["br", "/p", "/div", "/li"].iter().any(|name| tag.to_ascii_lowercase().starts_with(name));
        if is_break {
            text.push('\n');
        }
        rest = after;
    }
    push_line_text(&mut text, rest);
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&nbsp;", " ").replace("&amp;", "&");
    text.trim().replace('\n', "\r\n")
}

/// Adds text between two tags; line ends of the source are none of the text.
fn push_line_text(text: &mut String, part: &str) {
    text.extend(part.chars().filter(|c| !matches!(c, '\r' | '\n')));
}

#[cfg(test)]
mod tests {
    use super::{has_join_block, preview, shown, stored_html, with_join_block};

    #[test]
    fn a_text_is_stored_as_html_and_answered_as_it_was() {
        let html = stored_html("One & two\n<three>", true);
        assert!(html.contains("converted from text"), "{html}");
        assert!(html.contains("<style>"), "{html}");
        assert_eq!(shown(&html, false)["contentType"], "html");
        assert_eq!(shown(&html, true)["content"], "One & two\r\n<three>");
        assert_eq!(stored_html("", true), "");
    }

    #[test]
    fn preview_is_the_beginning_of_the_text() {
        let html = stored_html(&format!("<p>{}</p>", "x".repeat(300)), false);
        assert_eq!(preview(&html).len(), 255);
    }

    #[test]
    fn block_that_joins_a_meeting_is_seen_in_a_body() {
        let html = stored_html("Agenda", true);
        assert!(!has_join_block(&html));
        assert!(has_join_block(&with_join_block(&html, "https://teams.microsoft.com/l/meetup-join/1")));
        assert!(has_join_block(&with_join_block("", "https://other.test/1")));
    }
}
