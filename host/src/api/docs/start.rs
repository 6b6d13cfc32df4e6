//! The first page: seven steps from a key to a webhook, each with samples, and with JavaScript a button that runs it.

use serde_json::Value;
use service::locale::html::Html;

use crate::api::docs::frame::DocsPage;
use crate::api::docs::markup::{self, PageHeading};
use crate::api::docs::operation::add_samples;
use crate::api::docs::reference::{ApiReference, ReferenceOperation, slug};
use crate::api::docs::samples::curl;
use crate::api::docs::samples::request::{NamedValue, SampleRequest};

/// A step.
struct StartStep {
    title: &'static str,
    /// Markdown.
    text: &'static str,
    calls: &'static [StartCall],
}

/// A request of a step. `CONNECTION_ID`, `CALENDAR_ID` and `WEBHOOK_ID` stand for ids of earlier answers.
struct StartCall {
    operation: &'static str,
    path_values: &'static [&'static str],
    query: &'static [(&'static str, &'static str)],
    /// JSON; empty for none.
    body: &'static str,
    /// The word that later requests use, and the place of its value in the answer. Of a list, a name picks the first item in which it is
    /// true.
    keep: &'static str,
    /// The field of the body whose value the reader can change on the page; empty for none.
    ask: &'static str,
}

const TITLE: &str = "Getting started";
const INTRODUCTION: &str = "One API over the mailboxes, calendars, address books and task lists that people connect. \
    Seven steps lead from an API key to an event that reaches your program. They use the [sandbox](/docs/guides/sandbox), the \
    built-in provider. Start the server with it, and let webhooks reach programs on the same machine:\n\n\
    ```sh\nswitchboard serve --sandbox --webhook-allow 127.0.0.0/8\n```\n\n\
    The steps with a **Run** button send their request from this page.";

const STEPS: &[StartStep] = &[
    StartStep {
        title: "1. Create an API key",
        text: "In a terminal on the machine of the server, create a test application and a key of it:\n\n\
               ```sh\nswitchboard apps create Trial --test\nswitchboard keys create --application Trial --scopes all\n```\n\n\
               The key is shown only once. A test key begins with `uc_test_`, and reaches the sandbox alone; for other accounts create a \
               key with `switchboard keys create --scopes all`, or in the administration panel at `/admin`. Send the key with every \
               request as `Authorization: Bearer <key>`; the samples read it from the variable `SWITCHBOARD_API_KEY`. To run the steps \
               here, enter it in the field at the top of this page. This request checks it:",
        calls: &[StartCall {
            operation: "connections.list",
            path_values: &[],
            query: &[("limit", "1")],
            body: "",
            keep: "",
            ask: "",
        }],
    },
    StartStep {
        title: "2. Connect an account",
        text: "A connection is a connected account. Your users connect theirs [by OAuth](/docs/api#connecting-by-oauth) \
               or with a password; the password of every sandbox account is `sandbox`. The scopes say what you may do with the account.",
        calls: &[StartCall {
            operation: "connections.create",
            path_values: &[],
            query: &[("allow_duplicate", "true")],
            body: r#"{"provider": "sandbox", "credentials": {"username": "alice@sandbox.test", "password": "sandbox"},
                "scopes": ["calendar.write", "email.write", "email.send", "contacts.write", "tasks.write"]}"#,
            keep: "CONNECTION_ID=id",
            ask: "",
        }],
    },
    StartStep {
        title: "3. Read a list",
        text: "Lists answer `data` and `next_cursor`; see [Pagination](/docs/guides/pages). The next steps use the calendar whose \
               `isPrimary` is true: others may be read-only.",
        calls: &[StartCall {
            operation: "calendars.list",
            path_values: &[],
            query: &[("connection_id", "CONNECTION_ID"), ("limit", "10")],
            body: "",
            keep: "CALENDAR_ID=data.isPrimary.id",
            ask: "",
        }],
    },
    StartStep {
        title: "4. Create an event",
        text: "The event is written to the provider before the answer comes. A write takes an \
               [`Idempotency-Key`](/docs/guides/idempotency), so that you can repeat it safely; the clients send one by themselves.",
        calls: &[StartCall {
            operation: "calendars.events.create",
            path_values: &["CALENDAR_ID"],
            query: &[],
            body: r#"{"title": "Lunch", "start": "2027-03-01T12:00:00+01:00", "end": "2027-03-01T13:00:00+01:00",
                "timeZone": "Europe/Berlin"}"#,
            keep: "",
            ask: "",
        }],
    },
    StartStep {
        title: "5. Follow changes",
        text: "Start sync once for each calendar. The feed then begins with every event there is, and goes on with what changes, here or \
               at the provider; see [Sync](/docs/guides/sync).",
        calls: &[
            StartCall {
                operation: "calendars.sync.start",
                path_values: &["CALENDAR_ID"],
                query: &[],
                body: "",
                keep: "",
                ask: "",
            },
            StartCall {
                operation: "calendars.sync.changes",
                path_values: &["CALENDAR_ID"],
                query: &[("limit", "5")],
                body: "",
                keep: "",
                ask: "",
            },
        ],
    },
    StartStep {
        title: "6. Receive an event",
        text: "`switchboard listen` posts each event to a program on your machine, with the body and the signature of a webhook; without \
               `--forward-to` it only shows the events. `login` asks for the key of step 1:\n\n\
               ```sh\nswitchboard login\nswitchboard listen --forward-to http://127.0.0.1:3000/webhooks\n```\n\n\
               In a second terminal, let a message arrive in the mailbox:\n\n\
               ```sh\nswitchboard trigger email.message.created\n```\n\n\
               The event log has the same event:",
        calls: &[StartCall {
            operation: "events.list",
            path_values: &[],
            query: &[("type", "email.message.created"), ("limit", "5")],
            body: "",
            keep: "",
            ask: "",
        }],
    },
    StartStep {
        title: "7. Create a webhook",
        text: "A webhook posts events to a URL of yours, whether or not a terminal is open, and repeats what fails. The `secret` of the \
               answer signs each delivery; see [Webhooks](/docs/guides/webhooks). The URL is public and https, or, on a server that \
               was started as above, `http://127.0.0.1:3000/webhooks`. Run `switchboard trigger email.message.created` again, then read \
               what your program answered:",
        calls: &[
            StartCall {
                operation: "webhooks.create",
                path_values: &[],
                query: &[],
                body: r#"{"url": "https://hooks.example.com/switchboard", "eventTypes": ["email.message.*"]}"#,
                keep: "WEBHOOK_ID=id",
                ask: "url",
            },
            StartCall {
                operation: "webhooks.deliveries.list",
                path_values: &["WEBHOOK_ID"],
                query: &[("limit", "5")],
                body: "",
                keep: "",
                ask: "",
            },
        ],
    },
];

