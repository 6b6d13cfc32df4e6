//! The time that an event or a whole series covers.

use model::calendar::{Event, EventType};

/// The end of series without an end, ms.
pub(crate) const ENDLESS_MS: i64 = i64::MAX / 4;

/// Returns start and end of everything that an event covers: of a series, from its first start to the end of its last occurrence or later.
pub fn bounds(event: &Event) -> (i64, i64) {
    let (start, end) = (event.start.as_millis(), event.end.as_millis());
    if event.applies_to_following {
        // The instances that it moves may lie where the series has no others.
        return (start, ENDLESS_MS);
    }
    if event.event_type != EventType::Series {
        return (start, end.max(start));
    }
    // COUNT and rules without an end count as endless: readers of the series expand it anyway.
    let until = recurrence::possible_span(event).end.map_or(ENDLESS_MS, |until| until.as_millis());
    (start, until.max(end))
}
