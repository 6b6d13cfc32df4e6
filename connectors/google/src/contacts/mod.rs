//! The contacts surface: Google's People API.

mod books;
mod changes;
mod edit;
mod groups;
mod kinds;
pub mod losses;
mod memberships;
mod name;
mod native;
mod other;
mod person;
mod photo;
mod read;
mod record;
mod values;
mod write;

use connector_sdk::http::Request;
use connector_sdk::{Answer, Contacts, Context, Outcome};
use model::contacts::ContactGroup;
use model::wire::contacts::{ContactWrite, ContactsFeatures};
use model::wire::{ChangesRequest, ItemDelete, ItemWrite, Mutated, SourceRef, Sources, SourcesGet};

use crate::connector::Google;
pub use crate::contacts::books::OTHER_SETTING;
use crate::roots;

/// Returns a small read that shows whether the account's contacts can be read.
pub fn probe() -> Outcome<Request> {
    let query = [("personFields", "metadata"), read::OF_CONTACT, ("pageSize", "1")];
    Ok(Request::get(roots::people(&["people", "me", "connections"], &query)?))
}

/// Returns a small read that shows whether the account's other contacts can be read.
pub fn other_probe() -> Outcome<Request> {
    let query = [("readMask", "metadata"), ("pageSize", "1")];
    Ok(Request::get(roots::people(&["otherContacts"], &query)?))
}

impl Contacts for Google {
    fn list_books(context: &Context, _: ChangesRequest) -> Outcome<Answer<Sources>> {
        books::list(context).map(Answer::whole)
    }

    fn get_contact(context: &Context, args: SourceRef) -> Outcome<Sources> {
        read::get(context, &args)
    }

    fn get_contacts(context: &Context, args: SourcesGet) -> Outcome<Sources> {
        read::get_many(context, &args)
    }

    fn features(_: &Context) -> Outcome<ContactsFeatures> {
        Ok(ContactsFeatures {
            create_book: false,
            update_book: false,
            delete_book: false,
            create_contact: true,
            groups: true,
            photos: true,
            starred: true,
            push: false,
            delta: "syncToken".to_owned(),
        })
    }

    fn create_contact(context: &Context, args: ContactWrite) -> Outcome<Mutated> {
        write::create(context, &args)
    }

    fn update_contact(context: &Context, args: ContactWrite) -> Outcome<Mutated> {
        write::update(context, &args)
    }

    fn delete_contact(context: &Context, args: ItemDelete) -> Outcome<Mutated> {
        write::delete(context, &args)
    }

    fn create_group(context: &Context, args: ItemWrite<ContactGroup>) -> Outcome<Mutated> {
        groups::create(context, &args)
    }

    fn update_group(context: &Context, args: ItemWrite<ContactGroup>) -> Outcome<Mutated> {
        groups::update(context, &args)
    }

    fn delete_group(context: &Context, args: ItemDelete) -> Outcome<Mutated> {
        groups::delete(context, &args)
    }

    fn changes(context: &Context, args: ChangesRequest) -> Outcome<Answer<Sources>> {
        changes::changes(context, &args)
    }
}
