//! Calendar events: `read` lists and reads, `expanded` lists instances in the place of series, `series` knows what a series means and
//! `instances` finds those of a calendar, `input` and `times` check what clients send, `write`
//! creates, changes and deletes, `respond` answers invitations and asks for conferences.

pub mod aim;
pub mod expanded;
pub mod input;
pub mod instances;
pub mod read;
pub mod respond;
pub mod series;
pub mod times;
pub mod write;

pub use instances::Instance;

use base::error::{Code, Result, refuse};
use model::calendar::{Event, EventType};
use storage::items::Item;

use crate::app::App;
use crate::resources::{Asker, Kind};

/// The end of time, for series without one.
const FAR: i64 = i64::MAX / 4;

/// Start and end of everything that an event covers: of a series, from its first start to the end of its last occurrence,
/// or at least as far.
pub fn bounds(event: &Event) -> (i64, i64) {
    let (start, end) = (event.start.as_millis(), event.end.as_millis());
    if event.applies_to_following {
        // The instances that it moves may take place where the series has nothing else.
        return (start, FAR);
    }
    if event.event_type != EventType::Series {
        return (start, end.max(start));
    }
    // COUNT and rules without an end count as endless: whoever reads the series expands it anyhow.
    let until = recurrence::possible_span(event).end.map_or(FAR, |until| until.as_millis());
    (start, until.max(end))
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
    use model::Instant;

    use super::*;

    #[test]
    fn the_end_of_a_series_is_read_out_of_whatever_a_server_writes() {
        let until = |line: &str| {
            let event = Event {
                event_type: EventType::Series,
                end: Instant::from_millis(1),
                recurrence: vec![line.to_owned()],
                ..Event::default()
            };
            bounds(&event).1
        };
        assert_eq!(until("RRULE:FREQ=DAILY;UNTIL=19700102T090000Z"), 33 * 3_600_000 + 1);
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
            assert_eq!(until(&format!("RRULE:FREQ=DAILY;UNTIL={odd}")), FAR, "{odd:?}");
        }
    }
}
