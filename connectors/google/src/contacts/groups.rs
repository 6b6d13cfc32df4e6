//! Creates, changes and deletes groups. Contacts list their groups; members of a group are changed by resource names of people.

use std::collections::{HashMap, HashSet};

use connector_sdk::http::Request;
use connector_sdk::rest::id::{IdForm, stable_id};
use connector_sdk::{Context, Failure, Outcome, code};
use model::contacts::ContactGroup;
use model::wire::{ItemDelete, ItemWrite, Mutated, Warning};
use serde_json::json;
use serde_json::value::RawValue;

use crate::api::{ask, execute};
use crate::contacts::books::ensure_writable;
use crate::contacts::native::{MembersAnswer, PeoplePage, PersonGroup};
use crate::contacts::read::{BATCH_SIZE, GROUP_FIELDS, OF_CONTACT, batch, group_id, read_group, read_people};
use crate::contacts::record::{deleted_source, group_source, head_of};
use crate::contacts::values::{ClientData, PersonSource};
use crate::roots;

/// The fields of a new group in the answer to its creation.
const NEW_GROUP_FIELDS: &str = "clientData,groupType,metadata,name";
/// The maximum number of people in one change of members, Google's limit.
const MAX_MEMBERS: usize = 1_000;
/// The maximum number of contacts of an account.
const MAX_CONTACTS: usize = 25_000;
/// The page size of searches, Google's maximum.
const PAGE_SIZE: &str = "1000";
/// The maximum number of pages that are searched.
const MAX_PAGES: usize = 50;

/// Creates a group. Names are unique: if the name is taken, the group may be from an earlier attempt.
pub fn create(context: &Context, args: &ItemWrite<ContactGroup>) -> Outcome<Mutated> {
    ensure_writable(&args.collection)?;
    let members = resolve_members(context, args.body.contact_ids.as_deref().unwrap_or_default())?;
    let key = context.idempotency_key.as_ref().map(|_| stable_id(context, IdForm::Hex(32), "group"));
    let client_data: Vec<ClientData> = key.as_deref().map(ClientData::of_key).into_iter().collect();
    let body = json!({
        "contactGroup": { "name": args.body.name, "clientData": client_data },
        "readGroupFields": NEW_GROUP_FIELDS,
    });
    let request = Request::post(roots::people(&["contactGroups"], &[])?).json(&body);
    let made = match ask::<PersonGroup>(context, request, "creating the group") {
        Err(failure) if failure.http_status == Some(409) && failure.code != code::UNAVAILABLE => {
            let failure = failure.with_code(code::ALREADY_EXISTS);
            let ours = match &key {
                Some(key) => find_group(context, |group| group.has_key(key))?,
                None => None,
            };
            ours.ok_or(failure)?
        }
        made => made?,
    };
    let change = MemberChange { added: members, removed: Vec::new() };
    answer(context, &made, &change)
}

/// Changes a group's name, its members, or both.
pub fn update(context: &Context, args: &ItemWrite<ContactGroup>) -> Outcome<Mutated> {
    ensure_writable(&args.collection)?;
    let id = args.source.as_deref().and_then(group_id);
    let id = id.ok_or_else(|| Failure::invalid("this is a contact, not a group"))?;
    let has = |field: &str| args.changed.iter().any(|name| name == field);
    let wanted = args.body.contact_ids.as_deref().filter(|_| has("contactIds"));
    let mut group = read_group(context, id, wanted.map(|_| MAX_CONTACTS))?;
    ensure_unchanged(&group, args.if_match.as_deref())?;
    let change = match wanted {
        Some(uids) => MemberChange::new(&group.member_resource_names, &resolve_members(context, uids)?),
        None => MemberChange::default(),
    };
    if has("name") {
        if group.is_system() {
            return Err(Failure::unsupported("changing groups that the provider has made"));
        }
        let body = json!({
            "contactGroup": { "etag": group.etag, "name": args.body.name },
            "updateGroupFields": "name",
            "readGroupFields": GROUP_FIELDS,
        });
        let request = Request::put(roots::people(&["contactGroups", id], &[])?).json(&body);
        group = ask(context, request, "changing the group")?;
    }
    answer(context, &group, &change)
}

