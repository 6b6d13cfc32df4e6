//! The pages by address. Each is rendered and compressed once, when it is first requested, and then kept: their number does not grow.

use std::collections::BTreeMap;

use service::locale::html::Html;
use tokio::sync::OnceCell;

use crate::api::docs::fields::FieldLists;
use crate::api::docs::frame::{self, DocsPage};
use crate::api::docs::guides::{GUIDES, Guide};
use crate::api::docs::markup::{self, PageHeading};
use crate::api::docs::reference::{ApiReference, ReferenceTag};
use crate::api::docs::{errors, markdown, operation, search, start};
use crate::api::openapi::published::PublishedDocument;

const HTML: &str = "text/html; charset=utf-8";
const MARKDOWN: &str = "text/markdown; charset=utf-8";
const PLAIN: &str = "text/plain; charset=utf-8";
const JSON: &str = "application/json";

/// All pages of the documentation.
pub struct DocsSite {
    reference: ApiReference,
    /// By address without the slash at the beginning.
    files: BTreeMap<String, SiteFile>,
    missing: OnceCell<PublishedDocument>,
}

struct SiteFile {
    content: FileContent,
    published: OnceCell<PublishedDocument>,
}

/// The content of a file; numbers are places in the reference.
#[derive(Clone, Copy)]
enum FileContent {
    Html(PageContent),
    Markdown(PageContent),
    Search,
    Index,
    Everything,
}

#[derive(Clone, Copy)]
enum PageContent {
    Start,
    Guide(&'static Guide),
    Conventions,
    Tag(usize),
    Errors,
    Error(usize),
}

impl DocsSite {
    /// The pages of a reference; none is rendered yet.
    pub fn new(reference: ApiReference) -> DocsSite {
        let mut files = BTreeMap::new();
        let mut add = |address: String, content: FileContent| {
            files.insert(address, SiteFile { content, published: OnceCell::new() });
        };
        for (address, page) in pages(&reference) {
            add(format!("{address}.md"), FileContent::Markdown(page));
            add(address, FileContent::Html(page));
        }
        add("docs/search.json".to_owned(), FileContent::Search);
        add("llms.txt".to_owned(), FileContent::Index);
        add("llms-full.txt".to_owned(), FileContent::Everything);
        DocsSite { reference, files, missing: OnceCell::new() }
    }

    /// The file at an address, ready to be sent; none if there is none.
    pub async fn file(&self, address: &str) -> Option<&PublishedDocument> {
        let file = self.files.get(address)?;
        let publish = || PublishedDocument::new(self.text(file.content), media_type(file.content));
        Some(file.published.get_or_init(publish).await)
    }

    /// The page of an address that has none.
    pub async fn missing(&self) -> &PublishedDocument {
        let publish = || {
            let mut html = Html::default();
            html.element("h1", "Page not found");
            html.raw("<p>There is no such page. Use the list of pages, or begin at <a href=\"/docs\">Getting started</a>.</p>\n");
            let title = "Page not found".to_owned();
            let page = DocsPage { title, path: "/docs".to_owned(), body: html, headings: Vec::new() };
            PublishedDocument::new(frame::document(&self.reference, &page), HTML)
        };
        self.missing.get_or_init(publish).await
    }

    /// The text of a file.
    fn text(&self, content: FileContent) -> String {
        match content {
            FileContent::Html(page) => frame::document(&self.reference, &self.page(page)),
            FileContent::Markdown(page) => self.markdown(page),
            FileContent::Search => {
                // Error codes are entries of their own.
                let pages = pages(&self.reference).into_iter().map(|(_, page)| page);
                let pages = pages.filter(|page| !matches!(page, PageContent::Error(_)));
                let pages = pages.map(|page| self.outline(page));
                search::print(&self.reference, &pages.collect::<Vec<_>>())
            }
            FileContent::Index => {
                let guides = GUIDES.iter().map(|guide| [guide.name.to_owned(), guide.title.to_owned()]);
                markdown::index(&self.reference, &guides.collect::<Vec<_>>())
            }
            FileContent::Everything => {
                let pages = pages(&self.reference).into_iter().map(|(_, page)| self.markdown(page));
                pages.collect::<Vec<_>>().join("\n\n")
            }
        }
    }

    fn page(&self, content: PageContent) -> DocsPage {
        let reference = &self.reference;
        match content {
            PageContent::Start => start::page(reference),
            PageContent::Guide(guide) => {
                text_page(guide.title, &format!("/docs/guides/{}", guide.name), guide.markdown)
            }
            PageContent::Conventions => text_page("API conventions", "/docs/api", &conventions(reference)),
            PageContent::Tag(at) => tag_page(reference, &reference.tags[at]),
            PageContent::Errors => errors::list(reference),
            PageContent::Error(at) => errors::page(reference, &reference.errors[at]),
        }
    }

    fn markdown(&self, content: PageContent) -> String {
        let reference = &self.reference;
        match content {
            PageContent::Start => start::markdown(reference),
            PageContent::Guide(guide) => guide.markdown.to_owned(),
            PageContent::Conventions => conventions(reference),
            PageContent::Tag(at) => markdown::tag(reference, &reference.tags[at]),
            PageContent::Errors => errors::list_markdown(reference),
            PageContent::Error(at) => errors::page_markdown(reference, &reference.errors[at]),
        }
    }

