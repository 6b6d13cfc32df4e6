//! Lists and reads. A plain list splices stored rows; a filter looks into them; `expand` puts the instances of series in
//! their place.

use std::sync::Arc;

use base::error::{Code, Result, invalid};
use base::ids;
use model::calendar::Event;
use serde::{Deserialize, Serialize};
use storage::connections::Connection;
use storage::items::{self, After, Item, Shape, Shown, Window};
use storage::sql::Chunk;

use crate::answer::Answer;
use crate::app::App;
use crate::pages::Room;
use crate::resources::events::{expanded, named};
use crate::resources::{Asker, Kind, collections, render};

/// Longest range that is expanded.
const MAX_EXPAND_MS: i64 = 400 * 86_400_000;
/// Rows that one page looks at when a filter drops most of them; the page may then be short.
const MAX_SCANNED: usize = 2_000;

/// What to list. It is part of what a cursor is bound to.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Query {
    pub calendar_id: String,
    pub start: Option<i64>,
    pub end: Option<i64>,
    pub expand: bool,
    pub updated_after: Option<i64>,
    pub q: Option<String>,
    pub i_cal_uid: Option<String>,
    pub attendee: Option<String>,
    pub status: Option<String>,
    pub show_cancelled: bool,
    /// Whether it is printed too. It selects nothing: a cursor goes with or without.
    #[serde(skip)]
    pub with_provider_data: bool,
}

/// A place in the list: after this start and id.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Place {
    #[serde(rename = "s")]
    pub sort_at: i64,
    #[serde(rename = "i")]
    pub id: String,
}

/// A page of printed events, and where the next begins.
pub type Page = (Vec<String>, Option<Place>);

impl Query {
    fn check(&self) -> Result<()> {
        if let (Some(start), Some(end)) = (self.start, self.end)
            && end <= start
        {
            return Err(invalid(Code::InvalidTimeRange, "end", "end must be after start"));
        }
        if !self.expand {
            return Ok(());
        }
        match (self.start, self.end) {
            (Some(start), Some(end)) if end - start <= MAX_EXPAND_MS => Ok(()),
            (Some(_), Some(_)) => Err(invalid(
                Code::RangeTooLarge,
                "end",
                "with expand=true the range may have at most 400 days",
            )),
            (None, _) => Err(invalid(Code::MissingField, "start", "start is required with expand=true")),
            (_, None) => Err(invalid(Code::MissingField, "end", "end is required with expand=true")),
        }
    }

    fn is_plain(&self) -> bool {
        self.q.is_none() && self.i_cal_uid.is_none() && self.attendee.is_none() && self.status.is_none()
    }

    /// Whether an event is listed.
    pub fn admits(&self, event: &Event) -> bool {
        let status = serde_json::to_value(event.status).ok();
        let status = status.as_ref().and_then(|s| s.as_str()).unwrap_or_default();
        if let Some(wanted) = &self.status {
            if wanted != status {
                return false;
            }
        } else if status == "cancelled" && !self.show_cancelled {
            return false;
        }
        let uid = self.i_cal_uid.as_ref().is_none_or(|u| event.i_cal_uid.as_ref() == Some(u));
        let attendee = self
            .attendee
            .as_ref()
            .is_none_or(|a| event.attendees.iter().any(|x| x.email.eq_ignore_ascii_case(a)));
        uid && attendee && self.q.as_ref().is_none_or(|q| matches(event, q))
    }
}

/// Every word of the query stands somewhere in the texts.
fn matches(event: &Event, q: &str) -> bool {
    let mut text = String::new();
    for part in [&event.title, &event.description, &event.location].into_iter().flatten() {
        text.push_str(&part.to_lowercase());
        text.push('\n');
    }
    for attendee in &event.attendees {
        text.push_str(&attendee.email.to_lowercase());
        text.push_str(&attendee.name.as_deref().unwrap_or_default().to_lowercase());
    }
    q.to_lowercase().split_whitespace().all(|word| text.contains(word))
}

/// The calendar that is asked about, fresh enough to be read.
pub async fn open(app: &App, asker: &Asker, query: &Query) -> Result<Arc<(Connection, Item)>> {
    query.check()?;
    let opened = collections::open_to_read(app, asker, (Kind::Calendar, &query.calendar_id)).await?;
    let (connection, calendar) = &*opened;
    collections::freshen(app, asker, connection, calendar).await?;
    Ok(opened)
}

