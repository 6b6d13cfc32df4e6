//! Writes of contacts.

use connector_sdk::http::Request;
use connector_sdk::{Context, Failure, Outcome, code};
use model::contacts::Contact;
use model::wire::contacts::ContactWrite;
use model::wire::{ItemDelete, Mutated, Warning};
use serde_json::{Map, Value};

use crate::api::{ask, execute};
use crate::contacts::earlier::find_made;
use crate::contacts::losses::accept_losses;
use crate::contacts::native::FolderContact;
use crate::contacts::patch::{WrittenContact, contact_to};
use crate::contacts::photo::{picture_change, store};
use crate::contacts::read::{ContactState, read_contact};
use crate::contacts::record::{contact_source, deleted_source};
use crate::contacts::roots::contacts;

/// Fields of which the contact at Graph has to be known: its addresses keep their names, and a picture cannot be removed.
const BASED_FIELDS: [&str; 2] = ["emails", "photo"];

/// Makes a contact. A second attempt under the same key looks for the first one's.
pub fn create(context: &Context, args: &ContactWrite) -> Outcome<Mutated> {
    let write = &args.write;
    let WrittenContact { mut body, mut lost } = contact_to(&write.body, &write.changed, None);
    let (picture, lost_picture) = picture_change(write, None)?;
    lost.extend(lost_picture);
    let mut warnings = accept_losses(lost, write.strict)?;
    body.retain(|_, value| !is_empty(value));
    let earlier = match context.attempt() {
        1 => None,
        _ => find_made(context, &write.collection, &body)?,
    };
    let has_property = body.contains_key("singleValueExtendedProperties");
    let contact: FolderContact = match earlier {
        Some(contact) => contact,
        None => {
            let request = Request::post(contacts(&write.collection, &[], &[])?).json(&body);
            ask(context, request, "creating the contact")?
        }
    };
    let id = contact.id.clone();
    let is_whole = picture.is_none() && !has_property;
    if let Some(bytes) = picture {
        warnings.extend(picture_warning(store(context, &write.collection, &id, bytes)));
    }
    let state = match is_whole {
        true => ContactState { contact, photo: None },
        false => read_contact(context, &write.collection, &id)?,
    };
    answer(state, &write.body, &write.changed, warnings)
}

/// Whether a member says nothing of a new contact: null, or an address without parts.
fn is_empty(value: &Value) -> bool {
    value.is_null() || value.as_object().is_some_and(|parts| parts.values().all(Value::is_null))
}

/// Changes a contact.
pub fn update(context: &Context, args: &ContactWrite) -> Outcome<Mutated> {
    let write = &args.write;
    let target = ContactTarget {
        context,
        book: &write.collection,
        id: source_of(write.source.as_deref())?,
        if_match: write.if_match.as_deref(),
    };
    let is_based = write.changed.iter().any(|name| BASED_FIELDS.contains(&name.as_str()));
    let before = is_based.then(|| target.read()).transpose()?;
    if let Some(before) = &before {
        target.ensure_version(&before.contact)?;
    }
    let known = before.as_ref().map(|state| &state.contact);
    let WrittenContact { body, mut lost } = contact_to(&write.body, &write.changed, known);
    let (picture, lost_picture) =
        picture_change(write, before.as_ref().and_then(|state| state.photo.as_ref()))?;
    lost.extend(lost_picture);
    let mut warnings = accept_losses(lost, write.strict)?;
    if !body.is_empty() {
        target.patch(&body)?;
    }
    match picture {
        // Nothing was written yet: the failure is that of the whole.
        Some(bytes) if body.is_empty() => store(context, target.book, target.id, bytes)?,
        Some(bytes) => warnings.extend(picture_warning(store(context, target.book, target.id, bytes))),
        None => {}
    }
    answer(target.read()?, &write.body, &write.changed, warnings)
}

/// Deletes a contact. One that is gone is as good as deleted.
pub fn delete(context: &Context, args: &ItemDelete) -> Outcome<Mutated> {
    let target = ContactTarget {
        context,
        book: &args.collection,
        id: source_of(Some(&args.source))?,
        if_match: args.if_match.as_deref(),
    };
    match target.remove() {
        Err(failure) if failure.code != code::NOT_FOUND => Err(failure),
        _ => Ok(Mutated { sources: vec![deleted_source(&args.source)], ..Mutated::default() }),
    }
}

fn source_of(source: Option<&str>) -> Outcome<&str> {
    source.filter(|id| !id.is_empty()).ok_or_else(|| Failure::invalid("source is missing: name the contact"))
}

/// The contact that a call is for.
struct ContactTarget<'a> {
    context: &'a Context<'a>,
    book: &'a str,
    id: &'a str,
    if_match: Option<&'a str>,
}

impl ContactTarget<'_> {
    fn read(&self) -> Outcome<ContactState> {
        read_contact(self.context, self.book, self.id)
    }

    /// Fails with `conflict` where the caller insists on another version than this one.
    fn ensure_version(&self, contact: &FolderContact) -> Outcome<()> {
        match self.if_match {
            Some(wanted) if contact.version().as_deref() != Some(wanted) => {
                Err(Failure::conflict("the contact was changed meanwhile"))
            }
            _ => Ok(()),
        }
    }

    fn patch(&self, body: &Map<String, Value>) -> Outcome<()> {
        let url = contacts(self.book, &[self.id], &[])?;
        self.insisting(|etag| {
            let request = Request::patch(&url).if_match(etag).json(body);
            ask::<FolderContact>(self.context, request, "changing the contact").map(drop)
        })
    }

    fn remove(&self) -> Outcome<()> {
        let url = contacts(self.book, &[self.id], &[])?;
        self.insisting(|etag| {
            execute(self.context, Request::delete(&url).if_match(etag), "deleting the contact")
        })
    }

    /// Runs a request that insists on a version, and once more where Graph refuses it though the contact still has that version, as it does
    /// now and then.
    fn insisting(&self, run: impl Fn(Option<&str>) -> Outcome<()>) -> Outcome<()> {
        match run(self.if_match) {
            Err(failure) if failure.http_status == Some(412) && self.if_match.is_some() => {
                match self.read()?.contact.version().as_deref() == self.if_match {
                    true => run(self.if_match),
                    false => Err(failure),
                }
            }
            done => done,
        }
    }
}

/// A picture that was not stored beside a contact that was is a warning.
fn picture_warning(stored: Outcome<()>) -> Option<Warning> {
    let failure = stored.err()?;
    Some(Warning {
        code: "field_not_changed".to_owned(),
        message: format!("the contact was written, its picture was not changed: {}", failure.message),
        target: Some("photo".to_owned()),
    })
}

/// The answer of a write: the contact as it is now, and a warning where its name became another one.
fn answer(
    state: ContactState,
    wanted: &Contact,
    changed: &[String],
    mut warnings: Vec<Warning>,
) -> Outcome<Mutated> {
    let name =
        |name: Option<&String>| name.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
    let (asked, now) = (name(wanted.display_name.as_ref()), name(state.contact.display_name.as_ref()));
    let is_named = asked.is_none() || now.is_none() || asked == now;
    if !is_named && changed.iter().any(|field| field == "displayName") {
        warnings.push(Warning {
            code: "field_changed".to_owned(),
            message: "the provider stored something else".to_owned(),
            target: Some("displayName".to_owned()),
        });
    }
    let item = state.contact.id.clone();
    let source = contact_source(&state.contact, state.photo)?;
    Ok(Mutated { item: Some(item), sources: vec![source], warnings, ..Mutated::default() })
}
