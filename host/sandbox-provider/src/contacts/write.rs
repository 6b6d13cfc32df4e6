//! From a client's JSON to a checked book or card. Pure: no code here depends on the state or HTTP.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::civil::Date;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::contacts::types::{Book, Card, CardKind, Day, Picture};
use crate::patch::{MAX_LINE, MAX_TEXT, few, patched, read, text, title};
use crate::problem::Problem;

const MAX_SMALL_LIST: usize = 100;
const MAX_MEMBERS: usize = 20_000;
/// Bytes of a stored picture, decoded.
const MAX_PICTURE_BYTES: usize = 512 << 10;

const BOOK_FIELDS: &[&str] = &["title", "notes"];
const BOOK_OWN: &[&str] = &["id", "etag", "main", "locked", "persons", "may", "createdAt", "updatedAt"];
const PERSON_FIELDS: &[&str] = &[
    "label",
    "name",
    "mails",
    "phones",
    "postal",
    "jobs",
    "pages",
    "chats",
    "relatives",
    "birthday",
    "days",
    "notes",
    "starred",
];
const CIRCLE_FIELDS: &[&str] = &["label", "members"];
const CARD_OWN: &[&str] =
    &["id", "etag", "book", "kind", "origin", "builtIn", "locked", "createdAt", "updatedAt"];

/// The book that `patch` makes of `base`, checked.
pub fn book(base: &Book, patch: &Map<String, Value>) -> Result<Book, Problem> {
    let book: Book = patched(base, patch, BOOK_FIELDS, BOOK_OWN)?;
    title("title", &book.title)?;
    text("notes", book.notes.as_ref(), MAX_TEXT)?;
    Ok(book)
}

/// The kind of a new card.
pub fn kind(patch: &Map<String, Value>) -> Result<CardKind, Problem> {
    match patch.get("kind").filter(|kind| !kind.is_null()) {
        None => Ok(CardKind::Person),
        Some(kind) => read(kind.clone()).map_err(|_| Problem::field("kind", "kind must be person or circle")),
    }
}

/// The card that `patch` makes of `base`, checked. Does not check whether the members of a circle exist.
pub fn card(base: &Card, patch: &Map<String, Value>) -> Result<Card, Problem> {
    if kind(patch).is_ok_and(|kind| patch.contains_key("kind") && kind != base.kind) {
        return Err(Problem::field("kind", "a person stays a person, and a circle a circle"));
    }
    let mut patch = patch.clone();
    if base.kind == CardKind::Circle {
        let mut circle: Card = patched(base, &patch, CIRCLE_FIELDS, CARD_OWN)?;
        title("label", &circle.label)?;
        few("members", circle.members.len(), MAX_MEMBERS)?;
        let mut seen = std::collections::HashSet::new();
        circle.members.retain(|id| seen.insert(id.clone()));
        return Ok(circle);
    }
    // A picture is replaced whole: an address must not be merged with the bytes of the present one.
    let given = patch.remove("picture");
    let mut person: Card = patched(base, &patch, PERSON_FIELDS, CARD_OWN)?;
    if let Some(given) = given {
        person.picture = picture(base.picture.as_ref(), given)?;
    }
    if person.label.trim().is_empty() {
        person.label = label(&person)
            .ok_or_else(|| Problem::field("label", "give a name, a company, a mail or a phone"))?;
    }
    check(&person)?;
    Ok(person)
}

/// The default label of a person: the names, a company, an address or a number.
fn label(person: &Card) -> Option<String> {
    let name = &person.name;
    let parts = [&name.before, &name.first, &name.middle, &name.last, &name.after];
    let whole: Vec<&str> = parts.into_iter().flatten().map(|part| part.trim()).collect();
    let others = name.nick.iter().chain(person.jobs.iter().filter_map(|job| job.company.as_ref()));
    let addresses = person.mails.iter().map(|m| &m.address).chain(person.phones.iter().map(|p| &p.number));
    std::iter::once(whole.join(" "))
        .chain(others.chain(addresses).cloned())
        .map(|label| label.trim().to_owned())
        .find(|label| !label.is_empty())
}

