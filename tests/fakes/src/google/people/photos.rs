//! Pictures of contacts.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::json;

use crate::google::call::{Call, MethodResult};
use crate::google::people::masks::{FieldSet, SourceSet};
use crate::google::people::render::PersonView;
use crate::google::people::{contacts, errors};
use crate::google::state::State;

/// The first bytes of a JPEG and of a PNG.
const BEGINNINGS: [&[u8]; 2] = [&[0xff, 0xd8, 0xff], b"\x89PNG"];

/// `people.updateContactPhoto`
pub fn update(state: &mut State, call: &Call) -> MethodResult {
    let mask = FieldSet::optional(call.body["personFields"].as_str(), "personFields", "person")?;
    let bytes = call.body["photoBytes"].as_str().and_then(decode);
    let is_picture = |bytes: &Vec<u8>| BEGINNINGS.iter().any(|beginning| bytes.starts_with(beginning));
    let Some(bytes) = bytes.filter(is_picture) else {
        return Err(errors::invalid("The photo must be a JPEG or a PNG."));
    };
    let given =
        call.body["sources"].as_array().map(|all| all.iter().any(|one| one == "READ_SOURCE_TYPE_PROFILE"));
    let sources = if given == Some(false) { SourceSet::CONTACT } else { SourceSet::BOTH };
    let url = format!("https://lh3.googleusercontent.com/contacts/fake-{}-", bytes.len());
    change(state, call, Some(url), mask.as_ref(), sources)
}

/// `people.deleteContactPhoto`
pub fn delete(state: &mut State, call: &Call) -> MethodResult {
    let mask = FieldSet::optional(call.parameter("personFields"), "personFields", "person")?;
    let sources = SourceSet::from_call(call, SourceSet::BOTH);
    change(state, call, None, mask.as_ref(), sources)
}

/// Bytes in base64 of either alphabet, with or without padding.
fn decode(text: &str) -> Option<Vec<u8>> {
    let text: String = text.trim_end_matches('=').replace('+', "-").replace('/', "_");
    BASE64_URL_SAFE_NO_PAD.decode(text).ok()
}

/// Stores the picture's address; the answer has the person where the request has a mask.
fn change(
    state: &mut State,
    call: &Call,
    url: Option<String>,
    mask: Option<&FieldSet>,
    sources: SourceSet,
) -> MethodResult {
    contacts::check_busy(state)?;
    let stamp = contacts::stamp(state);
    let book = state.people.entry(call.user.clone()).or_default();
    let record = book.person_mut(call.path("resourceName"))?;
    let mut content = record.latest().content.clone();
    content.photo = url.map(|url| format!("{url}{}=s100", stamp.number));
    record.put(stamp, content);
    let person = mask.map(|mask| PersonView::single(mask, sources).show(&record.id, record.latest()));
    Ok(Some(person.map_or_else(|| json!({}), |person| json!({ "person": person }))))
}
