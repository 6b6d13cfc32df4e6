//! One instance of a series, and what an event id names.

use model::calendar::Event;
use storage::items::Item;

/// An event as it takes place.
#[derive(Clone, Debug)]
pub struct Instance {
    /// Its own id, or the series' id with the original start.
    pub id: String,
    pub event: Event,
    /// The stored row, where it is one.
    pub stored: Option<Item>,
}

impl Instance {
    /// An occurrence as a row of its series, to be printed. Its version is the series': that is what a change of it changes.
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

/// What an event id names.
pub enum EventIdTarget {
    /// A stored event: a single one, a series, or an exception.
    Stored(Box<Item>),
    /// An occurrence that only the series knows.
    Occurrence { series: Box<Item>, instance: Box<Instance> },
}

impl EventIdTarget {
    /// The same, given away.
    pub fn into_item(self) -> Item {
        match self {
            EventIdTarget::Stored(item) => *item,
            EventIdTarget::Occurrence { series, instance } => instance.item(&series),
        }
    }

    /// As the API prints it.
    pub fn item(&self) -> Item {
        match self {
            EventIdTarget::Stored(item) => (**item).clone(),
            EventIdTarget::Occurrence { series, instance } => instance.item(series),
        }
    }
}
