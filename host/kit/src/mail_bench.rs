//! Operations on a mailbox that the cases of mail share.

use std::collections::BTreeSet;

use model::email::EmailMessage;
use model::email::folders::{Folder, FolderRole};
use model::wire::email::{AttachmentRef, Content, MessageAppend, MessageRef, MessagesGet};
use model::wire::{ChangesRequest, Source, Sources};
use runtime::{Error, Surface, Verb};
use serde::Serialize;
use serde_json::Value;

use crate::bench::{Bench, MAX_PAGES, Outcome, Verdict, body, ensure_valid, failed, must};
use crate::caller::Page;
use crate::surface_bench::{Collection, ItemKind, supported, written_source};

const FOLDER: &str = "email_folder";
/// Bytes of a text that a message is read with where a case does not cut it, as hosts do.
pub const WHOLE_TEXT: u32 = 2 << 20;

/// The folders in these pages, by external id.
pub fn folders_in(pages: &[Page]) -> Vec<(String, Folder)> {
    let sources = pages.iter().flat_map(|page| &page.sources.sources);
    sources.filter_map(|source| Some((source.external_id.clone(), folder_of(source)?))).collect()
}

/// Returns the folder with this role among the folders of these pages.
pub fn folder_with_role(pages: &[Page], role: FolderRole) -> Option<String> {
    let mut folders = folders_in(pages).into_iter();
    folders.find(|(_, folder)| folder.role == Some(role)).map(|(id, _)| id)
}

/// The folder that a source is.
fn folder_of(source: &Source) -> Option<Folder> {
    let is_folder = source.items.iter().any(|item| item.kind.as_deref() == Some(FOLDER));
    if source.deleted || !is_folder {
        return None;
    }
    body(source)
}

/// The message that a source is; of a partial one the fields that it has.
pub fn message_of(source: &Source) -> Option<EmailMessage> {
    let is_message = source.items.iter().all(|item| item.kind.is_none());
    if source.deleted || !is_message {
        return None;
    }
    body(source)
}

/// The messages with this subject in these pages, each once.
pub fn with_subject(pages: &[Page], subject: &str) -> Vec<(String, EmailMessage)> {
    let (mut seen, mut found) = (BTreeSet::new(), Vec::new());
    for source in pages.iter().flat_map(|page| &page.sources.sources) {
        let message = message_of(source).filter(|message| message.subject.as_deref() == Some(subject));
        if let Some(message) = message.filter(|_| seen.insert(source.external_id.clone())) {
            found.push((source.external_id.clone(), message));
        }
    }
    found
}

/// The reference to a message; the call adds its hint.
pub fn reference(id: &str) -> MessageRef {
    MessageRef { source: id.to_owned(), hint: None }
}

impl Bench {
    /// The folder that the cases put messages into: the one that the author named, else the inbox.
    pub async fn mail_folder(&mut self, kind: &ItemKind) -> Outcome<Collection> {
        self.needs_surface(kind)?;
        let args = ChangesRequest { limit: 1, ..ChangesRequest::default() };
        let mut cursor = None::<String>;
        for _ in 0..MAX_PAGES {
            let of = (kind.surface, Verb::Changes, kind.changes_op);
            let page = must(self.calls.page(of, &args, cursor.as_deref()).await, kind.changes_op)?;
            let fits = |source: &&Source| match (folder_of(source), &self.wanted) {
                (None, _) => false,
                (Some(folder), Some(wanted)) => folder.name == *wanted || source.external_id == *wanted,
                (Some(folder), None) => folder.role == Some(FolderRole::Inbox),
            };
            if let Some(source) = page.sources.sources.iter().find(fits) {
                let body = body::<Value>(source).unwrap_or_default();
                return Ok(Collection { id: source.external_id.clone(), body });
            }
            if !page.more {
                break;
            }
            cursor = page.cursor;
        }
        Err(Verdict::NotApplicable(match &self.wanted {
            Some(wanted) => format!("there is no folder \"{wanted}\", which project.toml names"),
            None => "the mailbox has no inbox".to_owned(),
        }))
    }

