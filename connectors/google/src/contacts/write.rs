//! Writes of contacts. Google wants the writes of an account one after the other, each in the version that was read last.

use connector_sdk::http::Request;
use connector_sdk::rest::id::{IdForm, stable_id};
use connector_sdk::{Context, Failure, Outcome, code};
use model::contacts::{Contact, ContactSource};
use model::wire::contacts::ContactWrite;
use model::wire::{ItemDelete, Mutated, Source, Warning};

use crate::api::{ask, execute};
use crate::contacts::books::ensure_writable;
use crate::contacts::edit::person_to;
use crate::contacts::losses::accept_losses;
use crate::contacts::memberships::{GroupChange, memberships_to};
use crate::contacts::native::{PeoplePage, Person, PersonMetadata};
use crate::contacts::person::contact_from;
use crate::contacts::photo::{PictureChange, change_picture, picture_change};
use crate::contacts::read::{OF_CONTACT, PERSON_FIELDS, group_id, person_id, person_query, read_person};
use crate::contacts::record::{deleted_source, head_of, person_sources};
use crate::contacts::values::{ClientData, PersonSource};
use crate::roots;

/// Attempts at a contact that another client changes at the same time.
const ATTEMPTS: usize = 3;
/// The newest contacts among which a second attempt looks for the first one's.
const NEWEST: &str = "50";

/// Makes a contact. A second attempt under the same key looks for the first one's.
pub fn create(context: &Context, args: &ContactWrite) -> Outcome<Mutated> {
    let write = &args.write;
    ensure_writable(&write.collection)?;
    let mut edit = person_to(&write.body, &write.changed, &Person::default());
    let (picture, lost) = picture_change(write, None)?;
    edit.lost.extend(lost);
    let mut warnings = accept_losses(edit.lost, write.strict)?;
    let key = context.idempotency_key.as_ref().map(|_| stable_id(context, IdForm::Hex(32), "contact"));
    let earlier = match key.as_deref().filter(|_| context.attempt() > 1) {
        Some(key) => find_made(context, key)?,
        None => None,
    };
    let mut person = match earlier {
        Some(person) => person,
        None => {
            let mut person = edit.person;
            let change = GroupChange::of_write(args);
            if let Some((memberships, _)) = memberships_to(&Person::default(), &change) {
                person.memberships = memberships;
            }
            person.client_data = key.as_deref().map(ClientData::of_key).into_iter().collect();
            let url = roots::people(&["people:createContact"], &person_query())?;
            let made: Person = ask(context, Request::post(url).json(&person), "creating the contact")?;
            made.own()
        }
    };
    let has_picture = contact_from(&person, ContactSource::AddressBook).photo.is_some();
    if let Some(change) = picture.filter(|_| !has_picture) {
        put_picture(context, &mut person, change, &mut warnings);
    }
    answer(&person, write.changed.as_slice(), &write.body, warnings)
}

/// The contact that an earlier attempt has made; none where there is none among the newest.
fn find_made(context: &Context, key: &str) -> Outcome<Option<Person>> {
    let query = [
        ("personFields", PERSON_FIELDS),
        OF_CONTACT,
        ("pageSize", NEWEST),
        ("sortOrder", "LAST_MODIFIED_DESCENDING"),
    ];
    let request = Request::get(roots::people(&["people", "me", "connections"], &query)?);
    let page: PeoplePage = ask(context, request, "listing the newest contacts")?;
    let people = page.connections.iter().filter(|record| !head_of(record).metadata.deleted);
    let mut people = people.filter_map(|record| serde_json::from_str::<Person>(record.get()).ok());
    Ok(people.find(|person| person.has_key(key)).map(Person::own))
}

/// Changes a contact. Without a version of the caller's it is read again where another client changes it at the same time.
pub fn update(context: &Context, args: &ContactWrite) -> Outcome<Mutated> {
    let write = &args.write;
    ensure_writable(&write.collection)?;
    let name = write.source.as_deref().ok_or_else(|| Failure::invalid("source is missing"))?;
    if group_id(name).is_some() {
        return Err(Failure::invalid("this is a group, not a contact"));
    }
    let mut attempt = 1;
    loop {
        let before = read_person(context, name)?;
        if write.if_match.is_some() && before.etag() != write.if_match.as_deref() {
            return Err(Failure::conflict("the contact has changed since it was read"));
        }
        match update_from(context, args, &before) {
            Err(failure)
                if failure.code == code::CONFLICT && write.if_match.is_none() && attempt < ATTEMPTS =>
            {
                attempt += 1;
            }
            done => return done,
        }
    }
}

