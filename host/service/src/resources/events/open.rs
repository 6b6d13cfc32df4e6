//! An event to write: its calendar, and the event, refreshed if the copy is stale.

use base::error::Result;

use crate::app::resource_kind::ResourceKind;
use crate::connections::write_context::WriteContext;
use crate::resources::events::instance::EventIdTarget;
use crate::resources::events::{EventIdParts, load_target, target_of};
use crate::resources::open_item::{KnownItem, ensure_inside_fresh, open_with};
use crate::writes::open_collection::OpenCollection;

/// The ids that a path has of an event.
#[derive(Clone, Copy)]
pub struct EventPath<'p> {
    pub calendar_id: &'p str,
    pub event_id: &'p str,
}

impl EventPath<'_> {
    /// The id of the stored event; for an instance the series'. A series and its instances share one lock: they are one object at the
    /// provider.
    fn stored_id(self) -> String {
        EventIdParts::parse(self.event_id).map_or_else(|_| self.event_id.to_owned(), |parts| parts.stored_id)
    }

    /// The name of the lock.
    pub fn lock_name(self) -> String {
        format!("item:{}", self.stored_id())
    }
}

/// An event to write.
pub struct EventToWrite<'p> {
    pub opened: OpenCollection,
    path: EventPath<'p>,
    /// The stored event as it was read with its calendar.
    known: Option<KnownItem>,
}

impl<'p> EventToWrite<'p> {
    /// Opens the calendar.
    pub async fn open(cx: &WriteContext, path: EventPath<'p>) -> Result<EventToWrite<'p>> {
        let (opened, known) = open_with(cx, ResourceKind::Event, path.calendar_id, &path.stored_id()).await?;
        Ok(EventToWrite { opened, path, known })
    }

    /// The event, refreshed if the copy is stale.
    pub async fn current(&mut self, cx: &WriteContext) -> Result<EventIdTarget> {
        let copy_at = ensure_inside_fresh(cx, &mut self.opened).await?;
        let EventPath { calendar_id, event_id } = self.path;
        match self.known.take().and_then(|known| known.of_copy(copy_at)) {
            Some(stored) => target_of(&cx.app, stored, calendar_id, event_id).await,
            None => load_target(&cx.app, &cx.request, calendar_id, event_id).await,
        }
    }
}
