//! Instances of series: computed from the stored series and its exceptions, never stored themselves. An instance's id is the
//! series' id with the original start.

use std::collections::{HashMap, HashSet};

use base::error::{Code, Error, Result, refuse};
use recurrence::Suffix;
use storage::items::{self, Item, Shape, Window};
use storage::sql::Chunk;

use crate::app::App;
use crate::app::resource_kind::ResourceKind;
use crate::connections::request_context::RequestContext;
use crate::resources::events::instance::EventIdTarget;
use crate::resources::events::series::Series;

/// Rows read at a time.
const PAGE: i64 = 500;
/// Most events of one calendar that a query over a range reads.
pub const MAX_EVENTS: usize = 50_000;
/// Most bytes of events of one shape that a query over a range holds.
const MAX_BYTES: usize = 64 << 20;

/// A recurrence that cannot be expanded within its bounds, as the caller's error.
pub fn refusal(e: &recurrence::Error) -> Error {
    match e {
        recurrence::Error::Invalid(invalid) => {
            refuse(Code::InvalidRecurrence, format!("recurrence: {invalid}"))
        }
        recurrence::Error::TooManyInstances(_) | recurrence::Error::TooExpensive(_) => {
            refuse(Code::RangeTooLarge, e.to_string())
        }
        recurrence::Error::NoSuchInstance(_) => refuse(Code::NotFound, "no such event"),
        recurrence::Error::Unsplittable(_) => refuse(Code::CapabilityNotSupported, e.to_string()),
    }
}

/// All rows of a shape in a window.
async fn rows(
    app: &App,
    asker: &RequestContext,
    calendar_id: &str,
    from: i64,
    to: i64,
    shape: Shape,
) -> Result<Vec<Item>> {
    let mut found: Vec<Item> = Vec::new();
    let mut bytes = 0_usize;
    let mut after = None;
    loop {
        let window =
            Window { parent_id: calendar_id, from: Some(from), to, shape, after: after.take(), limit: PAGE };
        let chunk = items::list_window(app.db.reader(), &asker.tenant, &window).await?;
        after = chunk.rows.last().map(|i| items::After { sort_at: i.sort_at, id: i.id.clone() });
        for mut item in chunk.rows {
            // Fields that the list does not show, and that can be as long as the rest of the event.
            item.search_text = String::new();
            let raw = item.provider_data.as_ref().map_or(0, String::len);
            bytes = bytes.saturating_add(item.body.len() + raw);
            found.push(item);
        }
        if chunk.is_last {
            return Ok(found);
        }
        if found.len() > MAX_EVENTS || bytes > MAX_BYTES {
            return Err(too_many());
        }
    }
}

/// The 400 error for a range with more events than a query reads.
pub fn too_many() -> Error {
    refuse(Code::RangeTooLarge, "too many events in this range; ask for a shorter one")
}

/// Series with instances in a range, and their exceptions. An exception may have been moved to a time outside its series' rule, even after
/// its end: the series is included because of it.
pub async fn series_between(
    app: &App,
    asker: &RequestContext,
    calendar: &Item,
    from: i64,
    to: i64,
) -> Result<(Vec<Item>, HashMap<String, Vec<Item>>)> {
    let mut series = rows(app, asker, &calendar.id, from, to, Shape::Series).await?;
    let mut known: HashSet<String> = series.iter().map(|s| s.id.clone()).collect();
    let moved = rows(app, asker, &calendar.id, from, to, Shape::Exceptions).await?;
    for id in moved.into_iter().filter_map(|exception| exception.series_id) {
        if known.insert(id.clone())
            && let Some(item) =
                items::find(app.db.reader(), &asker.tenant, ResourceKind::Event.as_str(), &id).await?
        {
            series.push(item);
        }
    }
    let ids: Vec<&str> = series.iter().map(|s| s.id.as_str()).collect();
    let mut exceptions: HashMap<String, Vec<Item>> = HashMap::new();
    for item in exceptions_of(app, &ids).await? {
        if let Some(series) = item.series_id.clone() {
            exceptions.entry(series).or_default().push(item);
        }
    }
    Ok((series, exceptions))
}

/// The exceptions of series: a provider can name any number.
async fn exceptions_of(app: &App, series_ids: &[&str]) -> Result<Vec<Item>> {
    ensure_whole(items::exceptions_of(app.db.reader(), series_ids, MAX_BYTES).await?)
}

fn ensure_whole(found: Chunk<Item>) -> Result<Vec<Item>> {
    match found.is_last && found.rows.len() <= MAX_EVENTS {
        true => Ok(found.rows),
        false => Err(too_many()),
    }
}

/// The instance with this suffix; the exception if one is stored.
pub async fn by_suffix(app: &App, series: &Item, suffix: &str) -> Result<Option<EventIdTarget>> {
    let Some(suffix_value) = recurrence::parse_suffix(suffix) else { return Ok(None) };
    let at = match suffix_value {
        Suffix::Instant(at) => at.as_millis(),
        Suffix::Date(date) => {
            let midnight = date.to_zoned(jiff::tz::TimeZone::UTC).map_err(|e| anyhow::anyhow!(e))?;
            midnight.timestamp().as_millisecond()
        }
    };
    let exceptions = exceptions_of(app, &[&series.id]).await?;
    let whole = Series::read(series, &exceptions)?;
    if let Some(exception) = whole.exception(suffix) {
        return Ok(Some(EventIdTarget::Stored(Box::new(exception.clone()))));
    }
    let (from, to) = near(suffix_value, at);
    let instance = whole.named(suffix, from, to).map_err(|e| refusal(&e))?;
    Ok(instance.map(|instance| EventIdTarget::Occurrence {
        series: Box::new(series.clone()),
        instance: Box::new(instance),
    }))
}

/// The range (Unix ms) in which the original start of an instance with this suffix lies.
fn near(suffix: Suffix, at: i64) -> (i64, i64) {
    const DAY: i64 = 86_400_000;
    match suffix {
        // The suffix is cut to seconds.
        Suffix::Instant(_) => (at, at + 1_000),
        // A date: midnight in the series' zone is within two days.
        Suffix::Date(_) => (at - 2 * DAY, at + 2 * DAY),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_exceptions_than_a_query_holds_are_refused() {
        let found = |count, is_last| Chunk { rows: vec![Item::default(); count], is_last };
        let code = |chunk| ensure_whole(chunk).map(|rows| rows.len()).map_err(|e| e.code());
        assert!(matches!(code(found(MAX_EVENTS, true)), Ok(MAX_EVENTS)));
        assert!(matches!(code(found(MAX_EVENTS + 1, true)), Err(Some(Code::RangeTooLarge))));
        assert!(matches!(code(found(1, false)), Err(Some(Code::RangeTooLarge))), "there are more bytes");
    }
}