/// Deletes a group; its members stay. Succeeds if the group no longer exists.
pub fn delete(context: &Context, args: &ItemDelete) -> Outcome<Mutated> {
    ensure_writable(&args.collection)?;
    let id = group_id(&args.source).ok_or_else(|| Failure::invalid("this is a contact, not a group"))?;
    let deleted = || Mutated { sources: vec![deleted_source(&args.source)], ..Mutated::default() };
    let group = match read_group(context, id, None) {
        Err(failure) if failure.code == code::NOT_FOUND => return Ok(deleted()),
        group => group?,
    };
    if group.is_system() {
        return Err(Failure::unsupported("deleting groups that the provider has made"));
    }
    ensure_unchanged(&group, args.if_match.as_deref())?;
    let request = Request::delete(roots::people(&["contactGroups", id], &[])?);
    match execute(context, request, "deleting the group") {
        Err(failure) if failure.code != code::NOT_FOUND => Err(failure),
        _ => Ok(deleted()),
    }
}

fn ensure_unchanged(group: &PersonGroup, if_match: Option<&str>) -> Outcome<()> {
    match if_match.is_some() && group.etag.as_deref() != if_match {
        true => Err(Failure::conflict("the group has changed since it was read")),
        false => Ok(()),
    }
}

/// The people who join and leave a group, by their resource names.
#[derive(Debug, Default)]
struct MemberChange {
    added: Vec<String>,
    removed: Vec<String>,
}

impl MemberChange {
    fn new(before: &[String], after: &[String]) -> Self {
        let (old, new): (HashSet<&String>, HashSet<&String>) =
            (before.iter().collect(), after.iter().collect());
        let removed = before.iter().filter(|name| !new.contains(name)).cloned().collect();
        let added = after.iter().filter(|name| !old.contains(name)).cloned().collect();
        MemberChange { added, removed }
    }
}

/// Changes the members, and returns the answer of the write: the group and the contacts whose groups have changed.
fn answer(context: &Context, group: &PersonGroup, change: &MemberChange) -> Outcome<Mutated> {
    let item = Some(group.resource_name.clone());
    let id = group_id(&group.resource_name).unwrap_or_default();
    let warnings = modify_members(context, id, change)?;
    let names: Vec<&str> = change.added.iter().chain(&change.removed).map(String::as_str).collect();
    let mut sources = Vec::with_capacity(names.len() + 1);
    if names.is_empty() {
        sources.push(group_source(group)?);
    } else {
        // The group has a new version after its members changed.
        sources.push(group_source(&read_group(context, id, None)?)?);
        sources.extend(read_people(context, &names)?);
    }
    Ok(Mutated { item, sources, warnings, ..Mutated::default() })
}

fn modify_members(context: &Context, id: &str, change: &MemberChange) -> Outcome<Vec<Warning>> {
    let mut warnings = Vec::new();
    let added = change.added.chunks(MAX_MEMBERS).map(|names| ("resourceNamesToAdd", names));
    let removed = change.removed.chunks(MAX_MEMBERS).map(|names| ("resourceNamesToRemove", names));
    // One request at a time, because Google locks the account for each.
    for (member, names) in added.chain(removed) {
        let url = roots::people(&["contactGroups", id, "members:modify"], &[])?;
        let request = Request::post(url).json(&json!({ member: names }));
        let answer: MembersAnswer = ask(context, request, "changing the group's members")?;
        let missing = answer
            .not_found_resource_names
            .iter()
            .map(|name| member_warning(name, "the contact has been deleted and was not added to the group"));
        let last = answer.can_not_remove_last_contact_group_resource_names.iter();
        let last = last.map(|name| {
            member_warning(name, "the contact stays in the group, because it is the contact's only one")
        });
        warnings.extend(missing.chain(last));
    }
    Ok(warnings)
}

fn member_warning(name: &str, message: &str) -> Warning {
    Warning {
        code: "member_not_changed".to_owned(),
        message: message.to_owned(),
        target: Some(name.to_owned()),
    }
}