/// A page of an opened calendar's events, by start and id.
pub async fn list(
    app: &App,
    asker: &Asker,
    calendar: &Item,
    query: &Query,
    after: Option<Place>,
    limit: i64,
) -> Result<Page> {
    if query.expand {
        return expanded::page(app, asker, calendar, query, after, limit).await;
    }
    stored(app, asker, query, after, limit).await
}

async fn stored(app: &App, asker: &Asker, query: &Query, after: Option<Place>, limit: i64) -> Result<Page> {
    let mut room = Room::new(usize::try_from(limit).unwrap_or(usize::MAX));
    let mut found: Vec<String> = Vec::new();
    let mut place = after;
    let mut scanned = 0;
    loop {
        // One more than wanted tells whether anything comes after.
        let chunk = scan(app, asker, query, place.as_ref(), limit + 1).await?;
        scanned += chunk.rows.len();
        let mut rows = chunk.rows.into_iter();
        while !room.is_full()
            && let Some((at, text)) = rows.next()
        {
            if let Some(text) = text {
                if !room.take(text.len()) {
                    return Ok((found, place));
                }
                found.push(text);
            }
            place = Some(at);
        }
        if chunk.is_last && rows.as_slice().is_empty() {
            return Ok((found, None));
        }
        if room.is_full() || scanned >= MAX_SCANNED {
            // The row that tells whether anything comes after may have been taken.
            let is_end = rows.as_slice().is_empty()
                && scan(app, asker, query, place.as_ref(), 1).await?.rows.is_empty();
            return Ok((found, place.filter(|_| !is_end)));
        }
    }
}

/// The next rows of the window; the text of each that is listed.
async fn scan(
    app: &App,
    asker: &Asker,
    query: &Query,
    after: Option<&Place>,
    limit: i64,
) -> Result<Chunk<(Place, Option<String>)>> {
    let window = Window {
        parent_id: &query.calendar_id,
        from: query.start,
        to: query.end.unwrap_or(i64::MAX),
        shape: Shape::Any,
        after: after.cloned().map(|p| After { sort_at: p.sort_at, id: p.id }),
        limit,
    };
    let with_provider_data = query.with_provider_data;
    let print = |row: Shown<'_>| {
        let is_recent = query.updated_after.is_none_or(|after| row.updated_at >= after);
        let text =
            (is_recent && is_listed(query, row.body)?).then(|| render::shown(&row, &[], with_provider_data));
        Ok((Place { sort_at: row.sort_at, id: row.id.to_owned() }, text))
    };
    Ok(items::read_window(app.db.resources(), &asker.tenant, &window, with_provider_data, print).await?)
}

/// Whether an event with this body is listed.
pub fn is_listed(query: &Query, body: &str) -> serde_json::Result<bool> {
    if query.is_plain() && query.show_cancelled {
        return Ok(true);
    }
    // A cheap look before the costly one: most events are confirmed and most lists have no filter.
    if query.is_plain() && !body.contains("\"status\":\"cancelled\"") {
        return Ok(true);
    }
    Ok(query.admits(&serde_json::from_str::<Event>(body)?))
}

/// Sees to it that the events of a calendar that the caller may read are fresh.
pub async fn freshen(app: &App, asker: &Asker, calendar_id: &str) -> Result<()> {
    let opened = collections::open_to_read(app, asker, (Kind::Calendar, calendar_id)).await?;
    let (connection, calendar) = &*opened;
    collections::freshen(app, asker, connection, calendar).await
}

/// One event, stored or computed, of a calendar that was freshened.
pub async fn get(
    app: &App,
    asker: &Asker,
    (calendar_id, event_id): (&str, &str),
    with_provider_data: bool,
) -> Result<Answer> {
    let printed = |row: &Shown<'_>| Answer::ok(render::shown(row, &[], with_provider_data)).etag(row.etag);
    let is_asked = |row: &Shown<'_>| row.parent_id == calendar_id && asker.may_use(row.connection_id);
    let read = |row: Shown<'_>| is_asked(&row).then(|| printed(&row));
    let row = (Kind::Event.as_str(), event_id);
    if ids::is_plausible(event_id)
        && let Some(Some(answer)) =
            items::read(app.db.resources(), &asker.tenant, row, with_provider_data, read).await?
    {
        return Ok(answer);
    }
    // An instance, or nothing.
    let item = Box::pin(named(app, asker, calendar_id, event_id)).await?.into_item();
    Ok(printed(&Shown::from(&item)))
}
