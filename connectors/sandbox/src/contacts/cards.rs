//! The provider's cards: contacts, and groups of contacts.

use connector_sdk::Outcome;
use model::contacts::{Contact, ContactGroup};
use model::wire::Source;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::items::{Record, parsed, resource};

/// The type of a contact.
const CONTACT: &str = "contact";
/// The type of a group.
pub const GROUP: &str = "contact_group";

/// A contact or a group.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Card {
    #[serde(rename = "type")]
    pub kind: Option<String>,
}

impl Record for Card {
    const PATH: [&'static str; 2] = ["books", "cards"];
    const NAME: &'static str = "contact";

    fn source(record: &RawValue) -> Outcome<Source> {
        let card: Card = parsed(record, Self::NAME)?;
        match card.kind.as_deref() {
            Some(GROUP) => {
                resource(record, Self::NAME, Some(GROUP), |group: &ContactGroup| Some(&group.name))
            }
            _ => resource(record, Self::NAME, Some(CONTACT), |contact: &Contact| {
                contact.display_name.as_deref()
            }),
        }
    }
}