/// Finds the first group for which `fits` is true.
fn find_group(context: &Context, fits: impl Fn(&PersonGroup) -> bool) -> Outcome<Option<PersonGroup>> {
    let mut token: Option<String> = None;
    for _ in 0..MAX_PAGES {
        let mut query = vec![("groupFields", GROUP_FIELDS), ("pageSize", PAGE_SIZE)];
        query.extend(token.as_deref().map(|token| ("pageToken", token)));
        let request = Request::get(roots::people(&["contactGroups"], &query)?);
        let page: PeoplePage = ask(context, request, "listing the groups")?;
        let records = page.contact_groups.iter();
        let mut groups = records.filter_map(|record| serde_json::from_str::<PersonGroup>(record.get()).ok());
        if let Some(group) = groups.find(&fits) {
            return Ok(Some(group));
        }
        token = page.next_page_token.filter(|token| !token.is_empty());
        if token.is_none() {
            return Ok(None);
        }
    }
    Ok(None)
}

/// Returns the resource names of contacts by their uids, which are the ids of their sources. Fails if one no longer exists.
fn resolve_members(context: &Context, uids: &[String]) -> Outcome<Vec<String>> {
    let mut found: HashMap<String, String> = HashMap::new();
    let is_name = |uid: &&String| uid.starts_with("people/");
    found.extend(uids.iter().filter(is_name).map(|uid| (uid.clone(), uid.clone())));
    // The resource name of a contact without a linked profile is its id in decimal.
    let likely: Vec<String> = uids.iter().filter_map(|uid| likely_name(uid)).collect();
    let likely: Vec<&str> = likely.iter().map(String::as_str).collect();
    for names in likely.chunks(BATCH_SIZE) {
        let answers = match batch(context, names, "metadata") {
            // The guess is not a valid name: fall back to the list.
            Err(failure) if matches!(failure.code.as_str(), code::INVALID | code::NOT_FOUND) => continue,
            answers => answers?,
        };
        let records = answers.iter().filter_map(|answer| answer.person.as_deref());
        found.extend(records.filter_map(uid_and_name));
    }
    if uids.iter().any(|uid| !found.contains_key(uid)) {
        find_people(context, uids, &mut found)?;
    }
    let resolve = |uid: &String| {
        let gone = || Failure::not_found("one of contactIds names a deleted contact");
        found.get(uid).cloned().ok_or_else(gone)
    };
    uids.iter().map(resolve).collect()
}

fn likely_name(uid: &str) -> Option<String> {
    let number = u64::from_str_radix(uid, 16).ok().filter(|_| !uid.starts_with('+'))?;
    Some(format!("people/c{number}"))
}

/// The id of the contact's source, and the person's resource name.
fn uid_and_name(record: &RawValue) -> Option<(String, String)> {
    let head = head_of(record);
    let is_contact = |source: &&PersonSource| source.kind.as_deref() == Some("CONTACT");
    let uid = head.metadata.sources.iter().find(is_contact)?.id.clone()?;
    Some((uid, head.resource_name)).filter(|(_, name)| !name.is_empty())
}

/// Searches all contacts for the missing ones.
fn find_people(context: &Context, uids: &[String], found: &mut HashMap<String, String>) -> Outcome<()> {
    let mut token: Option<String> = None;
    for _ in 0..MAX_PAGES {
        let mut query = vec![("personFields", "metadata"), OF_CONTACT, ("pageSize", PAGE_SIZE)];
        query.extend(token.as_deref().map(|token| ("pageToken", token)));
        let request = Request::get(roots::people(&["people", "me", "connections"], &query)?);
        let page: PeoplePage = ask(context, request, "listing the contacts")?;
        found.extend(page.connections.iter().filter_map(|record| uid_and_name(record)));
        token = page.next_page_token.filter(|token| !token.is_empty());
        if token.is_none() || uids.iter().all(|uid| found.contains_key(uid)) {
            return Ok(());
        }
    }
    Ok(())
}
