//! The recipes of `docs/connectors/cookbook.md` in Rust: the test replaces each line `// recipe: NAME` by the code of that recipe.

#![allow(dead_code, unused_variables, unused_imports)]

use connector_sdk::http::{Request, Response, Segment};
use connector_sdk::model::Instant;
use connector_sdk::model::tasks::Task;
use connector_sdk::model::wire::email::{Content, MessageSend};
use connector_sdk::model::wire::watch::{WatchStart, WatchStop, Watching};
use connector_sdk::model::wire::{ItemWrite, Source, Sources, SourcesGet};
use connector_sdk::{Answer, Context, Failure, Lifecycle, Outcome, Tasks, Watch, code, export_connector};
use serde::Deserialize;
use serde_json::{Value, json};

struct Page {
    next_page_token: Option<String>,
    next_since: Option<String>,
}

#[derive(Deserialize)]
struct Item {
    id: String,
}

impl Item {
    fn source(self) -> Outcome<Source> {
        Ok(Source { external_id: self.id, ..Source::default() })
    }
}

#[derive(Deserialize)]
struct Hook {
    id: String,
    until: Instant,
}

struct Theirs {
    update_time: String,
}

fn url(context: &Context, segments: &[&str], query: &[(&str, &str)]) -> Outcome<String> {
    let server = context.setting("serverUrl").ok_or_else(|| Failure::invalid("settings.serverUrl is missing"))?;
    Ok(format!("{server}/{}", segments.join("/")))
}

fn page_tokens(page: Page, enumeration: bool) -> Outcome<(String, bool)> {
    // recipe: page-tokens
    Ok((cursor, more))
}

fn forgotten_token(context: &Context, response: Response) -> Outcome<()> {
    // recipe: forgotten-token
}

// recipe: batch

fn download(context: &Context, url: String) -> Outcome<Content> {
    // recipe: download
}

fn upload(url: String, args: MessageSend) -> Request {
    // recipe: upload
    request
}

fn instant(text: &str) -> Outcome<Instant> {
    // recipe: instant
    Ok(start)
}

fn send(context: &Context, request: Request) -> Outcome<Response> {
    // recipe: send
    Ok(response)
}

fn handed_over(failure: Failure) -> Outcome<()> {
    // recipe: handed-over
}

fn rate_limit(context: &Context, request: Request) -> Outcome<Response> {
    // recipe: rate-limit
    Ok(response)
}

fn rate_limit_in_body() -> Failure {
    // recipe: rate-limit-in-body
    failure
}

fn wait_inside_an_answer(context: &Context, sources: Sources, cursor: String) -> Outcome<Answer<Sources>> {
    // recipe: wait-inside-an-answer
}

mod notifications {
    use super::*;

    struct Notes;

    impl Lifecycle for Notes {}

    impl Tasks for Notes {}

    // recipe: notifications
}

fn precondition(url: String, args: ItemWrite<Task>, fields: Value) -> Request {
    // recipe: precondition
    request
}

fn changed_id(old: String, new: Source) -> Source {
    // recipe: changed-id
    source
}

fn time_of_change(theirs: Theirs, source: Source) -> Source {
    // recipe: time-of-change
    source
}