/// Changes a contact in this version.
fn update_from(context: &Context, args: &ContactWrite, before: &Person) -> Outcome<Mutated> {
    let write = &args.write;
    let mut edit = person_to(&write.body, &write.changed, before);
    let photo = contact_from(before, ContactSource::AddressBook).photo;
    let (picture, lost) = picture_change(write, photo.as_ref())?;
    edit.lost.extend(lost);
    if let Some((memberships, lost)) = memberships_to(before, &GroupChange::of_write(args)) {
        edit.person.memberships = memberships;
        edit.fields.push("memberships");
        edit.lost.extend(lost);
    }
    let mask = edit.mask();
    let mut warnings = accept_losses(edit.lost, write.strict)?;
    let mut person = before.clone();
    if !mask.is_empty() {
        let sources = before.contact_source().map(|source| PersonSource {
            kind: source.kind.clone(),
            id: source.id.clone(),
            etag: source.etag.clone(),
            update_time: None,
        });
        edit.person.metadata =
            PersonMetadata { sources: sources.into_iter().collect(), ..PersonMetadata::default() };
        let segment = format!("{}:updateContact", person_id(&before.resource_name));
        let query = [&[("updatePersonFields", mask.as_str())][..], &person_query()].concat();
        let request = Request::patch(roots::people(&["people", &segment], &query)?).json(&edit.person);
        let changed: Person = ask(context, request, "changing the contact")?;
        person = changed.own();
    }
    match picture {
        // Nothing was written yet: the failure is that of the whole.
        Some(change) if mask.is_empty() => {
            if let Some(changed) = change_picture(context, &before.resource_name, change)? {
                person = changed;
            }
        }
        Some(change) => put_picture(context, &mut person, change, &mut warnings),
        None => {}
    }
    let mut mutated = answer(&person, write.changed.as_slice(), &write.body, warnings)?;
    let asked = write.source.as_deref().unwrap_or_default();
    if asked.starts_with("people/") && !mutated.sources.iter().any(|source| source.external_id == asked) {
        // It has another name by now.
        let renamed = mutated.sources.into_iter();
        let renamed = renamed.map(|source| Source { previous_id: Some(asked.to_owned()), ..source });
        mutated.sources = renamed.chain([deleted_source(asked)]).collect();
    }
    Ok(mutated)
}

/// Changes the picture of a contact that is written already: a failure is a warning.
fn put_picture(
    context: &Context,
    person: &mut Person,
    change: PictureChange<'_>,
    warnings: &mut Vec<Warning>,
) {
    match change_picture(context, &person.resource_name, change) {
        Ok(Some(changed)) => *person = changed,
        Ok(None) => {}
        Err(failure) => warnings.push(Warning {
            code: "field_not_changed".to_owned(),
            message: format!("the contact was written, its picture was not changed: {}", failure.message),
            target: Some("photo".to_owned()),
        }),
    }
}

/// Deletes a contact. One that is gone is as good as deleted. Google takes no version with a deletion: it is compared before.
pub fn delete(context: &Context, args: &ItemDelete) -> Outcome<Mutated> {
    ensure_writable(&args.collection)?;
    if group_id(&args.source).is_some() {
        return Err(Failure::invalid("this is a group, not a contact"));
    }
    let deleted = || Mutated { sources: vec![deleted_source(&args.source)], ..Mutated::default() };
    if args.if_match.is_some() {
        let person = match read_person(context, &args.source) {
            Err(failure) if failure.code == code::NOT_FOUND => return Ok(deleted()),
            person => person?,
        };
        if person.etag() != args.if_match.as_deref() {
            return Err(Failure::conflict("the contact has changed since it was read"));
        }
    }
    let segment = format!("{}:deleteContact", person_id(&args.source));
    let request = Request::delete(roots::people(&["people", &segment], &[])?);
    match execute(context, request, "deleting the contact") {
        Err(failure) if failure.code != code::NOT_FOUND => Err(failure),
        _ => Ok(deleted()),
    }
}

/// The answer of a write: the current contact, and warnings about values that were changed.
fn answer(
    person: &Person,
    changed: &[String],
    wanted: &Contact,
    mut warnings: Vec<Warning>,
) -> Outcome<Mutated> {
    let now = contact_from(person, ContactSource::AddressBook);
    let has = |field: &str| changed.iter().any(|name| name == field);
    let name = wanted.display_name.as_deref().map(str::trim).filter(|name| !name.is_empty());
    let is_named = name.is_none() || now.display_name.is_none() || now.display_name.as_deref() == name;
    let emails = wanted.emails.iter().position(|one| one.primary);
    let phones = wanted.phones.iter().position(|one| one.primary);
    let kept = [
        ("displayName", is_named),
        ("emails", emails.is_none_or(|at| now.emails.get(at).is_some_and(|one| one.primary))),
        ("phones", phones.is_none_or(|at| now.phones.get(at).is_some_and(|one| one.primary))),
    ];
    let altered = kept.into_iter().filter(|(field, is_kept)| !is_kept && has(field));
    warnings.extend(altered.map(|(field, _)| Warning {
        code: "field_changed".to_owned(),
        message: "the provider stored something else".to_owned(),
        target: Some(field.to_owned()),
    }));
    let sources = person_sources(person, ContactSource::AddressBook)?;
    Ok(Mutated { item: Some(person.resource_name.clone()), sources, warnings, ..Mutated::default() })
}
