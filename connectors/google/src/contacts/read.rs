//! Reads of single people and groups, and of many people by their names.

use connector_sdk::http::Request;
use connector_sdk::{Context, Failure, Outcome, code};
use model::contacts::ContactSource;
use model::wire::{Source, SourceRef, Sources, SourcesGet};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::api::ask;
use crate::contacts::books::{Book, book};
use crate::contacts::native::{BatchedPerson, PeopleBatch, Person, PersonGroup, PersonHead};
use crate::contacts::other;
use crate::contacts::record::{deleted_source, group_source, head_of, listed_person};
use crate::roots;

/// The members that a contact is made of.
pub const PERSON_FIELDS: &str = "addresses,biographies,birthdays,calendarUrls,clientData,emailAddresses,events,externalIds,genders,imClients,interests,locales,locations,memberships,metadata,miscKeywords,names,nicknames,occupations,organizations,phoneNumbers,photos,relations,sipAddresses,skills,urls,userDefined";
/// The members that a group is made of.
pub const GROUP_FIELDS: &str = "clientData,groupType,memberCount,metadata,name";
/// The source that values shall be from. Without it those of a profile are among them.
pub const OF_CONTACT: (&str, &str) = ("sources", "READ_SOURCE_TYPE_CONTACT");
/// People that are read at once; Google's most.
pub const BATCH_SIZE: usize = 200;

/// The beginning of the names of groups.
const GROUPS: &str = "contactGroups/";
/// The beginning of the names of people.
const PEOPLE: &str = "people/";

/// Returns the query of requests that answer with a person.
pub fn person_query() -> [(&'static str, &'static str); 2] {
    [("personFields", PERSON_FIELDS), OF_CONTACT]
}

/// Returns the last part of a person's name, unescaped: it is one segment of a path.
pub fn person_id(name: &str) -> &str {
    name.strip_prefix(PEOPLE).unwrap_or(name)
}

/// Returns the last part of a group's name; none for what is no group.
pub fn group_id(name: &str) -> Option<&str> {
    name.strip_prefix(GROUPS)
}

/// Returns a contact or a group as it is now.
pub fn get(context: &Context, args: &SourceRef) -> Outcome<Sources> {
    let sources = match (book(&args.collection)?, group_id(&args.source)) {
        (Book::Other, _) => vec![other::get(context, &args.source)?],
        (Book::Contacts, Some(id)) => vec![group_source(&read_group(context, id, None)?)?],
        (Book::Contacts, None) => {
            let record: Box<RawValue> = ask_person(context, &args.source)?;
            let PersonHead { resource_name, metadata } = head_of(&record);
            ensure_contact(&Person { resource_name, metadata, ..Person::default() })?;
            renamed(&args.source, listed_person(&record, ContactSource::AddressBook))
        }
    };
    Ok(Sources { sources, ..Sources::default() })
}

/// Returns many contacts and groups as they are now.
pub fn get_many(context: &Context, args: &SourcesGet) -> Outcome<Sources> {
    if book(&args.collection)? == Book::Other {
        return Ok(Sources { sources: other::get_many(context, &args.sources)?, ..Sources::default() });
    }
    let mut sources = Vec::new();
    let mut people = Vec::new();
    for name in &args.sources {
        match group_id(name).map(|id| read_group(context, id, None)) {
            None => people.push(name.as_str()),
            Some(Err(failure)) if failure.code == code::NOT_FOUND => sources.push(deleted_source(name)),
            Some(group) => sources.push(group_source(&group?)?),
        }
    }
    sources.extend(read_people(context, &people)?);
    Ok(Sources { sources, ..Sources::default() })
}

/// Returns the person of this name. Fails with `not-found` for a person who is no contact of the account.
pub fn read_person(context: &Context, name: &str) -> Outcome<Person> {
    let person: Person = ask_person(context, name)?;
    ensure_contact(&person)?;
    Ok(person.own())
}

/// Fails with `not-found` for a person who is no contact of the account, or none any more. An answer without a name does not prove
/// that.
fn ensure_contact(person: &Person) -> Outcome<()> {
    if person.resource_name.is_empty() {
        return Err(Failure::unavailable("the provider's person has no resource name"));
    }
    match person.metadata.deleted || person.contact_source().is_none() {
        true => Err(Failure::not_found("the account has no such contact")),
        false => Ok(()),
    }
}

