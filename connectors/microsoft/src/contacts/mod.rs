//! The contacts surface: folders of contacts of Exchange Online and Outlook.com.

mod addresses;
mod books;
mod changes;
mod dates;
pub mod earlier;
pub mod losses;
mod mapping;
mod native;
mod patch;
mod phones;
mod photo;
mod read;
mod record;
mod roots;
mod write;

use connector_sdk::{Answer, Contacts, Context, Outcome};
use model::contacts::ContactBook;
use model::wire::contacts::{ContactWrite, ContactsFeatures, Picture};
use model::wire::{
    ChangesRequest, CollectionDelete, CollectionWrite, ItemDelete, Mutated, SourceRef, Sources, SourcesGet,
};

use crate::account::is_personal;
use crate::connector::Microsoft;

impl Contacts for Microsoft {
    fn list_books(context: &Context, _: ChangesRequest) -> Outcome<Answer<Sources>> {
        books::list(context).map(Answer::whole)
    }

    fn get_contact(context: &Context, args: SourceRef) -> Outcome<Sources> {
        read::get(context, &args)
    }

    fn get_contacts(context: &Context, args: SourcesGet) -> Outcome<Sources> {
        read::get_many(context, &args)
    }

    fn photo(context: &Context, args: SourceRef) -> Outcome<Picture> {
        photo::read(context, &args)
    }

    fn features(context: &Context) -> Outcome<ContactsFeatures> {
        Ok(ContactsFeatures {
            create_book: true,
            update_book: true,
            delete_book: true,
            create_contact: true,
            groups: false,
            // Graph stores pictures of an organization's accounts alone (reference, "Update contact photo").
            photos: !is_personal(context),
            starred: false,
            push: false,
            delta: "deltaToken".to_owned(),
        })
    }

    fn create_book(context: &Context, args: CollectionWrite<ContactBook>) -> Outcome<Mutated> {
        books::create(context, &args)
    }

    fn update_book(context: &Context, args: CollectionWrite<ContactBook>) -> Outcome<Mutated> {
        books::update(context, &args)
    }

    fn delete_book(context: &Context, args: CollectionDelete) -> Outcome<Mutated> {
        books::delete(context, &args)
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

    fn changes(context: &Context, args: ChangesRequest) -> Outcome<Answer<Sources>> {
        changes::changes(context, &args)
    }
}