    /// Puts a message into a folder, and keeps the fields that a warning names; a connector that cannot ends the case.
    pub async fn append_message(&mut self, message: &MessageAppend, key: &str) -> Outcome<Source> {
        let made = self.calls.mutate(Surface::Email, "messages.append", message, key).await;
        let made = supported(made, "messages.append")?;
        self.warned = made.warnings.iter().filter_map(|warning| warning.target.clone()).collect();
        written_source(&made)
    }

    /// Returns whether the provider keeps only some header fields of the last message that was put into a folder.
    pub fn is_rewritten(&self) -> bool {
        self.warned.iter().any(|field| field == "headers")
    }

    /// Reads a message; with `text` its headers and its text too, of which `max_bytes` at most.
    pub async fn read_message(&mut self, id: &str, text: bool, max_bytes: u32) -> Outcome<EmailMessage> {
        let args = MessagesGet {
            messages: vec![reference(id)],
            headers: text,
            body: text,
            max_body_bytes: max_bytes,
        };
        let read: Result<Sources, Error> = self.calls.fetch(Surface::Email, "messages.get", &args).await;
        let read = must(read, "messages.get")?.sources;
        ensure_valid("messages.get", &read)?;
        let errors: Vec<&str> =
            read.iter().filter_map(|source| source.error.as_ref()).map(|error| error.code.as_str()).collect();
        match read.iter().find_map(message_of) {
            Some(message) if errors.is_empty() => Ok(message),
            _ => failed(
                format!(
                    "messages.get of \"{id}\" answers with {} sources, and the errors {errors:?}",
                    read.len()
                ),
                "a read by id answers with one source for each message, with its item",
            ),
        }
    }

    /// The bytes of an attachment.
    pub async fn attachment(&mut self, id: &str, part: &str) -> Outcome<Vec<u8>> {
        let args = AttachmentRef { message: reference(id), part: part.to_owned() };
        self.content("attachments.get", &args).await
    }

    /// The bytes of a message.
    pub async fn raw_message(&mut self, id: &str) -> Outcome<Vec<u8>> {
        self.content("messages.raw", &reference(id)).await
    }

    async fn content(&mut self, op: &str, args: &impl Serialize) -> Outcome<Vec<u8>> {
        let answer = self.calls.raw((Surface::Email, Verb::Fetch, op), args, None, None).await;
        let answer = supported(answer, op)?;
        let content: Content = must(answer.parse(), op)?;
        let blob = answer.blobs.get(&content.blob);
        let bytes = blob.and_then(|blob| blob.read(0, usize::try_from(blob.size()).ok()?).ok());
        match bytes {
            Some(bytes) => Ok(bytes.to_vec()),
            None => failed(
                format!(
                    "the answer of {op} names the blob \"{}\", which the call does not have",
                    content.blob
                ),
                "read the bytes into a blob of the call, and answer with its id",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::wire::{Item, JsonText};
    use serde_json::json;

    fn source(id: &str, kind: Option<&str>, body: &Value) -> Source {
        let kind = kind.map(str::to_owned);
        let item =
            Item { external_id: id.into(), kind, body: JsonText::of(body).unwrap(), ..Item::default() };
        Source { external_id: id.into(), items: vec![item], ..Source::default() }
    }

    #[test]
    fn a_page_has_folders_and_messages() {
        let inbox = source("F:1", Some(FOLDER), &json!({ "name": "Inbox", "role": "inbox" }));
        let gone = Source { external_id: "M:0".into(), deleted: true, ..Source::default() };
        let message = |id: &str| source(id, None, &json!({ "subject": "A", "folderIds": ["F:1"] }));
        let sources = vec![inbox, gone, message("M:1"), message("M:1"), message("M:2")];
        let sources = Sources { sources, ..Sources::default() };
        let pages = [Page { sources, cursor: None, more: false }];
        assert_eq!(folder_with_role(&pages, FolderRole::Inbox).as_deref(), Some("F:1"));
        assert_eq!(folder_with_role(&pages, FolderRole::Trash), None);
        let found: Vec<String> = with_subject(&pages, "A").into_iter().map(|(id, _)| id).collect();
        assert_eq!(found, ["M:1", "M:2"], "a message on two pages is one");
        assert!(with_subject(&pages, "Inbox").is_empty());
    }
}