    /// A page for the search index: what the index has by itself is left out.
    fn outline(&self, content: PageContent) -> DocsPage {
        match content {
            PageContent::Tag(at) => {
                let tag = &self.reference.tags[at];
                let path = format!("/docs/api/{}", tag.slug);
                DocsPage { title: tag.name.clone(), path, body: Html::default(), headings: Vec::new() }
            }
            other => self.page(other),
        }
    }
}

/// All pages by address.
fn pages(reference: &ApiReference) -> Vec<(String, PageContent)> {
    let mut pages = vec![("docs".to_owned(), PageContent::Start)];
    pages.extend(
        GUIDES.iter().map(|guide| (format!("docs/guides/{}", guide.name), PageContent::Guide(guide))),
    );
    pages.push(("docs/api".to_owned(), PageContent::Conventions));
    let tags = reference.tags.iter().enumerate();
    pages.extend(tags.map(|(at, tag)| (format!("docs/api/{}", tag.slug), PageContent::Tag(at))));
    pages.push(("docs/errors".to_owned(), PageContent::Errors));
    let errors = reference.errors.iter().enumerate();
    pages.extend(errors.map(|(at, row)| (format!("docs/errors/{}", row.code), PageContent::Error(at))));
    pages
}

fn media_type(content: FileContent) -> &'static str {
    match content {
        FileContent::Html(_) => HTML,
        FileContent::Markdown(_) => MARKDOWN,
        FileContent::Search => JSON,
        FileContent::Index | FileContent::Everything => PLAIN,
    }
}

/// A page of a Markdown text that begins with its title.
fn text_page(title: &str, path: &str, text: &str) -> DocsPage {
    let text = markup::render(text);
    DocsPage { title: title.to_owned(), path: path.to_owned(), body: text.html, headings: text.headings }
}

/// The conventions of all operations, which are the introduction of the document.
fn conventions(reference: &ApiReference) -> String {
    format!("# API conventions\n\n{}\n", reference.introduction)
}

fn tag_page(reference: &ApiReference, tag: &ReferenceTag) -> DocsPage {
    let mut html = Html::default();
    html.element("h1", &tag.name).element("p", &tag.description);
    let mut lists = FieldLists::new(&reference.schemas);
    let mut headings = Vec::new();
    for operation in reference.under(&tag.name) {
        operation::add(&mut html, reference, operation, &mut lists);
        headings.push(PageHeading { level: 2, id: operation.id.clone(), text: operation.summary.clone() });
    }
    DocsPage { title: tag.name.clone(), path: format!("/docs/api/{}", tag.slug), body: html, headings }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::api;
    use crate::api::openapi::{Flavour, print};

    fn site() -> DocsSite {
        let operations = api::operations();
        let document = print(&operations, "https://api.example.com", Flavour::Clients);
        DocsSite::new(ApiReference::read(&document, "https://api.example.com"))
    }

    /// Values of an attribute in a page.
    fn values<'t>(text: &'t str, attribute: &str) -> Vec<&'t str> {
        let start = format!(" {attribute}=\"");
        text.split(start.as_str()).skip(1).filter_map(|rest| rest.split('"').next()).collect()
    }

    #[test]
    fn every_link_leads_to_a_page_and_a_place_on_it() {
        let site = site();
        let texts: BTreeMap<&str, String> =
            site.files.iter().map(|(address, file)| (address.as_str(), site.text(file.content))).collect();
        let mut broken = BTreeSet::new();
        for (address, text) in &texts {
            if !matches!(site.files[*address].content, FileContent::Html(_)) {
                continue;
            }
            for link in values(text, "href").into_iter().filter(|link| link.starts_with(['/', '#'])) {
                let (path, place) = link.split_once('#').unwrap_or((link, ""));
                let path = if path.is_empty() { *address } else { path.trim_start_matches('/') };
                let is_elsewhere =
                    path == "openapi.json" || path == "admin" || path.starts_with("docs/assets/");
                let target = texts.get(path);
                let has_place = target.is_some_and(|text| {
                    place.is_empty() || place == "main" || values(text, "id").contains(&place)
                });
                if !is_elsewhere && !has_place {
                    broken.insert(format!("{address}: {link}"));
                }
            }
        }
        assert!(broken.is_empty(), "{broken:#?}");
    }

    #[test]
    fn an_id_is_on_a_page_once() {
        let site = site();
        for (address, file) in
            site.files.iter().filter(|(_, file)| matches!(file.content, FileContent::Html(_)))
        {
            let text = site.text(file.content);
            let ids = values(&text, "id");
            assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "{address}: {ids:?}");
        }
    }

    #[test]
    fn a_heading_is_a_page_with_its_operations() {
        let site = site();
        let text = site.text(site.files["docs/api/events"].content);
        for part in [
            "<title>Events – Switchboard</title>",
            "<h2>Create an event</h2>",
            "data-list=\"/v1/calendars\"",
            "data-language=\"python\"",
            "href=\"/docs/errors/stale_etag\"",
            "id=\"schema-CalendarEvent\"",
        ] {
            assert!(text.contains(part), "{part}");
        }
        let markdown = site.text(site.files["docs/api/events.md"].content);
        assert!(
            markdown.starts_with("# Events\n") && markdown.contains("\n### CalendarEvent\n"),
            "{markdown}"
        );
    }
}