fn check(person: &Card) -> Result<(), Problem> {
    text("label", Some(&person.label), MAX_LINE)?;
    text("notes", person.notes.as_ref(), MAX_TEXT)?;
    let lists = [
        ("mails", person.mails.len()),
        ("phones", person.phones.len()),
        ("postal", person.postal.len()),
        ("jobs", person.jobs.len()),
        ("pages", person.pages.len()),
        ("chats", person.chats.len()),
        ("relatives", person.relatives.len()),
        ("days", person.days.len()),
    ];
    for (field, count) in lists {
        few(field, count, MAX_SMALL_LIST)?;
    }
    for (at, mail) in person.mails.iter().enumerate() {
        if mail.address.trim().is_empty() || mail.address.len() > 320 {
            let message = "address must not be empty, and at most 320 bytes";
            return Err(Problem::field(&format!("mails[{at}].address"), message));
        }
    }
    for (at, phone) in person.phones.iter().enumerate() {
        title(&format!("phones[{at}].number"), &phone.number)?;
    }
    if let Some(birthday) = &person.birthday {
        day("birthday", birthday)?;
    }
    for (at, special) in person.days.iter().enumerate() {
        day(&format!("days[{at}].on"), &special.on)?;
    }
    Ok(())
}

/// Refuses days that no calendar has. Without a year, the 29th of February is valid.
fn day(field: &str, day: &Day) -> Result<(), Problem> {
    let year = i16::try_from(day.year.unwrap_or(2000)).ok();
    let (month, date) = (i8::try_from(day.month).ok(), i8::try_from(day.day).ok());
    let is_day = match (year, month, date) {
        (Some(year), Some(month), Some(date)) => Date::new(year, month, date).is_ok(),
        _ => false,
    };
    if is_day { Ok(()) } else { Err(Problem::field(field, format!("{field} is no day of a year"))) }
}

fn picture(old: Option<&Picture>, given: Value) -> Result<Option<Picture>, Problem> {
    let given: Option<Picture> = serde_path_to_error::deserialize(given).map_err(|e| {
        let path = format!("picture.{}", e.path());
        Problem::field(&path, e.into_inner().to_string())
    })?;
    let Some(given) = given else { return Ok(None) };
    match (given.url, given.bytes) {
        (Some(_), Some(_)) => Err(Problem::field("picture", "give url or bytes, not both")),
        (Some(url), None) => {
            title("picture.url", &url)?;
            let fingerprint = Some(fingerprint(url.as_bytes()));
            Ok(Some(Picture { url: Some(url), fingerprint, ..Picture::default() }))
        }
        (None, Some(bytes)) => {
            let media_type = given.media_type.filter(|t| t.starts_with("image/") && t.len() <= 100);
            let media_type = media_type
                .ok_or_else(|| Problem::field("picture.type", "type must be one of an image: image/png"))?;
            let decoded = STANDARD.decode(&bytes).map_err(|_| {
                Problem::field("picture.bytes", "bytes must be base64 as in RFC 4648 section 4")
            })?;
            if decoded.is_empty() || decoded.len() > MAX_PICTURE_BYTES {
                return Err(Problem::field("picture.bytes", "a picture has 1 to 524288 bytes"));
            }
            let fingerprint = Some(fingerprint(&decoded));
            Ok(Some(Picture { url: None, bytes: Some(bytes), media_type: Some(media_type), fingerprint }))
        }
        (None, None) => match old.filter(|old| old.fingerprint == given.fingerprint) {
            Some(old) => Ok(Some(old.clone())),
            None => Err(Problem::field("picture", "give url, bytes, or the fingerprint of the present one")),
        },
    }
}

fn fingerprint(of: &[u8]) -> String {
    hex::encode(&Sha256::digest(of)[..12])
}
