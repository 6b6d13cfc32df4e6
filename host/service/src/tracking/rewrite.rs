//! Inserts links through this service, and the image that reports that a message is shown.

use std::cell::RefCell;

use anyhow::{Context, Result};
use lol_html::html_content::ContentType;
use lol_html::{HtmlRewriter, Settings, element};

/// The tracking to insert into the HTML.
pub struct TrackingInsertions {
    pub links: bool,
    /// The URL of the image.
    pub pixel: Option<String>,
}

/// Returns the HTML with the insertions, and the original URLs of its links. Every other byte is unchanged.
pub fn rewrite(
    html: &str,
    wanted: &TrackingInsertions,
    untouched: &[String],
    url: impl Fn(usize) -> String,
) -> Result<(String, Vec<String>)> {
    let found: RefCell<Vec<String>> = RefCell::default();
    let mut out = Vec::with_capacity(html.len() + 1024);
    let is_in_body = RefCell::new(false);
    let pixel = wanted.pixel.as_ref().map(|url| {
        format!("<img src=\"{url}\" width=\"1\" height=\"1\" alt=\"\" style=\"display:block;border:0\">")
    });
    let links = element!("a[href], area[href]", |link| {
        let Some(href) = link.get_attribute("href").filter(|_| wanted.links) else { return Ok(()) };
        let href = decode_references(href.trim());
        if is_tracked(&href, untouched) {
            let mut found = found.borrow_mut();
            link.set_attribute("href", &url(found.len()))?;
            found.push(href);
        }
        Ok(())
    });
    let end = element!("body", |body| {
        if let Some(pixel) = &pixel {
            body.append(pixel, ContentType::Html);
            *is_in_body.borrow_mut() = true;
        }
        Ok(())
    });
    let settings = Settings::new().append_element_content_handler(links).append_element_content_handler(end);
    let mut rewriter = HtmlRewriter::new(settings, |piece: &[u8]| out.extend_from_slice(piece));
    rewriter.write(html.as_bytes()).context("the HTML cannot be read")?;
    rewriter.end().context("the HTML cannot be read")?;
    let mut text = String::from_utf8(out).context("the HTML is no longer text")?;
    if let Some(pixel) = pixel.filter(|_| !*is_in_body.borrow()) {
        text.push_str(&pixel);
    }
    Ok((text, found.into_inner()))
}

/// Whether a link is tracked: links of the web, except those for leaving a mailing list, so that unsubscribing is not tracked.
fn is_tracked(href: &str, untouched: &[String]) -> bool {
    let lower = href.to_ascii_lowercase();
    let is_web = lower.starts_with("http://") || lower.starts_with("https://");
    is_web && href.len() <= 2_048 && !lower.contains("unsubscribe") && !untouched.iter().any(|u| u == href)
}

/// Decodes the character references that occur in URLs.
fn decode_references(text: &str) -> String {
    text.replace("&amp;", "&").replace("&#38;", "&").replace("&#x26;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(html: &str) -> (String, Vec<String>) {
        let wanted = TrackingInsertions { links: true, pixel: Some("https://us/t/p".into()) };
        rewrite(html, &wanted, &["https://x.test/list?leave".to_owned()], |n| format!("https://us/t/{n}"))
            .unwrap()
    }

    #[test]
    fn links_of_the_web_lead_over_us() {
        let html = "<html><body><!-- c --><p CLASS=a>Hi</p><a href=\"https://a.test/?b=1&amp;c=2\">a</a> \
                    <A HREF='HTTP://b.test'>b</A><a href=\"mailto:x@y.test\">m</a><a href=\"#top\">t</a>\
                    <a href=\"https://c.test/unsubscribe?u=1\">u</a><a href=\"https://x.test/list?leave\">l</a></body></html>";
        let (text, urls) = rewritten(html);
        assert_eq!(urls, ["https://a.test/?b=1&c=2", "HTTP://b.test"]);
        assert!(
            text.starts_with("<html><body><!-- c --><p CLASS=a>Hi</p><a href=\"https://us/t/0\">a</a> "),
            "{text}"
        );
        for kept in ["mailto:x@y.test", "#top", "https://c.test/unsubscribe?u=1", "https://x.test/list?leave"]
        {
            assert!(text.contains(kept), "{kept}");
        }
        assert!(text.ends_with("style=\"display:block;border:0\"></body></html>"), "{text}");
    }

    #[test]
    fn html_without_a_body_gets_the_picture_at_its_end() {
        let (text, urls) = rewritten("<p>Hi<a href=x>y</a>");
        assert!(
            text.starts_with("<p>Hi<a href=x>y</a><img src=\"https://us/t/p\"") && urls.is_empty(),
            "{text}"
        );
    }
}
