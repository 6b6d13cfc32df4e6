//! The pages of error codes: meaning, what to do, and the operations that answer it.

use service::locale::html::Html;

use crate::api::docs::frame::DocsPage;
use crate::api::docs::markup;
use crate::api::docs::reference::{ApiReference, ErrorRow, ReferenceOperation};
use crate::api::docs::remedies::remedy;

/// The list of all codes.
pub fn list(reference: &ApiReference) -> DocsPage {
    let mut html = Html::default();
    html.element("h1", "Errors");
    markup::add(&mut html, INTRODUCTION);
    html.raw("<div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr><th scope=\"col\">Code</th><th scope=\"col\">Status</th>");
    html.raw("<th scope=\"col\">Meaning</th></tr></thead>\n<tbody>\n");
    for row in &reference.errors {
        html.raw("<tr id=\"error-").text(&row.code).raw("\"><td><a href=\"/docs/errors/").text(&row.code);
        html.raw("\"><code>").text(&row.code).raw("</code></a></td><td>").text(&row.status).raw("</td><td>");
        markup::add_line(&mut html, &sentence(&row.meaning));
        html.raw("</td></tr>\n");
    }
    html.raw("</tbody></table></div>\n");
    DocsPage { title: "Errors".to_owned(), path: "/docs/errors".to_owned(), body: html, headings: Vec::new() }
}

const INTRODUCTION: &str = "Every answer that is not a success has one shape. Branch on `error.code`; `error.message` is for people and \
    may change. `error.doc_url` leads to the page of the code. See [Handling errors](/docs/guides/errors) for how to deal with them in a program.";

/// The list as Markdown.
pub fn list_markdown(reference: &ApiReference) -> String {
    let mut out = format!("# Errors\n\n{INTRODUCTION}\n\n| Code | Status | Meaning |\n|---|---|---|\n");
    for row in &reference.errors {
        out.push_str(&format!("| `{}` | {} | {} |\n", row.code, row.status, sentence(&row.meaning)));
    }
    out
}

/// The page of a code.
pub fn page(reference: &ApiReference, row: &ErrorRow) -> DocsPage {
    let mut html = Html::default();
    html.raw("<h1><code>").text(&row.code).raw("</code></h1>\n<p>");
    if !row.status.is_empty() {
        html.raw("<span class=\"status\">").text(&row.status).raw("</span> ");
    }
    markup::add_line(&mut html, &sentence(&row.meaning));
    html.raw("</p>\n<h2>What to do</h2>\n");
    markup::add(&mut html, &advice(row));
    let operations = answering(reference, row);
    html.raw("<h2>Operations</h2>\n");
    if operations.len() == reference.operations.len() {
        html.raw("<p>Every operation may answer it.</p>\n");
    } else if operations.is_empty() {
        html.raw(
            "<p>It is answered where there is no operation, or in the redirect of an authorization.</p>\n",
        );
    } else {
        html.raw("<details");
        html.raw(if operations.len() <= MAX_UNFOLDED { " open" } else { "" }).raw("><summary>");
        html.text(&operations.len().to_string()).raw(" operations may answer it</summary>\n<ul>\n");
        for operation in operations {
            html.raw("<li>").link(&ApiReference::link(operation), &operation.summary).raw(" <code>");
            html.text(&operation.id).raw("</code></li>\n");
        }
        html.raw("</ul></details>\n");
    }
    html.raw("<p><a href=\"/docs/errors\">All error codes</a></p>\n");
    DocsPage {
        title: row.code.clone(),
        path: format!("/docs/errors/{}", row.code),
        body: html,
        headings: Vec::new(),
    }
}

/// Most operations that a page lists without a fold.
const MAX_UNFOLDED: usize = 20;

/// The page of a code as Markdown.
pub fn page_markdown(reference: &ApiReference, row: &ErrorRow) -> String {
    let mut out = format!(
        "# `{}`\n\n{} {}\n\n## What to do\n\n{}\n\n## Operations\n\n",
        row.code,
        row.status,
        sentence(&row.meaning),
        advice(row)
    );
    for operation in answering(reference, row) {
        out.push_str(&format!("* {} (`{}`)\n", operation.summary, operation.id));
    }
    out
}

fn answering<'r>(reference: &'r ApiReference, row: &ErrorRow) -> Vec<&'r ReferenceOperation> {
    reference.operations.iter().filter(|operation| operation.codes.contains(&row.code)).collect()
}

/// The remedy, or what follows from the status.
fn advice(row: &ErrorRow) -> String {
    let usual = match row.status.as_str() {
        "429" => "Wait as many seconds as `Retry-After` says, then repeat the request.",
        status if status.starts_with('5') => {
            "Repeat the request later, a write with the same `Idempotency-Key`. If it fails for long, ask the operator and name \
             `error.request_id`."
        }
        _ => {
            "Change the request; `error.message` and `error.param` say what is wrong. The same request fails again."
        }
    };
    remedy(&row.code).unwrap_or(usual).to_owned()
}

/// A meaning as a sentence.
fn sentence(meaning: &str) -> String {
    let mut letters = meaning.chars();
    let Some(first) = letters.next() else { return String::new() };
    format!("{}{}.", first.to_uppercase(), letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api;
    use crate::api::docs::remedies::REMEDIES;
    use crate::api::openapi::{Flavour, print};

    #[test]
    fn every_code_has_a_meaning_and_a_remedy() {
        let operations = api::operations();
        let document = print(&operations, "https://api.example.com", Flavour::Clients);
        let reference = ApiReference::read(&document, "https://api.example.com");
        let errors = &reference.errors;
        let bare: Vec<&str> = errors
            .iter()
            .filter(|row| row.meaning.is_empty() || remedy(&row.code).is_none())
            .map(|row| row.code.as_str())
            .collect();
        assert!(bare.is_empty(), "no row in introduction.md or remedies.rs: {bare:?}");
        let unused = REMEDIES.iter().filter(|(code, _)| !errors.iter().any(|row| row.code == *code));
        assert_eq!(unused.count(), 0, "remedies.rs names codes that no operation has");
    }

    #[test]
    fn a_page_says_what_to_do() {
        let operations = api::operations();
        let document = print(&operations, "https://api.example.com", Flavour::Clients);
        let reference = ApiReference::read(&document, "https://api.example.com");
        let row = reference.errors.iter().find(|row| row.code == "stale_etag").unwrap();
        let html = page(&reference, row).body;
        assert!(
            html.as_str().contains("The resource has changed since; <code>error.current_etag</code>"),
            "{}",
            html.as_str()
        );
        assert!(html.as_str().contains("/docs/api/events#calendars.events.update"), "{}", html.as_str());
        assert!(page_markdown(&reference, row).contains("(`calendars.events.update`)"));
    }
}
