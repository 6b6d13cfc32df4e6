//! The contacts surface.

mod cards;
mod members;
mod pictures;

use connector_sdk::{Answer, Contacts, Context, Outcome};
use model::contacts::{ContactBook, ContactGroup};
use model::wire::contacts::{ContactWrite, ContactsFeatures, Picture};
use model::wire::{
    ChangesRequest, CollectionDelete, CollectionWrite, ItemDelete, ItemWrite, Mutated, SourceRef, Sources,
};
use serde_json::{Map, Value, json};

use crate::api::new_id;
use crate::collections::{self, Collection};
use crate::connector::Sandbox;
use crate::contacts::cards::{Card, GROUP};
use crate::items::{self, target};

impl Collection for ContactBook {
    const PATH: &'static str = "books";
    const NAME: &'static str = "address book";
}

impl Contacts for Sandbox {
    fn list_books(context: &Context, _: ChangesRequest) -> Outcome<Answer<Sources>> {
        collections::list::<ContactBook>(context)
    }

    fn get_contact(context: &Context, args: SourceRef) -> Outcome<Sources> {
        items::get::<Card>(context, &args.collection, &args.source)
    }

    fn photo(context: &Context, args: SourceRef) -> Outcome<Picture> {
        pictures::stored(context, &args)
    }

    fn features(_: &Context) -> Outcome<ContactsFeatures> {
        Ok(ContactsFeatures {
            create_book: true,
            update_book: true,
            delete_book: true,
            create_contact: true,
            groups: true,
            photos: true,
            starred: true,
            push: false,
            delta: "syncToken".to_owned(),
        })
    }

    fn create_book(context: &Context, args: CollectionWrite<ContactBook>) -> Outcome<Mutated> {
        collections::create::<ContactBook>(context, &args)
    }

    fn update_book(context: &Context, args: CollectionWrite<ContactBook>) -> Outcome<Mutated> {
        collections::update::<ContactBook>(context, &args)
    }

    fn delete_book(context: &Context, args: CollectionDelete) -> Outcome<Mutated> {
        collections::delete::<ContactBook>(context, &args)
    }

    fn create_contact(context: &Context, args: ContactWrite) -> Outcome<Mutated> {
        let (groups, id) = (members::look(context, &args)?, new_id(context));
        let mut body = person(&args, None)?;
        let warnings = pictures::without_bytes(&args.write, &mut body)?;
        let mut made = items::create::<Card>(context, &args.write.collection, &id, body)?;
        made.sources.extend(groups.edit(context, &id)?);
        Ok(Mutated { warnings, ..made })
    }

    fn update_contact(context: &Context, args: ContactWrite) -> Outcome<Mutated> {
        let id = target(args.write.source.as_deref())?;
        let groups = members::look(context, &args)?;
        let body = person(&args, Some(&args.write.changed))?;
        let if_match = args.write.if_match.as_deref();
        let mut changed = items::update::<Card>(context, &args.write.collection, id, if_match, &body)?;
        changed.sources.extend(groups.edit(context, id)?);
        Ok(changed)
    }

    fn delete_contact(context: &Context, args: ItemDelete) -> Outcome<Mutated> {
        items::delete::<Card>(
            context,
            &args.collection,
            target(Some(&args.source))?,
            args.if_match.as_deref(),
        )
    }

    fn create_group(context: &Context, args: ItemWrite<ContactGroup>) -> Outcome<Mutated> {
        items::create::<Card>(context, &args.collection, &new_id(context), group(&args, None))
    }

    fn update_group(context: &Context, args: ItemWrite<ContactGroup>) -> Outcome<Mutated> {
        let (id, body) = (target(args.source.as_deref())?, group(&args, Some(&args.changed)));
        items::update::<Card>(context, &args.collection, id, args.if_match.as_deref(), &body)
    }

    fn delete_group(context: &Context, args: ItemDelete) -> Outcome<Mutated> {
        Self::delete_contact(context, args)
    }

    fn changes(context: &Context, args: ChangesRequest) -> Outcome<Answer<Sources>> {
        items::changes::<Card>(context, &args)
    }
}

fn person(args: &ContactWrite, changed: Option<&[String]>) -> Outcome<Map<String, Value>> {
    let mut body = items::members(&args.write.body, changed);
    if let (true, Some(photo)) = (body.contains_key("photo"), &args.write.body.photo) {
        body.insert("photo".to_owned(), json!(pictures::in_base64(photo)?));
    }
    Ok(body)
}

/// Returns the fields of a group, on create with its type. If the members are not given because there are too many, they are unchanged.
fn group(args: &ItemWrite<ContactGroup>, changed: Option<&[String]>) -> Map<String, Value> {
    let mut body = items::members(&args.body, changed);
    if args.body.contact_ids.is_none() {
        body.remove("contactIds");
    }
    if changed.is_none() {
        body.insert("type".to_owned(), json!(GROUP));
    }
    body
}
