//! Pictures of contacts: as URLs, or as content, which clients send in `data:` URLs.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use connector_sdk::http::Request;
use connector_sdk::{Context, Failure, Outcome, code};
use model::contacts::{Contact, Photo};
use model::wire::contacts::Picture;
use model::wire::{ItemWrite, SourceRef, Warning};
use serde_json::{Map, Value, json};

use crate::api::ask;
use crate::contacts::cards::Card;
use crate::items::address;

/// Reads the picture that is stored in a contact's record.
pub fn stored(context: &Context, args: &SourceRef) -> Outcome<Picture> {
    let url = address::<Card>(context, &args.collection, &[&args.source, "picture"])?;
    let picture: Picture = ask(context, Request::get(url), "reading the picture")?;
    match picture.content_type.is_empty() || picture.content_base64.is_empty() {
        true => Err(Failure::unavailable("the provider's picture has no bytes or no type")),
        false => Ok(picture),
    }
}

/// Returns the photo to store: the content of a `data:` URL in base64. An empty photo is none.
pub fn in_base64(photo: &Photo) -> Outcome<Option<Photo>> {
    let Some(url) = &photo.url else { return Ok(photo.etag.as_ref().map(|_| photo.clone())) };
    let parts = url.split_at_checked(5).filter(|(scheme, _)| scheme.eq_ignore_ascii_case("data:"));
    let url = match parts {
        Some((_, data)) => decode(data)?,
        None => url.clone(),
    };
    Ok(Some(Photo { url: Some(url), etag: None }))
}

/// Handles a photo that has only an etag, which means nothing for a new contact: it is left out with a warning, or refused.
pub fn without_bytes(write: &ItemWrite<Contact>, body: &mut Map<String, Value>) -> Outcome<Vec<Warning>> {
    if !write.body.photo.as_ref().is_some_and(|photo| photo.url.is_none() && photo.etag.is_some()) {
        return Ok(Vec::new());
    }
    let message = "a new contact's photo needs a url: an http address, or the picture as a data: URL";
    if write.strict {
        let failure = Failure::new(code::UNSUPPORTED, message);
        return Err(failure.with_detail(json!({ "field": "photo" })));
    }
    body.remove("photo");
    Ok(vec![Warning {
        code: "field_not_supported".to_owned(),
        message: message.to_owned(),
        target: Some("photo".to_owned()),
    }])
}

/// Decodes the part after `data:` (RFC 2397): `[<media type>][;base64],<data>`.
fn decode(rest: &str) -> Outcome<String> {
    let invalid = |what: &str| Failure::invalid(format!("photo.url {what}"));
    let (head, data) = rest.split_once(',').ok_or_else(|| invalid("is not a data: URL: it has no comma"))?;
    let parts = head.len().checked_sub(";base64".len()).and_then(|at| head.split_at_checked(at));
    let (media_type, is_base64) = match parts {
        Some((media_type, end)) if end.eq_ignore_ascii_case(";base64") => (media_type, true),
        _ => (head, false),
    };
    let data = unescape(data).ok_or_else(|| invalid("has an invalid escape"))?;
    let bytes = match is_base64 {
        true => STANDARD.decode(&data).map_err(|_| invalid("is not in base64"))?,
        false => data,
    };
    Ok(format!("data:{};base64,{}", media_type.to_ascii_lowercase(), STANDARD.encode(bytes)))
}

/// Decodes percent-encoding (RFC 3986 section 2.1).
fn unescape(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        if first != b'%' {
            bytes.push(first);
            continue;
        }
        // The check is needed because a number parser also accepts a sign.
        let digits = rest.get(..2).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))?;
        let digits = std::str::from_utf8(digits).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &rest[2..];
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::in_base64;
    use model::contacts::Photo;

    fn stored(url: &str) -> Option<String> {
        in_base64(&Photo { url: Some(url.to_owned()), etag: None }).ok()??.url
    }

    /// Both forms of a `data:` URL give the same picture; a malformed one is refused.
    #[test]
    fn data_urls() {
        let dot = Some("data:image/svg+xml;base64,PHN2Zy8+".to_owned());
        assert_eq!(stored("data:image/svg+xml;base64,PHN2Zy8+"), dot);
        assert_eq!(stored("DATA:image/svg+xml;BASE64,PHN2Zy8%2B"), dot);
        assert_eq!(stored("data:image/svg+xml,%3Csvg/%3E"), dot);
        for bad in ["data:image/png", "data:image/png;base64,!", "data:image/png,%4", "data:image/png,%+1"] {
            let photo = Photo { url: Some(bad.to_owned()), etag: None };
            assert_eq!(in_base64(&photo).unwrap_err().code, "invalid", "{bad}");
        }
    }
}
