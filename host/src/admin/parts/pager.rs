//! Pages of a list: its beginning, the page before this one and the page after it.

use crate::admin::texts::FrameTexts;
use service::locale::html::Html;

/// Rows of one page of a list.
pub const PAGE_ROWS: i64 = 50;

/// Cursors of earlier pages that an address keeps at most.
const MAX_TRAIL: usize = 8;
/// Longest trail that is read, in bytes.
const MAX_TRAIL_BYTES: usize = 4 << 10;
/// Stands between the cursors of a trail; no cursor has it.
const BETWEEN: &str = "~";
/// Stands in a trail for earlier pages that it does not keep.
const CUT: &str = "-";

/// The ways from a page of a list to those beside it. An address keeps the cursors of the pages before it, because a list can only be read in one
/// direction.
pub struct ListPager<'p> {
    /// The list's own address.
    pub path: &'p str,
    /// The cursor of this page; empty at the beginning.
    pub cursor: &'p str,
    /// The cursors of the pages between the beginning and this one, as the address has them.
    pub trail: &'p str,
    /// The cursor of the page after this one.
    pub next: Option<&'p str>,
}

impl ListPager<'_> {
    /// Adds the ways.
    pub fn add_to(&self, html: &mut Html, texts: &FrameTexts) {
        let is_first = self.cursor.is_empty();
        if is_first && self.next.is_none() {
            return;
        }
        let before = cursors(self.trail);
        html.raw("<nav class=\"pager\" aria-label=\"").text(texts.more).raw("\">");
        if !before.is_empty() {
            html.raw("<a class=\"button plain\" href=\"").text(self.path).raw("\">");
            html.text(texts.start).raw("</a>");
        }
        match before.split_last() {
            None if is_first => {}
            None => {
                self.add_link(html, "<a class=\"button plain\" rel=\"prev\" href=\"", texts.newer, &[], "")
            }
            Some((&CUT, _)) => {}
            Some((last, rest)) => {
                self.add_link(
                    html,
                    "<a class=\"button plain\" rel=\"prev\" href=\"",
                    texts.newer,
                    rest,
                    last,
                );
            }
        }
        if let Some(next) = self.next {
            let all = longer(before, self.cursor);
            self.add_link(html, "<a class=\"button plain\" rel=\"next\" href=\"", texts.older, &all, next);
        }
        html.raw("</nav>\n");
    }

    /// Adds a link to the page of a cursor, before which those of a trail come.
    fn add_link(&self, html: &mut Html, start: &'static str, word: &str, trail: &[&str], cursor: &str) {
        html.raw(start).text(self.path);
        let mut mark = if self.path.contains('?') { "&" } else { "?" };
        let trail = trail.join(BETWEEN);
        for (name, value) in [("cursor=", cursor), ("trail=", trail.as_str())] {
            if !value.is_empty() {
                html.text(mark).raw(name).text(value);
                mark = "&";
            }
        }
        html.raw("\">").text(word).raw("</a>");
    }
}

/// The cursors of a trail. One that no page of ours has written is as one that was cut off.
fn cursors(trail: &str) -> Vec<&str> {
    let is_known = |c: char| c.is_ascii_alphanumeric() || "-_.~".contains(c);
    match trail {
        "" => Vec::new(),
        trail if trail.len() > MAX_TRAIL_BYTES || !trail.chars().all(is_known) => vec![CUT],
        trail => trail.split(BETWEEN).filter(|cursor| !cursor.is_empty()).collect(),
    }
}

/// A trail with one more cursor, without the oldest ones of too many; the beginning of a list has none.
fn longer<'c>(mut trail: Vec<&'c str>, cursor: &'c str) -> Vec<&'c str> {
    if !cursor.is_empty() {
        trail.push(cursor);
    }
    if trail.len() > MAX_TRAIL {
        let kept = trail.split_off(trail.len() - MAX_TRAIL + 1);
        trail = vec![CUT];
        trail.extend(kept);
    }
    trail
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admin::texts::texts;
    use service::locale::Language;

    /// The addresses of the ways from a page: to the one before it, and to the one after it.
    fn ways(cursor: &str, trail: &str, next: Option<&str>) -> [String; 2] {
        let mut html = Html::default();
        let pager = ListPager { path: "list?status=4xx", cursor, trail, next };
        pager.add_to(&mut html, texts(Language::English).frame);
        let page = html.as_str().replace("&amp;", "&");
        ["prev", "next"].map(|rel| {
            let (_, rest) = page.split_once(&format!("rel=\"{rel}\" href=\"")).unwrap_or_default();
            rest.split('"').next().unwrap_or_default().to_owned()
        })
    }

    #[test]
    fn each_page_leads_back_to_the_one_before_it() {
        let none = String::new();
        assert_eq!(ways("", "", None), [none.clone(), none.clone()]);
        assert_eq!(ways("", "", Some("b.1")), [none.clone(), "list?status=4xx&cursor=b.1".to_owned()]);
        let [back, on] = ways("b.1", "", Some("c.1"));
        assert_eq!((back.as_str(), on.as_str()), ("list?status=4xx", "list?status=4xx&cursor=c.1&trail=b.1"));
        let [back, on] = ways("c.1", "b.1", Some("d.1"));
        assert_eq!(back, "list?status=4xx&cursor=b.1");
        assert_eq!(on, "list?status=4xx&cursor=d.1&trail=b.1~c.1");
        assert_eq!(ways("d.1", "b.1~c.1", None), ["list?status=4xx&cursor=c.1&trail=b.1".to_owned(), none]);
    }

    #[test]
    fn an_address_has_a_longest_trail() {
        let mut trail: Vec<String> = Vec::new();
        for page in 0..100 {
            let cursor = format!("c{page}.x");
            let before: Vec<&str> = trail.iter().map(String::as_str).collect();
            trail = longer(before, &cursor).into_iter().map(str::to_owned).collect();
            assert!(trail.len() <= MAX_TRAIL);
        }
        assert_eq!((trail[0].as_str(), trail[MAX_TRAIL - 1].as_str()), (CUT, "c99.x"));
        assert_eq!(ways("z.1", CUT, None)[0], "", "the page before it is not known");
        // A crafted address leads to this list, and nowhere else.
        assert_eq!(ways("z.1", "evil.example", None)[0], "list?status=4xx&cursor=evil.example");
        for foreign in ["\"><script>", "a b", "//evil.example", "https:evil", &"a".repeat(5_000)] {
            assert_eq!(ways("z.1", foreign, None)[0], "", "{foreign}");
        }
    }
}
