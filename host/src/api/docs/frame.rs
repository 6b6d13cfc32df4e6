//! The frame of every documentation page: head, search box, key field, and the list of pages.

use service::locale::html::Html;

use crate::api::docs::assets;
use crate::api::docs::guides;
use crate::api::docs::markup::PageHeading;
use crate::api::docs::reference::ApiReference;

/// The icon, as an address without a request.
const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='4' fill='%231f6feb'/%3E%3Ccircle cx='5' cy='5' r='1.6' fill='%23fff'/%3E%3Ccircle cx='11' cy='11' r='1.6' fill='%23fff'/%3E%3Cpath d='M5 5L11 11' stroke='%23fff'/%3E%3C/svg%3E";

/// A page before it is framed.
pub struct DocsPage {
    pub title: String,
    /// Its address, such as `/docs/api/events`.
    pub path: String,
    /// Its heading of the first level included.
    pub body: Html,
    /// Its headings, shown under its name in the list of pages.
    pub headings: Vec<PageHeading>,
}

/// The text of the page.
pub fn document(reference: &ApiReference, page: &DocsPage) -> String {
    let mut html = Html::default();
    html.raw("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    html.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>");
    html.text(&page.title)
        .raw(" – Switchboard</title>\n<link rel=\"stylesheet\" href=\"")
        .text(assets::style_path());
    html.raw("\">\n<link rel=\"alternate\" type=\"text/markdown\" href=\"").text(&markdown_path(page));
    html.raw("\">\n<link rel=\"icon\" href=\"").text(ICON).raw("\">\n<script type=\"module\" src=\"");
    html.text(assets::script_path()).raw("\"></script>\n</head>\n<body>\n");
    html.raw("<a class=\"skip\" href=\"#main\">Skip to the content</a>\n<header>\n<a class=\"brand\" href=\"/docs\">Switchboard <span>");
    html.text(&reference.version).raw("</span></a>\n<div class=\"tools\" hidden>\n");
    html.raw("<div class=\"find\"><input id=\"search\" type=\"search\" placeholder=\"Search  ( / )\" aria-label=\"Search the documentation\" \
              autocomplete=\"off\" spellcheck=\"false\"><ul id=\"hits\" hidden></ul></div>\n");
    html.raw("<label class=\"key\">API key <input id=\"key\" type=\"password\" autocomplete=\"off\" spellcheck=\"false\" \
              placeholder=\"uc_live_…\" title=\"Kept in this tab only\"></label>\n</div>\n");
    html.raw("<a class=\"raw\" href=\"").text(&markdown_path(page)).raw("\">Markdown</a>\n");
    html.raw("<a class=\"raw\" href=\"/openapi.json\">openapi.json</a>\n</header>\n");
    add_menu(&mut html, reference, page);
    html.raw("<main id=\"main\" tabindex=\"-1\">\n").html(&page.body).raw("</main>\n</body>\n</html>\n");
    html.as_str().to_owned()
}

/// The address of the page as Markdown.
fn markdown_path(page: &DocsPage) -> String {
    format!("{}.md", page.path)
}

fn add_menu(html: &mut Html, reference: &ApiReference, page: &DocsPage) {
    html.raw(
        "<nav aria-label=\"Documentation\">\n<details class=\"menu\" open><summary>Contents</summary>\n",
    );
    html.raw("<ul>\n");
    add_entry(html, page, "/docs", "Getting started");
    html.raw("</ul>\n<p class=\"group\">Guides</p>\n<ul>\n");
    for guide in guides::GUIDES {
        add_entry(html, page, &format!("/docs/guides/{}", guide.name), guide.title);
    }
    html.raw("</ul>\n<p class=\"group\">API</p>\n<ul>\n");
    add_entry(html, page, "/docs/api", "Conventions");
    add_entry(html, page, "/docs/errors", "Errors");
    for tag in &reference.tags {
        add_entry(html, page, &format!("/docs/api/{}", tag.slug), &tag.name);
    }
    html.raw("</ul>\n</details>\n</nav>\n");
}

/// An entry of the list of pages; that of the page itself has its headings.
fn add_entry(html: &mut Html, page: &DocsPage, path: &str, title: &str) {
    let is_here = page.path == path;
    html.raw("<li><a href=\"").text(path).raw(if is_here { "\" aria-current=\"page\">" } else { "\">" });
    html.text(title).raw("</a>");
    let headings: Vec<&PageHeading> = page.headings.iter().filter(|heading| heading.level == 2).collect();
    if is_here && !headings.is_empty() {
        html.raw("\n<ul>\n");
        for heading in headings {
            html.raw("<li><a href=\"#").text(&heading.id).raw("\">").text(&heading.text).raw("</a></li>\n");
        }
        html.raw("</ul>\n");
    }
    html.raw("</li>\n");
}
