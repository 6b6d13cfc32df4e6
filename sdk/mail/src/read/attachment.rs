//! The files in a message: every part that is not its text.

use std::collections::HashSet;

use icu_normalizer::ComposingNormalizerBorrowed;
use model::email::{Attachment, Disposition};

use crate::cid;
use crate::read::entity::{ContentDescription, Entity};
use crate::read::field;
use crate::read::limits::{FILE_NAME_BYTES, PARTS, TOKEN_BYTES};
use crate::text::cut_at;

/// The longest ending of a file name that is kept when the name is too long.
const EXTENSION_BYTES: usize = 16;

/// The part as the model has it.
pub fn attachment(raw: &[u8], entity: &Entity) -> Attachment {
    let kind = &entity.kind;
    let body = raw.get(entity.body.clone()).unwrap_or_default();
    let is_message = matches!(kind.media_type.as_str(), "message/rfc822" | "message/global");
    let disposition = disposition(kind);
    Attachment {
        id: entity.section.clone(),
        filename: name(kind),
        content_type: cut_at(&field::clean(&kind.media_type), FILE_NAME_BYTES).to_owned(),
        size: Some(length(kind.transfer.decoded_len(body))),
        encoded_size: Some(length(body.len())),
        inline: disposition == Some(Disposition::Inline)
            || disposition.is_none() && kind.content_id.is_some(),
        content_id: kind.content_id.as_deref().map(|id| cut_at(id, TOKEN_BYTES).to_owned()),
        disposition,
        is_message,
        ..Attachment::default()
    }
}

fn length(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

/// An unknown disposition is `attachment` (RFC 2183 2.8).
fn disposition(kind: &ContentDescription) -> Option<Disposition> {
    kind.disposition.as_ref().map(|named| match named.is_inline() {
        true => Disposition::Inline,
        false => Disposition::Attachment,
    })
}

fn name(kind: &ContentDescription) -> Option<String> {
    let named = kind.disposition.as_ref().and_then(|disposition| disposition.attribute("filename"));
    file_name(named.or_else(|| kind.parameter("name"))?)
}

/// A name that can be shown and stored: NFC, no path, no control characters or such that turn the writing direction, no leading dots, at
/// most 255 bytes with its ending kept. None where nothing is left.
pub fn file_name(name: &str) -> Option<String> {
    let name: String = cut_at(name, 4 * FILE_NAME_BYTES)
        .chars()
        .filter(|c| !c.is_control() && !is_direction(*c))
        .map(|c| if matches!(c, '/' | '\\' | '\u{2028}' | '\u{2029}') { '_' } else { c })
        .collect();
    let name = ComposingNormalizerBorrowed::new_nfc().normalize(&name).into_owned();
    let name = name.trim_start_matches(|c: char| c == '.' || c.is_whitespace()).trim_end();
    if name.len() <= FILE_NAME_BYTES {
        return Some(name.to_owned()).filter(|name| !name.is_empty());
    }
    let (stem, ending) = match name.rfind('.') {
        Some(dot) if name.len() - dot <= EXTENSION_BYTES => name.split_at(dot),
        _ => (name, ""),
    };
    Some(format!("{}{ending}", cut_at(stem, FILE_NAME_BYTES - ending.len())))
}

/// With these `exe.jpg` can be made to read `gpj.exe`.
fn is_direction(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{61c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether a user would look for it as a file, so that the message has attachments: a picture that the HTML shows, an invitation, a
/// signature and the parts of a report are not that (RFC 8621 4.1.4 `hasAttachment`). `in_multipart` is the type of the multipart that it
/// is directly in, lower case (`multipart/mixed`), and empty where it is in none; `shown` is the result of `shown_ids` for the HTML.
pub fn is_offered(attachment: &Attachment, in_multipart: &str, shown: &HashSet<String>) -> bool {
    let media_type = attachment.content_type.as_str();
    let is_signature = matches!(
        media_type,
        "application/pgp-signature" | "application/pkcs7-signature" | "application/x-pkcs7-signature"
    );
    if in_multipart == "multipart/report" || is_signature {
        return false;
    }
    if in_multipart == "multipart/alternative" && media_type == "text/calendar" {
        return false;
    }
    if attachment.content_id.as_ref().is_some_and(|id| shown.contains(id)) {
        return false;
    }
    let is_media = ["image/", "audio/", "video/"].iter().any(|top| media_type.starts_with(top));
    match attachment.disposition {
        Some(Disposition::Inline) => !is_media && attachment.filename.is_some(),
        _ => true,
    }
}

/// The Content-IDs that an HTML text points at, without `cid:`; of at most as many links as a message can have parts. A link that has
/// percent escapes counts for the id with them too: some programs write an id that has them as it is.
pub fn shown_ids(html: &str) -> HashSet<String> {
    let starts = memchr::memmem::find_iter(html.as_bytes(), b"cid:");
    let links = starts.filter_map(|start| {
        let (before, rest) = html.split_at_checked(start)?;
        let rest = rest.get(4..)?;
        // No further than an id can reach: the next one begins behind the same four bytes.
        let near = cut_at(rest, TOKEN_BYTES);
        // Between quotes an id can have blanks and brackets.
        let quote = before.chars().next_back().filter(|c| matches!(c, '"' | '\''));
        let ends = |c: char| match quote {
            Some(quote) => c == quote || matches!(c, '<' | '>'),
            None => c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>' | ')' | '\\'),
        };
        match near.find(ends) {
            Some(end) => near.get(..end),
            None if near.len() < rest.len() => Some(near),
            None => None,
        }
    });
    let mut ids = HashSet::new();
    for link in links.take(PARTS) {
        ids.insert(cid::decoded(link).into_owned());
        if link.contains('%') {
            ids.insert(link.to_owned());
        }
    }
    ids
}