/// The page.
pub fn page(reference: &ApiReference) -> DocsPage {
    let mut html = Html::default();
    html.element("h1", TITLE);
    markup::add(&mut html, INTRODUCTION);
    let mut headings = Vec::new();
    for step in STEPS {
        let id = slug(step.title);
        html.raw("<section class=\"step\">\n<h2 id=\"").text(&id).raw("\">").text(step.title).raw("</h2>\n");
        markup::add(&mut html, step.text);
        for call in step.calls {
            if let Some(operation) = reference.operation(call.operation) {
                add_call(&mut html, call, &request(reference, operation, call));
            }
        }
        html.raw("</section>\n");
        headings.push(PageHeading { level: 2, id, text: step.title.to_owned() });
    }
    html.element("h2", "Next");
    markup::add(&mut html, &next(reference));
    DocsPage { title: TITLE.to_owned(), path: "/docs".to_owned(), body: html, headings }
}

/// The page as Markdown.
pub fn markdown(reference: &ApiReference) -> String {
    let mut out = format!("# {TITLE}\n\n{INTRODUCTION}\n");
    for step in STEPS {
        out.push_str(&format!("\n## {}\n\n{}\n", step.title, step.text));
        for call in step.calls {
            if let Some(operation) = reference.operation(call.operation) {
                let sample = curl::print(&request(reference, operation, call));
                out.push_str(&format!("\n```sh\n{sample}```\n"));
            }
        }
    }
    out.push_str(&format!("\n## Next\n\n{}", next(reference)));
    out
}

fn request<'r>(
    reference: &'r ApiReference,
    operation: &'r ReferenceOperation,
    call: &StartCall,
) -> SampleRequest<'r> {
    let mut path = operation.path.clone();
    for (parameter, value) in operation.parameters_in("path").zip(call.path_values) {
        path = path.replace(&format!("{{{}}}", parameter.name), value);
    }
    let query = call
        .query
        .iter()
        .map(|(name, value)| NamedValue { name: (*name).to_owned(), value: (*value).to_owned() });
    SampleRequest {
        operation,
        address: &reference.address,
        path,
        path_values: call.path_values.iter().map(|value| (*value).to_owned()).collect(),
        query: query.collect(),
        headers: Vec::new(),
        body: serde_json::from_str::<Value>(call.body).ok(),
    }
}

fn add_call(html: &mut Html, call: &StartCall, request: &SampleRequest<'_>) {
    html.raw("<div class=\"run\" data-method=\"").text(&request.operation.method).raw("\" data-target=\"");
    html.text(&request.target()).raw("\"");
    if let Some(body) = &request.body {
        html.raw(" data-body=\"").text(&body.to_string()).raw("\"");
    }
    if !call.keep.is_empty() {
        html.raw(" data-keep=\"").text(call.keep).raw("\"");
    }
    if !call.ask.is_empty() {
        html.raw(" data-ask=\"").text(call.ask).raw("\"");
    }
    html.raw(">\n<p class=\"line\"><span class=\"m ")
        .text(&request.operation.method.to_lowercase())
        .raw("\">");
    html.text(&request.operation.method)
        .raw("</span> <a href=\"")
        .text(&ApiReference::link(request.operation));
    html.raw("\"><code class=\"path\">").text(&request.operation.path).raw("</code></a></p>\n");
    add_samples(html, request);
    html.raw("</div>\n");
}

/// The headings of operations, as a Markdown list.
fn next(reference: &ApiReference) -> String {
    let mut out = "Clients exist for TypeScript and Python; every other language uses HTTP. The \
                   [conventions](/docs/api) apply to all operations:\n\n"
        .to_owned();
    for tag in &reference.tags {
        out.push_str(&format!("* [{}](/docs/api/{}): {}\n", tag.name, tag.slug, tag.description));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::STEPS;
    use crate::api;

    #[test]
    fn every_step_calls_an_operation() {
        let operations = api::operations();
        for call in STEPS.iter().flat_map(|step| step.calls) {
            let operation = operations.iter().find(|o| o.id() == call.operation);
            let operation = operation.unwrap_or_else(|| panic!("{} is no operation", call.operation));
            assert_eq!(operation.path_parameters().count(), call.path_values.len(), "{}", call.operation);
            let body = serde_json::from_str::<serde_json::Value>(call.body);
            assert_eq!(body.is_ok(), !call.body.is_empty(), "{}", call.operation);
            let has_field = body.is_ok_and(|body| body.get(call.ask).is_some());
            assert_eq!(has_field, !call.ask.is_empty(), "{}", call.operation);
        }
    }
}
