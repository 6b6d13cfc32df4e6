//! Reads of contacts, one or many at once, each with the description of its picture.

use connector_sdk::http::{Request, Response};
use connector_sdk::rest::batch::{Part, PartOutcome};
use connector_sdk::{Context, Failure, Outcome};
use model::contacts::Photo;
use model::wire::{Source, SourceRef, Sources, SourcesGet};

use crate::api::{accepted, ask, object};
use crate::contacts::native::{ContactFolder, FolderContact, PictureEntry};
use crate::contacts::record::{contact_source, deleted_source, unreadable_source};
use crate::contacts::roots::{contact_request, folders, picture_request};
use crate::odata::batch;
use crate::odata::failures::is_gone;

const READING: &str = "reading the contacts";

/// A contact as it is now.
#[derive(Clone, Debug, Default)]
pub struct ContactState {
    pub contact: FolderContact,
    pub photo: Option<Photo>,
}

/// Contacts that were read at once.
#[derive(Debug, Default)]
pub struct ContactContent {
    pub sources: Vec<Source>,
    /// The contacts that are still to be read, because the provider asks for a wait.
    pub unread: Vec<String>,
    /// Why contacts are still to be read.
    pub wait: Option<Failure>,
}

/// Returns a contact as it is now.
pub fn get(context: &Context, args: &SourceRef) -> Outcome<Sources> {
    let state = read_contact(context, &args.collection, &args.source)?;
    let source = contact_source(&state.contact, state.photo)?;
    Ok(Sources { sources: vec![Source { external_id: args.source.clone(), ..source }], ..Sources::default() })
}

/// Returns many contacts as they are now, those that are gone as deleted.
pub fn get_many(context: &Context, args: &SourcesGet) -> Outcome<Sources> {
    let content = read_sources(context, &args.collection, &args.sources, None)?;
    match content.wait {
        Some(wait) => Err(wait),
        None => Ok(Sources { sources: content.sources, ..Sources::default() }),
    }
}

/// Reads a contact and the description of its picture, in one batch.
pub fn read_contact(context: &Context, book: &str, id: &str) -> Outcome<ContactState> {
    let outcome = batch::read(context, parts_of(book, id)?.into(), batch::MAX_PARTS, READING)?;
    if let Some(wait) = outcome.wait {
        return Err(wait);
    }
    let mut answers = outcome.parts.into_iter().map(|(_, part)| part);
    match (answers.next(), answers.next()) {
        (Some(PartOutcome::Answered(contact)), Some(PartOutcome::Answered(photo))) => {
            let contact = object(&accepted(context, contact, "reading the contact")?)?;
            Ok(ContactState { contact, photo: photo_from(&photo) })
        }
        _ => Err(Failure::unavailable("the provider has left out a part of a batch")),
    }
}

/// Reads the contacts of these ids in batches. One that is gone is deleted, and so is one that is in another folder than `home`, where that
/// is given; one that cannot be read has an error, and its neighbours are read all the same.
pub fn read_sources(
    context: &Context,
    book: &str,
    ids: &[String],
    home: Option<&str>,
) -> Outcome<ContactContent> {
    let mut content = ContactContent::default();
    let mut parts = Vec::with_capacity(ids.len() * 2);
    for id in ids {
        match parts_of(book, id) {
            Ok(both) => parts.extend(both),
            // What can be no id names no contact.
            Err(_) => content.sources.push(deleted_source(id)),
        }
    }
    if parts.is_empty() {
        return Ok(content);
    }
    let outcome = batch::read(context, parts, batch::MAX_PARTS, READING)?;
    let mut answers = outcome.parts.into_iter();
    while let (Some((id, contact)), Some((_, photo))) = (answers.next(), answers.next()) {
        match (contact, photo) {
            (PartOutcome::Answered(contact), PartOutcome::Answered(photo)) => {
                content.sources.push(source_of(context, &id, contact, &photo, home)?);
            }
            _ => content.unread.push(id),
        }
    }
    content.wait = outcome.wait;
    Ok(content)
}

fn parts_of(book: &str, id: &str) -> Outcome<[Part; 2]> {
    Ok([
        Part::new(id, contact_request(book, id)?),
        Part::new(format!("{id} photo"), picture_request(book, id)?),
    ])
}

fn source_of(
    context: &Context,
    id: &str,
    contact: Response,
    photo: &Response,
    home: Option<&str>,
) -> Outcome<Source> {
    let response = match accepted(context, contact, READING) {
        Err(failure) if is_gone(&failure) => return Ok(deleted_source(id)),
        answer => answer?,
    };
    let source = object::<FolderContact>(&response).and_then(|contact| {
        let parent = contact.parent_folder_id.as_deref().filter(|parent| !parent.is_empty());
        match parent.zip(home) {
            Some((parent, home)) if parent != home => Ok(deleted_source(id)),
            _ => contact_source(&contact, photo_from(photo)),
        }
    });
    Ok(match source {
        // The id as it was asked for names the source.
        Ok(source) => Source { external_id: id.to_owned(), ..source },
        Err(failure) => unreadable_source(id, failure.message),
    })
}

/// The picture of a contact. Anything but its description says that there is none: personal accounts refuse to say.
fn photo_from(response: &Response) -> Option<Photo> {
    let picture: PictureEntry = response.is_success().then(|| object(response).ok())??;
    let version = [picture.media_etag, picture.id].into_iter().flatten().find(|text| !text.is_empty());
    Some(Photo { url: None, etag: Some(version.unwrap_or_else(|| "picture".to_owned())) })
}

/// Returns Graph's own id of a book's folder. The default one has another name here.
pub fn folder_id(context: &Context, book: &str) -> Outcome<String> {
    let request = Request::get(folders(&[book], &[("$select", "id")])?);
    let folder: ContactFolder = ask(context, request, "reading the address book")?;
    Ok(folder.id)
}
