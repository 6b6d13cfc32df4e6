//! From a client's JSON to a checked book, contact or group. Pure: no code here depends on the state or HTTP.

use std::collections::HashSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::civil::Date;
use model::contacts::{Contact, ContactBook, ContactGroup, PartialDate, Photo};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::patch::{MAX_LINE, MAX_TEXT, few, merged, text, title};
use crate::problem::Problem;

const MAX_SMALL_LIST: usize = 100;
const MAX_MEMBERS: usize = 20_000;
/// Bytes of a stored photo, decoded.
const MAX_PHOTO_BYTES: usize = 512 << 10;

/// Members of a card that are the provider's own, beside those of all documents.
const OWN: &[&str] = &["type", "bookId", "groupIds"];

/// The book that `patch` makes of `base`, checked.
pub fn book(base: &ContactBook, patch: &Map<String, Value>) -> Result<ContactBook, Problem> {
    let book = merged(base, patch, &[])?;
    title("name", &book.name)?;
    text("description", book.description.as_ref(), MAX_TEXT)?;
    Ok(book)
}

/// The group that `patch` makes of `base`, checked. Does not check whether its members exist.
pub fn group(base: &ContactGroup, patch: &Map<String, Value>) -> Result<ContactGroup, Problem> {
    let mut group = merged(base, patch, OWN)?;
    title("name", &group.name)?;
    let members = group.contact_ids.get_or_insert_default();
    few("contactIds", members.len(), MAX_MEMBERS)?;
    let mut seen = HashSet::new();
    members.retain(|id| seen.insert(id.clone()));
    Ok(group)
}

/// The contact that `patch` makes of `base`, checked.
pub fn contact(base: &Contact, patch: &Map<String, Value>) -> Result<Contact, Problem> {
    let mut patch = patch.clone();
    // A photo is replaced whole: an address must not be merged with the etag of the present one.
    let given = patch.remove("photo");
    let mut contact = merged(base, &patch, OWN)?;
    if let Some(given) = given {
        contact.photo = photo(base.photo.as_ref(), given)?;
    }
    if contact.display_name.as_ref().is_none_or(|name| name.trim().is_empty()) {
        let name = default_name(&contact);
        let missing =
            || Problem::field("displayName", "give a name, an organization, an address or a number");
        contact.display_name = Some(name.ok_or_else(missing)?);
    }
    check(&contact)?;
    Ok(contact)
}

/// The default name: the parts of the name, an organization, an address or a number.
fn default_name(contact: &Contact) -> Option<String> {
    let parts =
        [&contact.prefix, &contact.given_name, &contact.middle_name, &contact.family_name, &contact.suffix];
    let whole: Vec<&str> = parts.into_iter().flatten().map(|part| part.trim()).collect();
    let companies = contact.organizations.iter().filter_map(|organization| organization.name.as_ref());
    let others = contact.nickname.iter().chain(companies);
    let addresses = contact.emails.iter().map(|m| &m.value).chain(contact.phones.iter().map(|p| &p.value));
    std::iter::once(whole.join(" "))
        .chain(others.chain(addresses).cloned())
        .map(|name| name.trim().to_owned())
        .find(|name| !name.is_empty())
}

fn check(contact: &Contact) -> Result<(), Problem> {
    text("displayName", contact.display_name.as_ref(), MAX_LINE)?;
    text("notes", contact.notes.as_ref(), MAX_TEXT)?;
    let lists = [
        ("emails", contact.emails.len()),
        ("phones", contact.phones.len()),
        ("addresses", contact.addresses.len()),
        ("organizations", contact.organizations.len()),
        ("urls", contact.urls.len()),
        ("imAddresses", contact.im_addresses.len()),
        ("relations", contact.relations.len()),
        ("anniversaries", contact.anniversaries.len()),
    ];
    for (field, count) in lists {
        few(field, count, MAX_SMALL_LIST)?;
    }
    for (at, email) in contact.emails.iter().enumerate() {
        if email.value.trim().is_empty() || email.value.len() > 320 {
            let message = "value must not be empty, and at most 320 bytes";
            return Err(Problem::field(&format!("emails[{at}].value"), message));
        }
    }
    for (at, phone) in contact.phones.iter().enumerate() {
        title(&format!("phones[{at}].value"), &phone.value)?;
    }
    if let Some(birthday) = &contact.birthday {
        day("birthday", birthday)?;
    }
    for (at, anniversary) in contact.anniversaries.iter().enumerate() {
        day(&format!("anniversaries[{at}].date"), &anniversary.date)?;
    }
    Ok(())
}

/// Refuses days that no calendar has. Without a year, the 29th of February is valid.
fn day(field: &str, day: &PartialDate) -> Result<(), Problem> {
    let year = i16::try_from(day.year.unwrap_or(2000)).ok();
    let (month, date) = (i8::try_from(day.month).ok(), i8::try_from(day.day).ok());
    let is_day = match (year, month, date) {
        (Some(year), Some(month), Some(date)) => Date::new(year, month, date).is_ok(),
        _ => false,
    };
    if is_day { Ok(()) } else { Err(Problem::field(field, format!("{field} is no day of a year"))) }
}

/// The photo to store: elsewhere at an address, the bytes of a `data:` URL in base64, or the present one by its etag.
fn photo(old: Option<&Photo>, given: Value) -> Result<Option<Photo>, Problem> {
    let given: Option<Photo> = serde_path_to_error::deserialize(given).map_err(|e| {
        let path = format!("photo.{}", e.path());
        Problem::field(&path, e.into_inner().to_string())
    })?;
    let Some(given) = given else { return Ok(None) };
    let Some(url) = given.url else {
        return match old.filter(|old| old.etag == given.etag) {
            Some(old) => Ok(Some(old.clone())),
            None => Err(Problem::field("photo", "give a url, or the etag of the present photo")),
        };
    };
    let etag = match url.strip_prefix("data:") {
        Some(data) => fingerprint(&decode(data)?),
        None => {
            title("photo.url", &url)?;
            fingerprint(url.as_bytes())
        }
    };
    Ok(Some(Photo { url: Some(url), etag: Some(etag) }))
}

/// The bytes of a `data:` URL (RFC 2397) of an image.
fn decode(data: &str) -> Result<Vec<u8>, Problem> {
    let refused = |message: &str| Problem::field("photo.url", message);
    let parts = data.split_once(";base64,").filter(|(t, _)| t.starts_with("image/") && t.len() <= 100);
    let (_, text) =
        parts.ok_or_else(|| refused("a data: URL must be of an image: data:image/png;base64,…"))?;
    let decoded = STANDARD.decode(text);
    let bytes = decoded.map_err(|_| refused("the data must be base64 as in RFC 4648 section 4"))?;
    match (1..=MAX_PHOTO_BYTES).contains(&bytes.len()) {
        true => Ok(bytes),
        false => Err(refused("a photo has 1 to 524288 bytes")),
    }
}

fn fingerprint(of: &[u8]) -> String {
    hex::encode(&Sha256::digest(of)[..12])
}
