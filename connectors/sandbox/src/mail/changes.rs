//! The messages of a mailbox, newest first, and the changes in it.
//!
//! The provider reports changes since a token, and lists messages newest first; the initial sync uses both. Its cursor is
//! `f<token>.<page>`: the position in the changes, and the next page of messages, empty after the last one. Later cursors are the token
//! alone. A token begins with a letter: `s` begins a walk over changes, `c` continues one.

use std::collections::HashSet;

use connector_sdk::http::Request;
use connector_sdk::{Answer, Context, Failure, Outcome, code};
use model::Instant;
use model::wire::{ChangesRequest, Source, Sources};
use serde_json::value::RawValue;

use crate::api::{ask, url};
use crate::mail::entries::{ReportForm, listed_source};
use crate::native::{FolderList, Page};

/// The provider's largest page.
const MAX_LIMIT: u32 = 250;

/// Returns one page of changes, or of the initial sync.
pub fn changes(context: &Context, args: &ChangesRequest) -> Outcome<Answer<Sources>> {
    let limit = if args.limit == 0 { MAX_LIMIT } else { args.limit.min(MAX_LIMIT) };
    let walk = Walk { context, limit: limit.to_string(), is_named: args.names_only };
    let expired = || Failure::new(code::CURSOR_EXPIRED, "the cursor is not one of this connector");
    match context.cursor.as_deref() {
        None => walk.begin(),
        Some(cursor) => match cursor.strip_prefix('f') {
            Some(rest) => {
                let (token, page) = rest.split_once('.').ok_or_else(expired)?;
                walk.go_on(token, Some(page).filter(|page| !page.is_empty()))
            }
            None => {
                let (sources, token) = walk.differences(cursor, ReportForm::Short)?;
                let more = token.starts_with('c');
                let body = Sources { sources, ..Sources::default() };
                Ok(Answer { body, cursor: Some(token), more })
            }
        },
    }
}

struct Walk<'a> {
    context: &'a Context<'a>,
    limit: String,
    is_named: bool,
}

impl Walk<'_> {
    /// Starts the initial sync. The token is requested first, so that no change during the sync is missed.
    fn begin(&self) -> Outcome<Answer<Sources>> {
        let request = Request::get(url(self.context, &["mail", "changes"], &[])?);
        let now: Page = ask(self.context, request, "following the mailbox")?;
        let token = now.next_sync_token.ok_or_else(|| Failure::unavailable("there is no sync token"))?;
        let mut sources = self.containers("folders")?;
        sources.extend(self.containers("labels")?);
        self.with_messages(sources, &format!("s{token}"), None)
    }

    /// Reads all folders, or all labels.
    fn containers(&self, kind: &str) -> Outcome<Vec<Source>> {
        let request = Request::get(url(self.context, &["mail", kind], &[])?);
        let found: FolderList = ask(self.context, request, &format!("listing the {kind}"))?;
        Ok(self.sources(&found.folders, ReportForm::Whole))
    }

    /// Returns the next page. Changes come first, so that the folders of the page's messages are known.
    fn go_on(&self, token: &str, page: Option<&str>) -> Outcome<Answer<Sources>> {
        let (sources, token) = self.differences(token, ReportForm::Whole)?;
        match page {
            Some(page) => self.with_messages(sources, &token, Some(page)),
            None => Ok(first(sources, &token, None, Some(Instant::default()))),
        }
    }

    fn with_messages(
        &self,
        mut sources: Vec<Source>,
        token: &str,
        page: Option<&str>,
    ) -> Outcome<Answer<Sources>> {
        let mut query = vec![("limit", self.limit.as_str())];
        query.extend(page.map(|page| ("pageToken", page)));
        let request = Request::get(url(self.context, &["mail", "messages"], &query)?);
        let page: Page = ask(self.context, request, "listing the messages")?;
        let covered = match page.next_page_token {
            // Other messages may have been received in the same millisecond as the last one.
            Some(_) => page.records.last().and_then(|last| received(last)).map(|ms| ms + 1),
            None => Some(0),
        };
        // A message in both lists is reported once, in its current state.
        let listed = self.sources(&page.records, ReportForm::Whole);
        let names: HashSet<&str> = listed.iter().map(|source| source.external_id.as_str()).collect();
        sources.retain(|source| source.deleted || !names.contains(source.external_id.as_str()));
        sources.extend(listed);
        let next = page.next_page_token.as_deref();
        Ok(first(sources, token, next, covered.map(Instant::from_millis)))
    }

    /// Reads one page of changes, and the token after it.
    fn differences(&self, token: &str, form: ReportForm) -> Outcome<(Vec<Source>, String)> {
        let expired = || Failure::new(code::CURSOR_EXPIRED, "the cursor is not one of this connector");
        let (letter, token) = token.split_at_checked(1).ok_or_else(expired)?;
        let name = match letter {
            "s" => "syncToken",
            "c" => "pageToken",
            _ => return Err(expired()),
        };
        let query = [("limit", self.limit.as_str()), (name, token)];
        let request = Request::get(url(self.context, &["mail", "changes"], &query)?);
        // A token that the provider refuses is from another version.
        let page: Page =
            ask(self.context, request, "following the mailbox").map_err(|failure| {
                match failure.http_status {
                    Some(400) => failure.with_code(code::CURSOR_EXPIRED),
                    _ => failure,
                }
            })?;
        let token = match (page.next_page_token, page.next_sync_token) {
            (Some(token), _) => format!("c{token}"),
            (None, Some(token)) => format!("s{token}"),
            (None, None) => return Err(Failure::unavailable("the provider's last page has no sync token")),
        };
        let mut sources = self.sources(&page.records, form);
        // A draft version that was replaced is continued by its replacement.
        let replaced: HashSet<String> =
            sources.iter().filter_map(|source| source.previous_id.clone()).collect();
        sources.retain(|source| !(source.deleted && replaced.contains(&source.external_id)));
        Ok((sources, token))
    }

    fn sources(&self, records: &[Box<RawValue>], form: ReportForm) -> Vec<Source> {
        let form = if self.is_named { ReportForm::Named } else { form };
        records.iter().map(|record| listed_source(record, form)).collect()
    }
}

/// Reads a page of the initial sync, which ends when neither messages nor changes are left.
fn first(
    sources: Vec<Source>,
    token: &str,
    page: Option<&str>,
    covered_since: Option<Instant>,
) -> Answer<Sources> {
    let more = page.is_some() || token.starts_with('c');
    let cursor = match more {
        true => format!("f{token}.{}", page.unwrap_or_default()),
        false => token.to_owned(),
    };
    let body = Sources { sources, enumeration: true, covered_since, ..Sources::default() };
    Answer { body, cursor: Some(cursor), more }
}

/// The time at which a message was received, in Unix milliseconds.
fn received(record: &RawValue) -> Option<i64> {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Received {
        received_at: Instant,
    }
    serde_json::from_str::<Received>(record.get()).ok().map(|message| message.received_at.as_millis())
}
