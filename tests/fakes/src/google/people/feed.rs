//! Walks through lists: page tokens, and sync tokens that live for a week behind the full read.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::google::call::Call;
use crate::google::errors::ApiError;
use crate::google::people::book::{FeedRecord, FeedVersion};
use crate::google::people::errors;
use crate::google::people::facts::PEOPLE;
use crate::google::state::State;

/// A sync token: everything up to the change with this number was answered.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FeedToken {
    number: u64,
    parameters: String,
    /// The time of the full read that it goes back to.
    full_ms: i64,
}

/// A page token.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FeedPosition {
    /// The number of the latest change that the walk tells.
    upper: u64,
    /// The number of the last change on the pages so far; the number of items on them where the order is another one.
    after: u64,
    parameters: String,
    is_delta: bool,
    full_ms: i64,
}

/// The rules of a list.
#[derive(Clone, Copy)]
pub struct FeedRules {
    pub name: &'static str,
    /// The fact `pages.{usual}`.
    pub usual: &'static str,
    /// Sync tokens live for a week behind the full read, and come where they are asked for.
    pub is_weekly: bool,
}

/// A walk, as the request of one page has it.
pub struct FeedWalk {
    position: FeedPosition,
    size: usize,
    /// The time up to which the feed is; the end of time unless it is late.
    feed_ms: i64,
    gives_token: bool,
}

/// A page.
pub struct FeedBatch<'r, T> {
    pub items: Vec<(&'r FeedRecord<T>, &'r FeedVersion<T>)>,
    pub total: usize,
    pub next_page: Option<String>,
    pub next_sync: Option<String>,
}

/// The order of a full read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum FeedOrder {
    OldestFirst,
    NewestFirst,
    Name,
}

fn parse<T: DeserializeOwned>(text: &str, kind: &str) -> Result<T, ApiError> {
    let bytes = BASE64_URL_SAFE.decode(text).ok();
    let token = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    token.ok_or_else(|| errors::invalid(&format!("Invalid {kind} token.")))
}

fn write(token: &impl Serialize) -> String {
    BASE64_URL_SAFE.encode(serde_json::to_vec(token).expect("a token can be written"))
}

/// The parameters that are the same in each request of a walk, and with the sync token that it gives.
fn fixed_parameters(of: &str, call: &Call) -> String {
    let fixed = call.query.iter().filter(|(name, _)| !PEOPLE.has("sync", "free_with_token", name));
    let mut fixed: Vec<String> = fixed.map(|(name, value)| format!("{name}={value}")).collect();
    fixed.sort();
    format!("{of}?{}", fixed.join("&"))
}

fn page_size(call: &Call, usual: &str) -> Result<usize, ApiError> {
    let most = PEOPLE.number("pages", "most");
    match call.parameter("pageSize").map(str::parse::<usize>) {
        None | Some(Ok(0)) => Ok(PEOPLE.number("pages", usual)),
        Some(Ok(size)) if size <= most => Ok(size),
        _ => Err(errors::invalid(&format!("Page size must be from 1 to {most}."))),
    }
}

impl FeedWalk {
    /// Begins a walk, or goes on with one.
    ///
    /// # Errors
    /// A token is none of this list's, has expired, or comes with other parameters: 400. The quota of full reads is used up: 429.
    pub fn begin(state: &mut State, call: &Call, rules: FeedRules) -> Result<FeedWalk, ApiError> {
        let size = page_size(call, rules.usual)?;
        let sync: Option<FeedToken> =
            call.parameter("syncToken").map(|text| parse(text, "sync")).transpose()?;
        let page: Option<FeedPosition> =
            call.parameter("pageToken").map(|text| parse(text, "page")).transpose()?;
        let parameters = fixed_parameters(rules.name, call);
        let gives_token = !rules.is_weekly || call.is_set("requestSyncToken");
        let now = state.clock.now_ms();
        let feed_ms = match state.traps.is_on("late_feed") {
            true => now - PEOPLE.milliseconds("sync", "delay_s"),
            false => i64::MAX,
        };
        if let Some(sync) = &sync {
            check_token(state, call, sync, page.is_some(), rules)?;
        }
        let known = sync.as_ref().map(|sync| &sync.parameters).or(page.as_ref().map(|page| &page.parameters));
        let fits_page =
            page.as_ref().is_none_or(|page| page.parameters == parameters && page.is_delta == sync.is_some());
        if known.is_some_and(|known| *known != parameters) || !fits_page {
            return Err(errors::invalid("Request parameters must be those of the first call."));
        }
        if sync.is_none() && page.is_none() && gives_token && state.traps.fires("first_page_quota") {
            return Err(errors::quota("Full contact sync requests"));
        }
        let position = page.unwrap_or_else(|| FeedPosition {
            upper: state.latest(),
            after: sync.as_ref().map_or(0, |sync| sync.number),
            parameters,
            is_delta: sync.is_some(),
            full_ms: sync.as_ref().map_or(now, |sync| sync.full_ms),
        });
        Ok(FeedWalk { position, size, feed_ms, gives_token })
    }

