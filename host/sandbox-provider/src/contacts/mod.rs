//! Address books and the cards in them: contacts and groups of contacts.

pub mod cards;
mod check;

use model::contacts::{Contact, ContactBook, ContactGroup};
use serde::{Deserialize, Serialize};

use crate::document::Document;

/// An address book of an account.
pub type Book = Document<ContactBook>;
/// A contact or a group.
pub type Card = Document<CardBody>;

/// A contact, or a group of contacts of the same book. The address of a stored photo is a `data:` URL, which is shown nowhere.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CardBody {
    Contact(Box<Contact>),
    Group(ContactGroup),
}

impl CardBody {
    fn members(&self) -> &[String] {
        match self {
            CardBody::Group(group) => group.contact_ids.as_deref().unwrap_or_default(),
            CardBody::Contact(_) => &[],
        }
    }
}
