//! Address books, contacts and groups. The operations, their arguments and answers are tabled in `model::wire::contacts`.

use model::contacts::{ContactBook, ContactGroup};
use model::wire::contacts::{ContactWrite, ContactsFeatures, Picture};
use model::wire::{
    ChangesRequest, CollectionDelete, CollectionWrite, ItemDelete, ItemWrite, Mutated, SourceRef, Sources,
    SourcesGet,
};
use serde_json::Value;

use crate::context::{Answer, Context, Host};
use crate::dispatch::{CallRequest, CallResponse, run, unknown};
use crate::error::{Failure, Outcome};

/// Operations of `contacts`.
pub trait Contacts {
    /// Returns all address books of the account; the host treats books that are missing as deleted.
    fn list_books(context: &Context, args: ChangesRequest) -> Outcome<Answer<Sources>> {
        let _ = (context, args);
        Err(Failure::unsupported("listing address books"))
    }

    /// Returns the current state of one contact or group.
    fn get_contact(context: &Context, args: SourceRef) -> Outcome<Sources> {
        let _ = (context, args);
        Err(Failure::unsupported("reading a contact"))
    }

    /// Returns many contacts at once, for a connector that answers `changes` with names only (`Sources.named`).
    fn get_contacts(context: &Context, args: SourcesGet) -> Outcome<Sources> {
        let _ = (context, args);
        Err(Failure::unsupported("reading many contacts at once"))
    }

    /// Returns the picture that is stored in a contact's record.
    fn photo(context: &Context, args: SourceRef) -> Outcome<Picture> {
        let _ = (context, args);
        Err(Failure::unsupported("pictures of contacts"))
    }

    /// Returns the features of this account's provider.
    fn features(context: &Context) -> Outcome<ContactsFeatures> {
        let _ = context;
        Err(Failure::unsupported("reporting its features"))
    }

    /// Creates an address book.
    fn create_book(context: &Context, args: CollectionWrite<ContactBook>) -> Outcome<Mutated> {
        let _ = (context, args);
        Err(Failure::unsupported("creating address books"))
    }

    /// Changes an address book.
    fn update_book(context: &Context, args: CollectionWrite<ContactBook>) -> Outcome<Mutated> {
        let _ = (context, args);
        Err(Failure::unsupported("changing address books"))
    }

    /// Deletes an address book with its contacts.
    fn delete_book(context: &Context, args: CollectionDelete) -> Outcome<Mutated> {
        let _ = (context, args);
        Err(Failure::unsupported("deleting address books"))
    }

    /// Creates a contact. A repeated create under the same idempotency key must return the contact of the first attempt.
    fn create_contact(context: &Context, args: ContactWrite) -> Outcome<Mutated> {
        let _ = (context, args);
        Err(Failure::unsupported("creating contacts"))
    }

    /// Changes a contact.
    fn update_contact(context: &Context, args: ContactWrite) -> Outcome<Mutated> {
        let _ = (context, args);
        Err(Failure::unsupported("changing contacts"))
    }

    /// Deletes a contact.
    fn delete_contact(context: &Context, args: ItemDelete) -> Outcome<Mutated> {
        let _ = (context, args);
        Err(Failure::unsupported("deleting contacts"))
    }

    /// Creates a group of contacts.
    fn create_group(context: &Context, args: ItemWrite<ContactGroup>) -> Outcome<Mutated> {
        let _ = (context, args);
        Err(Failure::unsupported("creating groups"))
    }

    /// Changes a group of contacts.
    fn update_group(context: &Context, args: ItemWrite<ContactGroup>) -> Outcome<Mutated> {
        let _ = (context, args);
        Err(Failure::unsupported("changing groups"))
    }

    /// Deletes a group; its contacts stay.
    fn delete_group(context: &Context, args: ItemDelete) -> Outcome<Mutated> {
        let _ = (context, args);
        Err(Failure::unsupported("deleting groups"))
    }

    /// Returns the contacts and groups of one address book that changed since the context's cursor; without a cursor, all of them.
    fn changes(context: &Context, args: ChangesRequest) -> Outcome<Answer<Sources>> {
        let _ = (context, args);
        Err(Failure::unsupported("changes of contacts"))
    }
}

/// Runs a read operation of `contacts` by its name; an unknown one is unsupported.
pub fn fetch<C: Contacts>(host: &dyn Host, request: CallRequest) -> Outcome<CallResponse> {
    match request.op.as_str() {
        "books.list" => run(host, request, C::list_books),
        "contacts.get" => run(host, request, |cx, args| C::get_contact(cx, args).map(Answer::whole)),
        "contacts.batchGet" => run(host, request, |cx, args| C::get_contacts(cx, args).map(Answer::whole)),
        "contacts.photo" => run(host, request, |cx, args| C::photo(cx, args).map(Answer::whole)),
        "capabilities" => run(host, request, |cx, _: Value| C::features(cx).map(Answer::whole)),
        op => unknown(op),
    }
}

/// Runs a write operation of `contacts` by its name; an unknown one is unsupported.
pub fn mutate<C: Contacts>(host: &dyn Host, request: CallRequest) -> Outcome<CallResponse> {
    match request.op.as_str() {
        "books.create" => run(host, request, |cx, args| C::create_book(cx, args).map(Answer::whole)),
        "books.update" => run(host, request, |cx, args| C::update_book(cx, args).map(Answer::whole)),
        "books.delete" => run(host, request, |cx, args| C::delete_book(cx, args).map(Answer::whole)),
        "contacts.create" => run(host, request, |cx, args| C::create_contact(cx, args).map(Answer::whole)),
        "contacts.update" => run(host, request, |cx, args| C::update_contact(cx, args).map(Answer::whole)),
        "contacts.delete" => run(host, request, |cx, args| C::delete_contact(cx, args).map(Answer::whole)),
        "groups.create" => run(host, request, |cx, args| C::create_group(cx, args).map(Answer::whole)),
        "groups.update" => run(host, request, |cx, args| C::update_group(cx, args).map(Answer::whole)),
        "groups.delete" => run(host, request, |cx, args| C::delete_group(cx, args).map(Answer::whole)),
        op => unknown(op),
    }
}

/// Runs the operation `contacts` of the export `changes`; an unknown one is unsupported.
pub fn changes<C: Contacts>(host: &dyn Host, request: CallRequest) -> Outcome<CallResponse> {
    match request.op.as_str() {
        "contacts" => run(host, request, C::changes),
        op => unknown(op),
    }
}
