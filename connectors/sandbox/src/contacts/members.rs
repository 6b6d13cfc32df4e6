//! Contacts that join and leave groups: the provider keeps members in the group, so those groups are edited.

use connector_sdk::http::Request;
use connector_sdk::{Context, Failure, Outcome, code};
use model::contacts::ContactGroup;
use model::wire::Source;
use model::wire::contacts::ContactWrite;
use serde_json::json;

use crate::api::send;
use crate::contacts::cards::{Card, GROUP};
use crate::items::{Record, address, bare_source, parse_change, parsed, read};

/// Attempts at a group that another client changes at the same time.
const ATTEMPTS: usize = 5;

/// The groups that a write is about, found to be there.
pub struct Groups<'a> {
    book: &'a str,
    /// Their ids, and whether the contact shall be a member.
    wanted: Vec<(&'a str, bool)>,
}

/// Looks before anything is written: a group to join that is not there fails the whole write. One to leave has been left then.
pub fn look<'a>(context: &Context, args: &'a ContactWrite) -> Outcome<Groups<'a>> {
    let book = args.write.collection.as_str();
    let mut wanted = Vec::new();
    let joins = args.joins.iter().map(|id| (id.as_str(), true));
    for (id, joins) in joins.chain(args.leaves.iter().map(|id| (id.as_str(), false))) {
        match read::<Card>(context, book, id) {
            Ok(card) if parsed::<Card>(&card, Card::NAME)?.kind.as_deref() == Some(GROUP) => {
                wanted.push((id, joins));
            }
            Ok(_) => return Err(Failure::invalid(format!("{id:?} is a contact, not a group"))),
            Err(e) if e.code == code::NOT_FOUND && !joins => {}
            Err(e) => return Err(e),
        }
    }
    Ok(Groups { book, wanted })
}

impl Groups<'_> {
    /// Makes the contact a member where it shall be one, and takes it out elsewhere; the groups as they are now. To do it again
    /// changes nothing.
    pub fn edit(&self, context: &Context, contact: &str) -> Outcome<Vec<Source>> {
        self.wanted.iter().map(|(group, joins)| edit(context, self.book, group, contact, *joins)).collect()
    }
}

fn edit(context: &Context, book: &str, id: &str, contact: &str, joins: bool) -> Outcome<Source> {
    let mut last = None;
    for _ in 0..ATTEMPTS {
        let record = read::<Card>(context, book, id)?;
        let group: ContactGroup = parsed(&record, Card::NAME)?;
        let mut members = group.contact_ids.unwrap_or_default();
        let is_member = members.iter().any(|member| member == contact);
        if is_member == joins {
            return Card::source(&record);
        }
        match joins {
            true => members.push(contact.to_owned()),
            false => members.retain(|member| member != contact),
        }
        let request = Request::patch(address::<Card>(context, book, &[id])?)
            .if_match(bare_source(&record).etag.as_deref())
            .json(&json!({ "contactIds": members }));
        match send(context, request, "changing the group") {
            Ok(response) => {
                let sources = parse_change::<Card>(&response)?.mutated.sources;
                return sources.into_iter().next().ok_or_else(|| Failure::not_found("the group is gone"));
            }
            // Somebody else has changed the group meanwhile.
            Err(e) if e.http_status == Some(412) => last = Some(e),
            Err(e) => return Err(e),
        }
    }
    Err(last.unwrap_or_else(|| Failure::conflict("the group keeps changing")))
}
