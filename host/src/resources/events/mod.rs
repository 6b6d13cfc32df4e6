//! Calendar events: `read` lists and reads, `instances` expands series, `input` and `times` check what clients send, `write`
//! creates, changes and deletes, `respond` answers invitations and asks for conferences.

pub mod aim;
pub mod input;
pub mod instances;
pub mod read;
pub mod respond;
pub mod times;
pub mod write;

pub use instances::{Instance, instances_between};

use model::calendar::{Event, EventType};

use crate::app::App;
use crate::error::{Code, Result, refuse};
use crate::resources::{Asker, Kind};
use crate::storage::items::Item;

/// The end of time, for series without one.
const FAR: i64 = i64::MAX / 4;

/// Start and end of everything that an event covers: of a series, from its first start to the end of its last occurrence,
/// or at least as far.
pub fn bounds(event: &Event) -> (i64, i64) {
    let (start, end) = (event.start.as_millis(), event.end.as_millis());
    if event.event_type != EventType::Series {
        return (start, end.max(start));
    }
    (start, until(event).max(end))
}

/// A bound for the last occurrence: the rule's UNTIL and the last RDATE, with the length and a day for zones. COUNT and rules
/// without an end count as endless: whoever reads the series expands it anyhow.
fn until(event: &Event) -> i64 {
    const DAY: i64 = 86_400_000;
    let length = event.end.as_millis() - event.start.as_millis() + 2 * DAY;
    let mut last = event.end.as_millis();
    for line in &event.recurrence {
        let upper = line.to_ascii_uppercase();
        if upper.starts_with("RRULE") {
            let Some(text) = upper.split("UNTIL=").nth(1) else { return FAR };
            match day_ms(text) {
                Some(ms) => last = last.max(ms + length),
                None => return FAR,
            }
        } else if upper.starts_with("RDATE") {
            let dates = upper.rsplit(':').next().unwrap_or_default();
            for date in dates.split(',') {
                match day_ms(date) {
                    Some(ms) => last = last.max(ms + length),
                    None => return FAR,
                }
            }
        }
    }
    last
}

/// Midnight UTC of the day in `20260301…`.
fn day_ms(text: &str) -> Option<i64> {
    // By `get` each: any of the eight bytes may be part of a longer character.
    let (year, month, day) = (text.get(..4)?.parse(), text.get(4..6)?.parse(), text.get(6..8)?.parse());
    let date = jiff::civil::Date::new(year.ok()?, month.ok()?, day.ok()?).ok()?;
    let midnight = date.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    Some(midnight.timestamp().as_millisecond())
}

/// What an event id names.
pub enum Named {
    /// A stored event: a single one, a series, or an exception.
    Stored(Box<Item>),
    /// An occurrence that only the series knows.
    Occurrence { series: Box<Item>, instance: Box<Instance> },
}

impl Named {
    /// The same, given away.
    pub fn into_item(self) -> Item {
        match self {
            Named::Stored(item) => *item,
            Named::Occurrence { series, instance } => instance.item(&series),
        }
    }

    /// As the API prints it.
    pub fn item(&self) -> Item {
        match self {
            Named::Stored(item) => (**item).clone(),
            Named::Occurrence { series, instance } => instance.item(series),
        }
    }
}

/// Finds an event of a calendar by its id, be it stored or computed.
pub async fn named(app: &App, asker: &Asker, calendar_id: &str, event_id: &str) -> Result<Named> {
    let missing = || refuse(Code::NotFound, "no such event");
    let mut parts = event_id.splitn(3, '_');
    let (prefix, unique, suffix) = (parts.next(), parts.next(), parts.next());
    let (Some(prefix), Some(unique)) = (prefix, unique) else { return Err(missing()) };
    let stored = asker.item(app, Kind::Event, &format!("{prefix}_{unique}")).await?;
    if stored.parent_id != calendar_id {
        return Err(missing());
    }
    let Some(suffix) = suffix else { return Ok(Named::Stored(Box::new(stored))) };
    if !stored.is_series {
        return Err(missing());
    }
    Box::pin(instances::by_suffix(app, &stored, suffix)).await?.ok_or_else(missing)
}

#[cfg(test)]
mod tests {
    use super::day_ms;

    #[test]
    fn a_day_is_read_out_of_whatever_a_server_writes() {
        assert_eq!(day_ms("19700102T090000Z"), Some(86_400_000));
        for odd in [
            "",
            "2026",
            "202\u{e9}0301",
            "2026\u{e9}301",
            "20260\u{e9}1",
            "2026030\u{e9}",
            "20261301",
            "\u{1f600}0301",
        ] {
            assert_eq!(day_ms(odd), None, "{odd:?}");
        }
    }
}
