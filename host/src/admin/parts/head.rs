//! The part above a page's body: the way to it, its heading, and its one main button.

use service::locale::html::Html;

/// Adds the heading, with a link as the page's main button where there is one: address and word.
pub fn head(html: &mut Html, title: &str, button: Option<(&str, &str)>) {
    html.raw("<div class=\"head\"><h1><bdi>").text(title).raw("</bdi></h1>");
    if let Some((href, word)) = button {
        html.raw("<a class=\"button\" href=\"").text(href).raw("\">").text(word).raw("</a>");
    }
    html.raw("</div>\n");
}

/// Adds the way to the page: links with their words, and the page's own name.
pub fn trail(html: &mut Html, links: &[(&str, &str)], own: &str) {
    html.raw("<ol class=\"trail\">");
    for (href, word) in links {
        html.raw("<li><a href=\"").text(href).raw("\"><bdi>").text(word).raw("</bdi></a></li>");
    }
    html.raw("<li><bdi>").text(own).raw("</bdi></li></ol>\n");
}

/// A name as lists show it: at most 80 characters.
pub fn short_name(name: &str) -> String {
    let mut cut: String = name.chars().take(MAX_NAME).collect();
    if name.chars().nth(MAX_NAME).is_some() {
        cut.push('…');
    }
    cut
}

/// Characters of a name that lists show.
const MAX_NAME: usize = 80;

#[cfg(test)]
mod tests {
    use super::short_name;

    #[test]
    fn a_long_name_is_cut_between_characters() {
        assert_eq!(short_name("Server"), "Server");
        assert_eq!(short_name(&"é".repeat(80)), "é".repeat(80));
        assert_eq!(short_name(&"é".repeat(81)), format!("{}…", "é".repeat(80)));
    }
}