    /// Returns the page of this walk. A full read is current even if the feed is late: its sync token is that of the feed.
    pub fn page<'r, T: Clone + 'r>(
        &self,
        records: impl Iterator<Item = &'r FeedRecord<T>>,
        order: FeedOrder,
        name: impl Fn(&T) -> String,
    ) -> FeedBatch<'r, T> {
        let position = &self.position;
        let records: Vec<&FeedRecord<T>> = records.collect();
        let is_full = !position.is_delta;
        let by_change = order == FeedOrder::OldestFirst || !is_full;
        let has_part = |version: &FeedVersion<T>| {
            let is_behind = !by_change || version.changed > position.after;
            is_behind && version.changed <= position.upper && !(is_full && version.is_deleted)
        };
        let horizon_ms = if is_full { i64::MAX } else { self.feed_ms };
        let visible = records.iter().filter_map(|record| Some((*record, record.at(horizon_ms)?)));
        let mut items: Vec<_> = visible.filter(|(_, version)| has_part(version)).collect();
        items.sort_by_key(|(_, version)| version.changed);
        match order {
            FeedOrder::NewestFirst if is_full => items.reverse(),
            FeedOrder::Name if is_full => items.sort_by_cached_key(|(_, version)| name(&version.content)),
            _ => {}
        }
        let skipped = if by_change { 0 } else { usize::try_from(position.after).unwrap_or(usize::MAX) };
        let has_more = items.len() > skipped.saturating_add(self.size);
        let items: Vec<_> = items.into_iter().skip(skipped).take(self.size).collect();
        let after = match by_change {
            true => items.last().map_or(position.after, |(_, version)| version.changed),
            false => skipped.saturating_add(self.size) as u64,
        };
        let next_page = has_more.then(|| write(&FeedPosition { after, ..position.clone() }));
        let next_sync = (next_page.is_none() && self.gives_token).then(|| write(&self.token(&records)));
        let total = records.iter().filter(|record| !record.latest().is_deleted).count();
        FeedBatch { items, total, next_page, next_sync }
    }

    /// The sync token of the walk's last page.
    fn token<T: Clone>(&self, records: &[&FeedRecord<T>]) -> FeedToken {
        let position = &self.position;
        let base = if position.is_delta { position.after } else { 0 };
        let number = match self.feed_ms {
            i64::MAX => position.upper,
            feed_ms => {
                let told = records.iter().filter_map(|record| Some(record.at(feed_ms)?.changed));
                told.filter(|changed| *changed <= position.upper).max().unwrap_or_default().max(base)
            }
        };
        FeedToken { number, parameters: position.parameters.clone(), full_ms: position.full_ms }
    }
}

fn check_token(
    state: &mut State,
    call: &Call,
    sync: &FeedToken,
    has_page: bool,
    rules: FeedRules,
) -> Result<(), ApiError> {
    if !has_page && state.traps.fires("expired_sync_token") {
        return Err(errors::sync_token_expired(true));
    }
    if !has_page && state.traps.fires("sync_token_expired_text") {
        return Err(errors::sync_token_expired(false));
    }
    let age_ms = state.clock.now_ms().saturating_sub(sync.full_ms);
    let is_old = rules.is_weekly && age_ms > PEOPLE.milliseconds("sync", "token_life_s");
    let valid_from = state.people.get(&call.user).map_or(0, |book| book.valid_from);
    match is_old || sync.number < valid_from {
        true => Err(errors::sync_token_expired(true)),
        false => Ok(()),
    }
}
