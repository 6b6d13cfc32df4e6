//! Markdown as HTML: headings with ids, tables and code that scroll by themselves, and no markup of its own.

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use service::locale::html::Html;

use crate::api::docs::guides;
use crate::api::docs::reference::slug;

/// A rendered text with its headings.
pub struct MarkupText {
    pub html: Html,
    pub headings: Vec<PageHeading>,
}

/// A heading of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageHeading {
    /// 1 for the title.
    pub level: usize,
    pub id: String,
    pub text: String,
}

/// Renders Markdown.
pub fn render(markdown: &str) -> MarkupText {
    let mut writer = MarkupWriter::default();
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
        writer.write(event);
    }
    MarkupText { html: writer.html, headings: writer.headings }
}

/// Renders Markdown that belongs to a page, without its headings.
pub fn add(html: &mut Html, markdown: &str) {
    html.html(&render(markdown).html);
}

/// Renders a single paragraph of Markdown without the element around it.
pub fn add_line(html: &mut Html, markdown: &str) {
    let mut writer = MarkupWriter::default();
    for event in Parser::new_ext(markdown, Options::empty()) {
        if !matches!(event, Event::Start(Tag::Paragraph) | Event::End(TagEnd::Paragraph)) {
            writer.write(event);
        }
    }
    html.html(&writer.html);
}

#[derive(Default)]
struct MarkupWriter {
    html: Html,
    headings: Vec<PageHeading>,
    /// The text of the heading that is being written, and the HTML before it.
    heading: Option<HeadingDraft>,
    is_table_head: bool,
    /// For each open link whether it has an address.
    links: Vec<bool>,
}

struct HeadingDraft {
    text: String,
    before: Html,
}

