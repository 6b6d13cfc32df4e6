//! A connector for Paper's address books. `contact` maps cards, `paper` calls the service; here are the operations that a host asks for.

mod contact;
mod paper;

use connector_sdk::model::wire::contacts::{ContactWrite, ContactsFeatures};
use connector_sdk::model::wire::{Account, ChangesRequest, ItemDelete, Mutated, Source, SourceRef, Sources};
use connector_sdk::{Answer, Contacts, Context, Lifecycle, Outcome, export_connector};

use crate::contact::{PaperCard, book, fields, refuse_unkept, unkept};
use crate::paper::Record;

pub struct MyConnector;

impl Lifecycle for MyConnector {
    fn check(context: &Context) -> Outcome<Account> {
        paper::account(context, "contacts")
    }
}

impl Contacts for MyConnector {
    /// The features beside reading and writing: callers do not ask for those that are not claimed, such as groups and pictures.
    fn features(_: &Context) -> Outcome<ContactsFeatures> {
        Ok(ContactsFeatures { create_contact: true, delta: "syncToken".into(), ..ContactsFeatures::default() })
    }

    fn list_books(context: &Context, _: ChangesRequest) -> Outcome<Answer<Sources>> {
        paper::collections(context, &PaperCard::NAMES, book)
    }

    fn get_contact(context: &Context, args: SourceRef) -> Outcome<Sources> {
        paper::get::<PaperCard>(context, &args.collection, &args.source)
    }

    fn changes(context: &Context, args: ChangesRequest) -> Outcome<Answer<Sources>> {
        paper::changes::<PaperCard>(context, &args)
    }

    fn create_contact(context: &Context, args: ContactWrite) -> Outcome<Mutated> {
        refuse_unkept(&args)?;
        let made = paper::create::<PaperCard>(context, &args.write.collection, &fields(&args.write.body, None))?;
        Ok(written(made, &args))
    }

    fn update_contact(context: &Context, args: ContactWrite) -> Outcome<Mutated> {
        refuse_unkept(&args)?;
        let fields = fields(&args.write.body, Some(&args.write.changed));
        let (id, if_match) = (args.write.source.as_deref(), args.write.if_match.as_deref());
        let now = paper::update::<PaperCard>(context, &args.write.collection, id, if_match, &fields)?;
        Ok(written(now, &args))
    }

    fn delete_contact(context: &Context, args: ItemDelete) -> Outcome<Mutated> {
        let gone = paper::delete::<PaperCard>(context, &args.collection, args.source, args.if_match.as_deref())?;
        Ok(Mutated { sources: vec![gone], ..Mutated::default() })
    }
}

/// The answer of a change.
fn written(source: Source, args: &ContactWrite) -> Mutated {
    let item = Some(source.external_id.clone());
    Mutated { sources: vec![source], item, warnings: paper::warnings(unkept(args)), ..Mutated::default() }
}

export_connector!(MyConnector, [contacts, lifecycle]);
