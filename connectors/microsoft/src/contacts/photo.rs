//! Pictures of contacts. Graph takes them in JPEG, and removes none.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use connector_sdk::http::Request;
use connector_sdk::{Context, Failure, Outcome};
use model::contacts::{Contact, Photo};
use model::wire::contacts::Picture;
use model::wire::{ItemWrite, SourceRef, Warning};

use crate::api::send;
use crate::calendar::patch::field_warning;
use crate::contacts::roots::contacts;

const FIELD: &str = "photo";
const JPEG: &str = "image/jpeg";
/// The types of pictures that are JPEG.
const JPEG_TYPES: [&str; 3] = ["image/jpeg", "image/jpg", "image/pjpeg"];

/// Returns the picture of a contact.
pub fn read(context: &Context, args: &SourceRef) -> Outcome<Picture> {
    let request = Request::get(picture_address(&args.collection, &args.source)?);
    let response = send(context, request, "reading the contact's picture")?;
    if response.truncated || response.body.is_empty() {
        return Err(Failure::unavailable("the provider's picture is empty or cut off"));
    }
    let kind = response.header("content-type").and_then(|kind| kind.split(';').next()).map(str::trim);
    let kind = kind.filter(|kind| kind.starts_with("image/")).unwrap_or(JPEG);
    Ok(Picture { content_type: kind.to_owned(), content_base64: STANDARD.encode(&response.body) })
}

fn picture_address(book: &str, id: &str) -> Outcome<String> {
    contacts(book, &[id, "photo", "$value"], &[])
}

/// Returns the bytes of the picture that a write brings, and a warning where Graph cannot make the change. `before`: the picture that is
/// there. Fails with `invalid` for a `data:` URL that is none.
pub fn picture_change(
    write: &ItemWrite<Contact>,
    before: Option<&Photo>,
) -> Outcome<(Option<Vec<u8>>, Option<Warning>)> {
    let lost = |message: &str| Ok((None, Some(field_warning(FIELD, message))));
    if !write.changed.iter().any(|name| name == FIELD) {
        return Ok((None, None));
    }
    let Some(photo) = &write.body.photo else {
        return match before {
            Some(_) => lost("Outlook's contacts cannot be without a picture again: it stays"),
            None => Ok((None, None)),
        };
    };
    let Some(url) = photo.url.as_deref() else {
        return match before {
            None if photo.etag.is_some() => lost("this contact has no picture: give one as a data: URL"),
            _ => Ok((None, None)),
        };
    };
    let Some(data) = url.strip_prefix("data:") else {
        return lost("Outlook keeps pictures, not their addresses: give the picture as a data: URL");
    };
    let parts = data.split_once(";base64,");
    let (kind, data) = parts.ok_or_else(|| Failure::invalid("photo.url is no picture in base64"))?;
    if !JPEG_TYPES.contains(&kind.to_ascii_lowercase().as_str()) {
        return lost("Outlook keeps pictures in JPEG alone");
    }
    let bytes = STANDARD.decode(data).map_err(|_| Failure::invalid("photo.url is no picture in base64"))?;
    Ok((Some(bytes), None))
}

/// Stores the picture of a contact.
pub fn store(context: &Context, book: &str, id: &str, bytes: Vec<u8>) -> Outcome<()> {
    let request = Request::put(picture_address(book, id)?).body(JPEG, bytes);
    send(context, request, "changing the contact's picture").map(drop)
}
