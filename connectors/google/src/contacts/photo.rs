//! Pictures of contacts. Google keeps the picture, and shows it at a public address.

use connector_sdk::http::Request;
use connector_sdk::{Context, Failure, Outcome, code};
use model::contacts::{Contact, Photo};
use model::wire::{ItemWrite, Warning};
use serde_json::json;

use crate::api::ask;
use crate::calendar::patch::field_warning;
use crate::contacts::native::{Person, PhotoAnswer};
use crate::contacts::read::{PERSON_FIELDS, person_id, person_query};
use crate::roots;

/// Types of pictures that Google takes.
const TYPES: [&str; 3] = ["image/jpeg", "image/jpg", "image/png"];

/// A change of a contact's picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureChange<'a> {
    /// The picture as base64 (RFC 4648, section 4).
    Put(&'a str),
    Remove,
}

/// Returns the change that the write asks for, and a warning where Google cannot make it. `before`: the picture that is there. Fails with
/// `invalid` for a `data:` URL that is none.
pub fn picture_change<'a>(
    write: &'a ItemWrite<Contact>,
    before: Option<&Photo>,
) -> Outcome<(Option<PictureChange<'a>>, Option<Warning>)> {
    if !write.changed.iter().any(|name| name == "photo") {
        return Ok((None, None));
    }
    let Some(photo) = &write.body.photo else {
        return Ok((before.map(|_| PictureChange::Remove), None));
    };
    let lost = |message: &str| Ok((None, Some(field_warning("photo", message))));
    let url = photo.url.as_deref();
    if url.is_none() || url == before.and_then(|before| before.url.as_deref()) {
        return Ok((None, None));
    }
    let Some(data) = url.and_then(|url| url.strip_prefix("data:")) else {
        return lost("Google keeps pictures, not their addresses: give the picture as a data: URL");
    };
    let parts = data.split_once(";base64,");
    let (kind, data) = parts.ok_or_else(|| Failure::invalid("photo.url is no picture in base64"))?;
    match TYPES.contains(&kind.to_ascii_lowercase().as_str()) {
        true => Ok((Some(PictureChange::Put(data)), None)),
        false => lost("Google keeps pictures in JPEG and PNG alone"),
    }
}

/// Changes the picture, and returns the contact as it is then; none where there was nothing to change.
pub fn change_picture(context: &Context, name: &str, change: PictureChange<'_>) -> Outcome<Option<Person>> {
    let id = person_id(name);
    let doing = "changing the contact's picture";
    let answer: Outcome<PhotoAnswer> = match change {
        PictureChange::Put(data) => {
            let body = json!({
                "photoBytes": data,
                "personFields": PERSON_FIELDS,
                "sources": ["READ_SOURCE_TYPE_CONTACT"],
            });
            let segment = format!("{id}:updateContactPhoto");
            let url = roots::people(&["people", &segment], &[])?;
            ask(context, Request::patch(url).json(&body), doing)
        }
        PictureChange::Remove => {
            let segment = format!("{id}:deleteContactPhoto");
            let url = roots::people(&["people", &segment], &person_query())?;
            ask(context, Request::delete(url), doing)
        }
    };
    match answer {
        // There is none.
        Err(failure) if failure.code == code::NOT_FOUND && change == PictureChange::Remove => Ok(None),
        answer => Ok(answer?.person.map(Person::own)),
    }
}
