//! The contact that an earlier attempt has made: Graph has no keys of creations, so that a contact like the wanted one is looked for among
//! the new ones.

use connector_sdk::http::Request;
use connector_sdk::{Context, Failure, Outcome, code};
use model::Instant;
use model::contacts::Contact;
use serde_json::{Map, Value};

use crate::api::ask;
use crate::contacts::mapping::contact_from;
use crate::contacts::native::FolderContact;
use crate::contacts::roots::contacts;
use crate::odata::page::Page;
use crate::odata::stamp::stamp;

/// Contacts that are looked through at most; a program that makes more within one request has none to be taken for another.
const PAGE_SIZE: &str = "100";
/// Milliseconds for which a second attempt looks back for what the first one made, where the host does not know when that was.
const EARLIER_MS: i64 = 3_600_000;
/// Milliseconds by which Microsoft's clock may be behind the host's.
const CLOCK_SKEW_MS: i64 = 10_000;

/// Returns the time since which an earlier attempt may have made something.
pub fn first_attempt_at(context: &Context) -> Instant {
    Instant::from_millis(match context.first_attempt_ms() {
        Some(at) => at.saturating_sub(CLOCK_SKEW_MS),
        None => context.now_ms().saturating_sub(EARLIER_MS),
    })
}

/// Returns the filter for what was created since this time.
pub fn created_since(since: Instant) -> String {
    format!("createdDateTime ge {}", since.timestamp().strftime("%Y-%m-%dT%H:%M:%SZ"))
}

/// Whether a record was created at this time or later. One that does not say when is older.
pub fn is_since(created: Option<&String>, since: Instant) -> bool {
    let created = created.and_then(|text| stamp(text).ok().flatten());
    // Graph's times may have no parts of seconds.
    created.is_some_and(|at| at.as_millis() / 1_000 >= since.as_millis() / 1_000)
}

/// Returns the newest contact of the book that an earlier attempt may have made of this body.
pub fn find_made(context: &Context, book: &str, body: &Map<String, Value>) -> Outcome<Option<FolderContact>> {
    let since = first_attempt_at(context);
    let filter = created_since(since);
    let query = [("$filter", filter.as_str()), ("$top", PAGE_SIZE)];
    let request = Request::get(contacts(book, &[], &query)?);
    let page: Page<FolderContact> =
        match ask(context, request, "looking for the contact of an earlier attempt") {
            // It cannot be found then, and a second contact is better than none.
            Err(failure) if failure.code == code::INVALID => return Ok(None),
            page => page?,
        };
    let wanted: FolderContact = serde_json::from_value(Value::Object(body.clone()))
        .map_err(|error| Failure::invalid(format!("the contact cannot be compared: {error}")))?;
    let wanted = contact_from(&wanted);
    let alike = page.value.into_iter().filter(|one| {
        is_since(one.created_date_time.as_ref(), since) && is_alike(&contact_from(one), &wanted)
    });
    Ok(alike.max_by(|one, other| one.created_date_time.cmp(&other.created_date_time)))
}

/// Whether a contact says what the wanted one says.
fn is_alike(one: &Contact, wanted: &Contact) -> bool {
    let is_same = |one: &Option<String>, wanted: &Option<String>| {
        one.as_deref().unwrap_or_default().trim() == wanted.as_deref().unwrap_or_default().trim()
    };
    let name = wanted.display_name.is_none() || is_same(&one.display_name, &wanted.display_name);
    name && is_same(&one.given_name, &wanted.given_name)
        && is_same(&one.family_name, &wanted.family_name)
        && is_same(&one.notes, &wanted.notes)
        && one.emails == wanted.emails
        && one.phones == wanted.phones
        && one.organizations == wanted.organizations
}
