//! PHOTO: a picture's address, or the picture itself in one of the forms of both versions.

use base64::Engine as _;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use base64::engine::{DecodePaddingMode, general_purpose::STANDARD};
use connector_sdk::{Failure, Outcome};
use model::contacts::Photo;
use model::wire::contacts::Picture;
use serde_json::json;
use sha2::{Digest, Sha256};
use vcard::tree::cst::VcardCst;
use vcard::tree::line::VcardLine;

use crate::text::without_prefix;
use crate::vcard::lines::{
    Version, View, drop_lines, escape_uri, has_param, line, param, places, set_line, value,
};

/// Clients leave the padding out.
const FORGIVING: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);
/// Longest address of a picture that is shown.
const MAX_URL: usize = 8_000;

/// The content of a PHOTO.
enum PhotoContent {
    Url(String),
    /// The picture as base64, without line breaks, and its media type where the card names one.
    Inline(String, Option<String>),
}

/// Whether the line's value is the thing itself, not the address of it: PHOTO, LOGO, SOUND, KEY.
pub fn is_inline(line: &VcardLine) -> bool {
    matches!(photo_content(line), PhotoContent::Inline(..))
}

fn photo_content(line: &VcardLine) -> PhotoContent {
    // vCard 2.1 writes the encoding as a separate parameter.
    let bare = |name: &str| {
        line.params.iter().any(|node| node.values.is_empty() && node.name.get().eq_ignore_ascii_case(name))
    };
    let encoded = has_param(line, "ENCODING", "b") || has_param(line, "ENCODING", "base64") || bare("BASE64");
    let text = value(line);
    let text = text.trim();
    if let Some((media_type, data)) = data_url(text) {
        return PhotoContent::Inline(
            remove_whitespace(data),
            Some(media_type).filter(|media_type| !media_type.is_empty()),
        );
    }
    if encoded || has_param(line, "VALUE", "binary") {
        let kind = param(line, "MEDIATYPE").or_else(|| param(line, "TYPE").map(|kind| kind.to_lowercase()));
        let media_type = kind.map(|kind| if kind.contains('/') { kind } else { format!("image/{kind}") });
        return PhotoContent::Inline(remove_whitespace(text), media_type);
    }
    PhotoContent::Url(text.to_owned())
}

/// Media type and base64 of a `data:` URL (RFC 2397).
fn data_url(text: &str) -> Option<(String, &str)> {
    let (head, data) = without_prefix(text, "data:")?.split_once(',')?;
    let head = head.to_lowercase();
    let media_type = head.strip_suffix(";base64")?;
    Some((media_type.split(';').next().unwrap_or_default().to_owned(), data))
}

fn remove_whitespace(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// The first PHOTO that says something.
fn photo_line<'c, 'a>(view: &View<'c, 'a>) -> Option<&'c VcardLine<'a>> {
    view.first("PHOTO")
}

/// The picture in the model: its address, or a mark that changes with it.
pub fn photo(view: &View) -> Option<Photo> {
    match photo_content(photo_line(view)?) {
        PhotoContent::Url(url) if url.len() > MAX_URL => None,
        PhotoContent::Url(url) => Some(Photo { url: Some(url), etag: None }),
        PhotoContent::Inline(data, _) => {
            // A picture that cannot be decoded is still one that can change.
            let bytes = FORGIVING.decode(&data).unwrap_or_else(|_| data.into_bytes());
            Some(Photo { url: None, etag: Some(mark(&bytes)) })
        }
    }
}

fn mark(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// The picture that the card holds; none where it has none, or only its address.
pub fn picture(view: &View) -> Option<Picture> {
    let PhotoContent::Inline(data, media_type) = photo_content(photo_line(view)?) else { return None };
    let bytes = FORGIVING.decode(&data).ok()?;
    let content_type =
        sniff_media_type(&bytes).map(str::to_owned).or(media_type.filter(|kind| kind.starts_with("image/")));
    Some(Picture {
        content_type: content_type.unwrap_or("application/octet-stream".into()),
        content_base64: STANDARD.encode(&bytes),
    })
}

/// The format by its first bytes: TYPE parameters are often wrong, or not there.
fn sniff_media_type(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0xFF, 0xD8, 0xFF, ..] => Some("image/jpeg"),
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

/// Stores a picture or its URL; none removes it. An unchanged one keeps its bytes.
pub fn set_photo(card: &mut VcardCst, version: Version, wanted: Option<&Photo>) -> Outcome<()> {
    let Some(wanted) = wanted else {
        let all = places(card, "PHOTO");
        drop_lines(card, &all);
        return Ok(());
    };
    let now = photo(&View::from_card(card));
    let Some(url) = wanted.url.as_deref().map(str::trim).filter(|url| !url.is_empty()) else {
        // No address: the picture that is stored.
        return Ok(());
    };
    if now.as_ref().is_some_and(|now| now.url.as_deref() == Some(url)) {
        return Ok(());
    }
    let refused = |why: &str| Failure::invalid(why).with_detail(json!({ "field": "photo" }));
    let written = match data_url(url) {
        Some((media_type, data)) => {
            let bytes =
                FORGIVING.decode(remove_whitespace(data)).map_err(|_| refused("photo.url is no base64"))?;
            let media_type = sniff_media_type(&bytes).map_or(media_type, str::to_owned);
            let format = media_type.strip_prefix("image/").filter(|format| !format.is_empty());
            let format = format.ok_or_else(|| refused("photo.url is no image"))?;
            if now.is_some_and(|now| now.etag == Some(mark(&bytes))) {
                return Ok(());
            }
            let data = STANDARD.encode(&bytes);
            match version {
                Version::V3 => line("PHOTO", &[("ENCODING", "b"), ("TYPE", &format.to_uppercase())], &data),
                Version::V4 => line("PHOTO", &[], &format!("data:{media_type};base64,{data}")),
            }
        }
        None if ["https://", "http://"].iter().any(|scheme| url.starts_with(scheme)) => match version {
            Version::V3 => line("PHOTO", &[("VALUE", "uri")], &escape_uri(url, version)),
            Version::V4 => line("PHOTO", &[], &escape_uri(url, version)),
        },
        None => return Err(refused("photo.url must be an https URL or a base64 data URL of an image")),
    };
    set_line(card, written);
    Ok(())
}
