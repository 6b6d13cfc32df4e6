//! Groups of contacts: cards that name their members.

use connector_sdk::{Context, Failure, Outcome};
use model::contacts::ContactGroup;
use model::wire::{ItemWrite, Mutated, Source};
use vcard::tree::cst::VcardCst;

use crate::collection::changed::FieldSet;
use crate::collection::stable_id;
use crate::contacts::ContactsSession;
use crate::vcard::group::{is_group, new_group, set_members, set_name};
use crate::vcard::lines::{Version, View};
use crate::vcard::write::{touch, writable};

/// In vCard 4.0 a group is one by the standard; in 3.0, which has none, by what Apple has for it, which most clients read. Servers
/// that keep both versions turn the one into the other.
pub fn create(cx: &Context, args: ItemWrite<ContactGroup>) -> Outcome<Mutated> {
    let session = ContactsSession::new(cx)?;
    let collection = session.client.url(&args.collection)?;
    let uid = stable_id(cx, &format!("group\n{}", args.collection));
    let members = args.body.contact_ids.clone().unwrap_or_default();
    let card = |version: Version| {
        let mut card = new_group(version, &uid, &args.body.name, &members);
        touch(&mut card, version, session.now());
        Ok(card)
    };
    let source = session.put_new(&collection, &uid, &card)?;
    Ok(to_mutated(source))
}

pub fn update(cx: &Context, args: ItemWrite<ContactGroup>) -> Outcome<Mutated> {
    let session = ContactsSession::new(cx)?;
    let collection = session.client.url(&args.collection)?;
    let id = args.source.as_deref().ok_or_else(|| Failure::invalid("source is missing"))?;
    let changed = FieldSet(&args.changed);
    let edit = |card: &mut VcardCst| {
        if !is_group(&View::from_card(card)) {
            return Err(Failure::invalid("this is a contact, not a group"));
        }
        writable(card)?;
        if changed.has("name") {
            set_name(card, &args.body.name);
        }
        // More members than a body names are not changed by it.
        if let Some(members) = args.body.contact_ids.as_ref().filter(|_| changed.has("contactIds")) {
            set_members(card, members);
        }
        Ok(())
    };
    let source = session.change(&collection, id, args.if_match.as_deref(), &edit)?;
    Ok(to_mutated(source))
}

fn to_mutated(source: Source) -> Mutated {
    Mutated { item: Some(source.external_id.clone()), sources: vec![source], ..Mutated::default() }
}
