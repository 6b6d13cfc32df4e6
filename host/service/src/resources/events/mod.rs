//! Calendar events: `read` lists and reads, `expanded` lists instances in place of series, `series` evaluates one series and `instances`
//! finds those of a calendar, `input` and `times` validate client input, `write` creates, changes and deletes, `respond` answers
//! invitations and requests conferences.

pub mod expanded;
pub mod input;
pub mod instance;
pub mod instances;
pub mod listing;
pub mod open;
pub mod read;
pub mod respond;
pub mod series;
pub mod target;
pub mod times;
pub mod write;

pub use crate::resources::events::instance::Instance;

use base::error::{Code, Error, Result, refuse};
use storage::items::Item;

use crate::app::App;
use crate::app::resource_kind::ResourceKind;
use crate::connections::request_context::RequestContext;
use crate::resources::events::instance::EventIdTarget;

/// Finds an event of a calendar by its id, stored or computed.
pub async fn load_target(
    app: &App,
    asker: &RequestContext,
    calendar_id: &str,
    event_id: &str,
) -> Result<EventIdTarget> {
    let EventIdParts { stored_id, .. } = EventIdParts::parse(event_id)?;
    let stored = asker.item(app, ResourceKind::Event, &stored_id).await?;
    target_of(app, stored, calendar_id, event_id).await
}

/// As `load_target`, if the stored event that the id begins with was already read.
pub async fn target_of(app: &App, stored: Item, calendar_id: &str, event_id: &str) -> Result<EventIdTarget> {
    let EventIdParts { suffix, .. } = EventIdParts::parse(event_id)?;
    if stored.parent_id != calendar_id {
        return Err(missing());
    }
    let Some(suffix) = suffix else { return Ok(EventIdTarget::Stored(Box::new(stored))) };
    if !stored.is_series {
        return Err(missing());
    }
    Box::pin(instances::by_suffix(app, &stored, suffix)).await?.ok_or_else(missing)
}

/// The parts of an event id: the id of the stored event and, for an instance, the suffix.
pub struct EventIdParts<'i> {
    pub stored_id: String,
    suffix: Option<&'i str>,
}

impl<'i> EventIdParts<'i> {
    pub fn parse(event_id: &'i str) -> Result<EventIdParts<'i>> {
        let mut parts = event_id.splitn(3, '_');
        let (Some(prefix), Some(unique)) = (parts.next(), parts.next()) else { return Err(missing()) };
        Ok(EventIdParts { stored_id: format!("{prefix}_{unique}"), suffix: parts.next() })
    }
}

fn missing() -> Error {
    refuse(Code::NotFound, "no such event")
}

#[cfg(test)]
mod tests {
    use model::Instant;

    use crate::local_copy::event_span::{ENDLESS_MS, bounds};
    use model::calendar::{Event, EventType};

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
            assert_eq!(until(&format!("RRULE:FREQ=DAILY;UNTIL={odd}")), ENDLESS_MS, "{odd:?}");
        }
    }
}