impl MarkupWriter {
    fn write(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.text(&text),
            Event::Code(code) => {
                self.html.raw("<code>");
                self.text(&code);
                self.html.raw("</code>");
            }
            Event::SoftBreak => self.text("\n"),
            Event::HardBreak => {
                self.html.raw("<br>\n");
            }
            Event::Rule => {
                self.html.raw("<hr>\n");
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        if let Some(heading) = &mut self.heading {
            heading.text.push_str(text);
        }
        self.html.text(text);
    }

    fn start(&mut self, tag: Tag<'_>) {
        let markup = match tag {
            Tag::Heading { .. } => {
                let before = std::mem::take(&mut self.html);
                self.heading = Some(HeadingDraft { text: String::new(), before });
                return;
            }
            Tag::Link { dest_url, .. } => return self.start_link(&dest_url),
            Tag::CodeBlock(kind) => return self.start_code(&kind),
            Tag::Paragraph => "<p>",
            Tag::BlockQuote(_) => "<blockquote>\n",
            Tag::List(None) => "<ul>\n",
            Tag::List(Some(_)) => "<ol>\n",
            Tag::Item => "<li>",
            Tag::Table(_) => "<div class=\"scroll\" tabindex=\"0\"><table>\n",
            Tag::TableHead => {
                self.is_table_head = true;
                "<thead><tr>"
            }
            Tag::TableRow => "<tr>",
            Tag::TableCell if self.is_table_head => "<th scope=\"col\">",
            Tag::TableCell => "<td>",
            Tag::Emphasis => "<em>",
            Tag::Strong => "<strong>",
            _ => "",
        };
        self.html.raw(markup);
    }

    fn end(&mut self, tag: TagEnd) {
        let markup = match tag {
            TagEnd::Heading(level) => return self.end_heading(level),
            TagEnd::Link => {
                if self.links.pop() == Some(true) {
                    self.html.raw("</a>");
                }
                return;
            }
            TagEnd::Paragraph => "</p>\n",
            TagEnd::BlockQuote(_) => "</blockquote>\n",
            TagEnd::CodeBlock => "</code></pre>\n",
            TagEnd::List(false) => "</ul>\n",
            TagEnd::List(true) => "</ol>\n",
            TagEnd::Item => "</li>\n",
            TagEnd::Table => "</tbody></table></div>\n",
            TagEnd::TableHead => {
                self.is_table_head = false;
                "</tr></thead>\n<tbody>\n"
            }
            TagEnd::TableRow => "</tr>\n",
            TagEnd::TableCell if self.is_table_head => "</th>",
            TagEnd::TableCell => "</td>",
            TagEnd::Emphasis => "</em>",
            TagEnd::Strong => "</strong>",
            _ => "",
        };
        self.html.raw(markup);
    }

    fn start_code(&mut self, kind: &CodeBlockKind<'_>) {
        self.html.raw("<pre tabindex=\"0\"><code");
        if let CodeBlockKind::Fenced(language) = kind
            && !language.is_empty()
        {
            self.html.raw(" data-language=\"").text(language).raw("\"");
        }
        self.html.raw(">");
    }

    fn start_link(&mut self, to: &str) {
        let address = address(to);
        self.links.push(address.is_some());
        if let Some(address) = address {
            self.html.raw("<a href=\"").text(&address).raw("\">");
        }
    }

    fn end_heading(&mut self, level: HeadingLevel) {
        let Some(draft) = self.heading.take() else { return };
        let inner = std::mem::replace(&mut self.html, draft.before);
        let id = slug(&draft.text);
        let (open, close, level) = match level {
            HeadingLevel::H1 => ("<h1 id=\"", "</h1>\n", 1),
            HeadingLevel::H2 => ("<h2 id=\"", "</h2>\n", 2),
            HeadingLevel::H3 => ("<h3 id=\"", "</h3>\n", 3),
            _ => ("<h4 id=\"", "</h4>\n", 4),
        };
        self.html.raw(open).text(&id).raw("\">").html(&inner).raw(close);
        self.headings.push(PageHeading { level, id, text: draft.text });
    }
}

/// The address that a link of a text has on the pages: another guide for its file, none for files that have no page.
fn address(to: &str) -> Option<String> {
    let is_address = ["#", "/", "https://", "http://", "mailto:"].iter().any(|start| to.starts_with(start));
    if is_address {
        return Some(to.to_owned());
    }
    let (file, fragment) = to.split_once('#').unwrap_or((to, ""));
    let name = file.rsplit('/').next()?.strip_suffix(".md")?;
    guides::find(name)?;
    let hash = if fragment.is_empty() { "" } else { "#" };
    Some(format!("/docs/guides/{name}{hash}{fragment}"))
}

#[cfg(test)]
mod tests {
    use super::{PageHeading, add_line, render};
    use service::locale::html::Html;

    #[test]
    fn a_text_has_headings_tables_and_code() {
        let text = render(
            "# A `b`\n\nOne *two*\n\n| a | b |\n|---|---|\n| 1 | `2` |\n\n```sh\nls <x>\n```\n\n1. x\n2. y\n",
        );
        let expected = "<h1 id=\"a-b\">A <code>b</code></h1>\n<p>One <em>two</em></p>\n\
                        <div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr><th scope=\"col\">a</th><th scope=\"col\">b</th></tr></thead>\n\
                        <tbody>\n<tr><td>1</td><td><code>2</code></td></tr>\n</tbody></table></div>\n\
                        <pre tabindex=\"0\"><code data-language=\"sh\">ls &lt;x&gt;\n</code></pre>\n<ol>\n<li>x</li>\n<li>y</li>\n</ol>\n";
        assert_eq!(text.html.as_str(), expected);
        assert_eq!(text.headings, [PageHeading { level: 1, id: "a-b".into(), text: "A b".into() }]);
    }

    #[test]
    fn markup_in_a_text_stays_text() {
        let text = render("a <script>alert(1)</script> b");
        assert!(!text.html.as_str().contains("<script"), "{}", text.html.as_str());
    }

    #[test]
    fn links_lead_to_pages() {
        let mut html = Html::default();
        add_line(&mut html, "[a](errors.md#x) [b](../operating.md) [c](https://example.org/)");
        let expected = "<a href=\"/docs/guides/errors#x\">a</a> b <a href=\"https://example.org/\">c</a>";
        assert_eq!(html.as_str(), expected);
    }
}
