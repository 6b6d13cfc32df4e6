//! One instance of a series, and the target of an event id.

use model::calendar::Event;
use storage::items::Item;

/// An event instance with its times.
#[derive(Clone, Debug)]
pub struct Instance {
    /// Its own id, or the series' id with the original start.
    pub id: String,
    pub event: Event,
    /// The stored row, if the instance has one.
    pub stored: Option<Item>,
}

impl Instance {
    /// An occurrence as a row of its series, for rendering. Its etag is the series', because changing it changes the series.
    pub fn item(&self, series: &Item) -> Item {
        match &self.stored {
            Some(item) => item.clone(),
            None => Item {
                id: self.id.clone(),
                series_id: Some(series.id.clone()),
                body: serde_json::to_string(&self.event).unwrap_or_else(|_| "{}".to_owned()),
                is_series: false,
                sort_at: self.event.start.as_millis(),
                until_at: self.event.end.as_millis(),
                ..series.clone()
            },
        }
    }
}

/// The event that an id refers to.
pub enum EventIdTarget {
    /// A stored event: a single one, a series, or an exception.
    Stored(Box<Item>),
    /// An occurrence that is computed from its series.
    Occurrence { series: Box<Item>, instance: Box<Instance> },
}

impl EventIdTarget {
    /// As `item`, by value.
    pub fn into_item(self) -> Item {
        match self {
            EventIdTarget::Stored(item) => *item,
            EventIdTarget::Occurrence { series, instance } => instance.item(&series),
        }
    }

    /// The row that the API renders.
    pub fn item(&self) -> Item {
        match self {
            EventIdTarget::Stored(item) => (**item).clone(),
            EventIdTarget::Occurrence { series, instance } => instance.item(series),
        }
    }
}