fn ask_person<T: DeserializeOwned>(context: &Context, name: &str) -> Outcome<T> {
    let url = roots::people(&["people", person_id(name)], &person_query())?;
    ask(context, Request::get(url), "reading the contact").map_err(unknown_name)
}

/// The failure of a read by name. Nothing but the name differs from one such request to another, so that a refusal is about it.
fn unknown_name(failure: Failure) -> Failure {
    match failure.code.as_str() {
        code::INVALID => failure.with_code(code::NOT_FOUND),
        _ => failure,
    }
}

/// Returns the sources of people by their names, as they are now. A name that no person has any more is reported as deleted.
pub fn read_people(context: &Context, names: &[&str]) -> Outcome<Vec<Source>> {
    let mut sources = Vec::with_capacity(names.len());
    for names in names.chunks(BATCH_SIZE) {
        for answer in batch(context, names, PERSON_FIELDS)? {
            let told = person_or_gone(&answer);
            let unread = || Failure::unavailable("the provider could not read one of the contacts");
            sources.extend(told.ok_or_else(unread)?);
        }
    }
    Ok(sources)
}

/// The sources of one person of a batch; none where the provider could not read it. A person who is no longer a contact is
/// reported as deleted.
fn person_or_gone(answer: &BatchedPerson) -> Option<Vec<Source>> {
    let name = answer.requested_resource_name.as_str();
    let Some(record) = &answer.person else {
        return (answer.is_missing() && !name.is_empty()).then(|| vec![deleted_source(name)]);
    };
    let PersonHead { resource_name, metadata } = head_of(record);
    let person = Person { resource_name, metadata, ..Person::default() };
    match ensure_contact(&person) {
        Err(failure) if failure.code == code::NOT_FOUND => Some(vec![deleted_source(name)]),
        _ => Some(renamed(name, listed_person(record, ContactSource::AddressBook))),
    }
}

/// Returns Google's answers for at most 200 people, each with these members.
pub fn batch(context: &Context, names: &[&str], fields: &str) -> Outcome<Vec<BatchedPerson>> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let full: Vec<String> = names.iter().map(|name| format!("{PEOPLE}{}", person_id(name))).collect();
    let mut query = vec![("personFields", fields), OF_CONTACT];
    query.extend(full.iter().map(|name| ("resourceNames", name.as_str())));
    let request = Request::get(roots::people(&["people:batchGet"], &query)?);
    let answer: PeopleBatch = ask(context, request, "reading the contacts")?;
    let mut answers = answer.responses;
    // An answer that says no name is about the person in it.
    for answer in answers.iter_mut().filter(|answer| answer.requested_resource_name.is_empty()) {
        if let Some(record) = &answer.person {
            answer.requested_resource_name = head_of(record).resource_name;
        }
    }
    Ok(answers)
}

/// The sources of a person who was asked for by a name: one that the person does not have any more is gone.
fn renamed(asked: &str, mut sources: Vec<Source>) -> Vec<Source> {
    let asked = format!("{PEOPLE}{}", person_id(asked));
    // A record that cannot be read so far as to its name is about this one.
    for source in sources.iter_mut().filter(|source| source.external_id.is_empty()) {
        source.external_id.clone_from(&asked);
    }
    if sources.iter().any(|source| source.external_id == asked) {
        return sources;
    }
    let now = sources.into_iter().map(|source| Source { previous_id: Some(asked.clone()), ..source });
    [deleted_source(&asked)].into_iter().chain(now).collect()
}

/// Returns the group of this id, with at most this many of its members.
pub fn read_group(context: &Context, id: &str, members: Option<usize>) -> Outcome<PersonGroup> {
    let members = members.map(|number| number.to_string());
    let mut query = vec![("groupFields", GROUP_FIELDS)];
    query.extend(members.as_deref().map(|number| ("maxMembers", number)));
    let url = roots::people(&["contactGroups", id], &query)?;
    let group: PersonGroup = ask(context, Request::get(url), "reading the group").map_err(unknown_name)?;
    match group.metadata.deleted {
        true => Err(Failure::not_found("the group has been deleted")),
        false => Ok(group),
    }
}
