//! Attachments of events. Graph lists them apart from the event: those that say that they have some are asked for them, all in one batch
//! more. It names files, items of Outlook and links alike, and gives no URL of any of them.

use std::collections::BTreeMap;

use connector_sdk::http::Request;
use connector_sdk::rest::batch::{Part, PartOutcome};
use connector_sdk::{Context, Failure, Outcome, code};
use model::calendar::EventAttachment;
use model::wire::Warning;

use crate::api::object;
use crate::calendar::native::{AttachmentPage, Event, EventFile};
use crate::calendar::people::present;
use crate::calendar::roots::events;
use crate::odata::{batch, failures};

/// The members that are read: without them a file comes with its bytes.
const FILE_MEMBERS: &str = "id,name,contentType,size,isInline";
/// Changed instances of one series whose own attachments are read; further ones have those of the series.
const MAX_INSTANCES: usize = 20;
/// Changed instances of all series whose own attachments one call reads: ten batches.
const MAX_INSTANCES_OF_CALL: usize = 200;
/// The purpose of the requests, for messages.
const READING: &str = "reading the attachments of the events";

/// Reads the attachments of these events and of their changed instances. An event whose attachments cannot be read has none in
/// `Event::attachments`. Returns why some are to be read later, if the provider asks for a wait.
pub fn put_files(context: &Context, calendar: &str, found: &mut [&mut Event]) -> Outcome<Option<Failure>> {
    let parts: Vec<Part> = ids_with_files(found)
        .into_iter()
        .filter_map(|id| {
            let url = events(calendar, &[id, "attachments"], &[("$select", FILE_MEMBERS)]).ok()?;
            Some(Part::new(id, Request::get(url)))
        })
        .collect();
    if parts.is_empty() {
        return Ok(None);
    }
    let outcome = batch::read(context, parts, batch::MAX_PARTS, READING)?;
    let lists = outcome.parts.into_iter().filter_map(|(id, part)| match part {
        PartOutcome::Answered(response) if response.is_success() => {
            Some((id, object::<AttachmentPage>(&response).ok()?.value))
        }
        _ => None,
    });
    let lists: BTreeMap<String, Vec<EventFile>> = lists.collect();
    for event in found {
        event.attachments = lists.get(&event.id).cloned();
        // During a wait the instance's own list comes later.
        let of_series = event.attachments.clone().filter(|_| outcome.wait.is_none());
        for instance in event.exception_occurrences.iter_mut().flatten().filter(|one| has_files(one)) {
            instance.attachments = lists.get(&instance.id).or(of_series.as_ref()).cloned();
        }
    }
    Ok(outcome.wait)
}

/// Returns the event of an answer to a change with its attachments. The change is done: while they cannot be read, the event is without
/// them.
pub fn with_files(context: &Context, calendar: &str, mut event: Event) -> Outcome<Event> {
    if !lacks_files(&event) {
        return Ok(event);
    }
    match put_files(context, calendar, &mut [&mut event]) {
        Err(failure) if !failures::is_passing(&failure) => return Err(failure),
        Err(failure) if failure.code == code::RATE_LIMITED => batch::note_wait(context, &failure),
        _ => {}
    }
    Ok(event)
}

/// The ids of these events and of their changed instances, as far as they have attachments.
fn ids_with_files<'e>(found: &'e [&mut Event]) -> Vec<&'e str> {
    let own = found.iter().filter(|event| has_files(event)).map(|event| event.id.as_str());
    let instances = found.iter().flat_map(|event| {
        let changed = event.exception_occurrences.iter().flatten();
        changed.filter(|one| has_files(one)).take(MAX_INSTANCES)
    });
    own.chain(instances.take(MAX_INSTANCES_OF_CALL).map(|one| one.id.as_str())).collect()
}

fn has_files(event: &Event) -> bool {
    event.has_attachments == Some(true)
}

/// Whether an event has attachments that were not read.
pub fn lacks_files(event: &Event) -> bool {
    has_files(event) && event.attachments.is_none()
}

/// Whether an event or a changed instance of it has attachments that were not read.
pub fn lacks_some_files(event: &Event) -> bool {
    lacks_files(event) || event.exception_occurrences.iter().flatten().any(lacks_files)
}

/// Returns the attachments of an event. Pictures inside the description are none.
pub fn attachments_from(theirs: &Event) -> Vec<EventAttachment> {
    let files = theirs.attachments.iter().flatten().filter(|file| file.is_inline != Some(true));
    let attachment = |file: &EventFile| EventAttachment {
        title: present(file.name.as_ref()),
        url: None,
        mime_type: present(file.content_type.as_ref()),
    };
    files.map(attachment).collect()
}

/// Returns the warning that the attachments of an event could not be read.
pub fn unread_warning() -> Warning {
    Warning {
        code: "attachments_unreadable".to_owned(),
        message: "the provider did not list the attachments of this event: they are left out".to_owned(),
        target: Some("attachments".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{
        Event, MAX_INSTANCES, MAX_INSTANCES_OF_CALL, attachments_from, ids_with_files, lacks_files,
        lacks_some_files,
    };

    #[test]
    fn files_and_links_have_names_and_pictures_of_the_text_are_left_out() {
        let event: Event = serde_json::from_value(json!({
            "id": "e", "hasAttachments": true,
            "attachments": [
                { "@odata.type": "#microsoft.graph.fileAttachment", "name": "agenda.pdf", "contentType": "application/pdf", "isInline": false },
                { "@odata.type": "#microsoft.graph.fileAttachment", "name": "logo.png", "contentType": "image/png", "isInline": true },
                { "@odata.type": "#microsoft.graph.referenceAttachment", "name": "Plan", "contentType": null },
            ],
        }))
        .unwrap();
        let found = attachments_from(&event).into_iter().map(|one| (one.title, one.url, one.mime_type));
        let text = |text: &str| Some(text.to_owned());
        let expected = [(text("agenda.pdf"), None, text("application/pdf")), (text("Plan"), None, None)];
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn events_that_say_that_they_have_files_are_asked() {
        let mut event: Event = serde_json::from_value(json!({
            "id": "series", "hasAttachments": false,
            "exceptionOccurrences": [{ "id": "plain" }, { "id": "moved", "hasAttachments": true }],
        }))
        .unwrap();
        assert_eq!(ids_with_files(&[&mut event]), ["moved"]);
        assert!(!lacks_files(&event) && lacks_some_files(&event));
    }

    #[test]
    fn a_call_reads_the_lists_of_some_instances_only() {
        let series = |number: usize| -> Event {
            let instances: Vec<_> =
                (0..30_u8).map(|at| json!({ "id": at.to_string(), "hasAttachments": true })).collect();
            let series = json!({ "id": format!("s{number}"), "hasAttachments": true, "exceptionOccurrences": instances });
            serde_json::from_value(series).unwrap()
        };
        let mut one = series(0);
        assert_eq!(ids_with_files(&[&mut one]).len(), 1 + MAX_INSTANCES);
        let mut many: Vec<Event> = (0..60).map(series).collect();
        let many: Vec<&mut Event> = many.iter_mut().collect();
        let ids = ids_with_files(&many);
        assert_eq!((ids.len(), ids[59]), (60 + MAX_INSTANCES_OF_CALL, "s59"), "each series has its own list");
    }
}
