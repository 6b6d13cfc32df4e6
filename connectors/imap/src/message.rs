//! Converts a message of the server to an item.

use std::collections::BTreeSet;
use std::rc::Rc;

use io_imap::types::fetch::{MessageDataItemName, Section};
use model::Instant;
use model::email::EmailMessage;
use model::wire::{Item, JsonText, Source};
use serde::Serialize;

use crate::ids::{self, Hint, MessageId};
use crate::imap::all_mail::AllMail;
use crate::imap::beyond;
use crate::imap::capabilities::Capabilities;
use crate::imap::commands::{Items, fields};
use crate::imap::fetch::FetchedItems;
use crate::imap::session::Session;
use crate::imap::structure;
use crate::mime;

/// Text of a message that is read for its snippet, where the server makes none.
const SNIPPET_BYTES: u32 = 2048;

/// Keywords of one message that are reported.
const MAX_KEYWORDS: usize = 200;

/// The mailbox that messages are read from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MailboxRef {
    /// Decoded.
    pub name: String,
    /// External id.
    pub folder: String,
    /// [`ids::folder_key`] of it.
    pub key: String,
    pub uid_validity: u32,
    /// The mailbox is Gmail's of all mail: labels name the folders of its messages.
    pub all_mail: Option<Rc<AllMail>>,
}

impl MailboxRef {
    /// The mailbox with this name and external id, in which alone its messages are.
    pub fn new(name: &str, folder: &str, uid_validity: u32) -> Self {
        let key = ids::folder_key(folder);
        MailboxRef { name: name.to_owned(), folder: folder.to_owned(), key, uid_validity, all_mail: None }
    }

    /// The mailbox with this name and external id of the session's account.
    pub fn for_session(session: &Session, name: &str, folder: &str, uid_validity: u32) -> Self {
        let all_mail = session.all_mail.clone().filter(|all| all.name == name);
        MailboxRef { all_mail, ..MailboxRef::new(name, folder, uid_validity) }
    }

    /// The external id of a message in it.
    pub fn message(&self, uid: u32) -> String {
        MessageId { key: self.key.clone(), uid_validity: self.uid_validity, uid }.to_string()
    }

    /// Writes down where the message is.
    fn mark(&self, hint: &mut Hint) {
        hint.folder.clone_from(&self.name);
        hint.folder_id = Some(self.folder.clone()).filter(|id| ids::folder_name(id) != Some(&self.name));
    }

    /// A message that is gone.
    pub fn deleted_source(&self, uid: u32) -> Source {
        Source { external_id: self.message(uid), deleted: true, ..Source::default() }
    }
}

/// FETCH items for all that changes without the message changing.
pub fn state_items(capabilities: &Capabilities) -> Items {
    let modseq = capabilities.has_condstore().then_some(MessageDataItemName::ModSeq);
    with_labels(Items::new(std::iter::once(MessageDataItemName::Flags).chain(modseq)), capabilities)
}

/// These, and Gmail's labels where the server has them.
pub fn with_labels(items: Items, capabilities: &Capabilities) -> Items {
    if capabilities.has_labels() { items.and_beyond(beyond::LABELS) } else { items }
}

/// FETCH items for a message in a list.
pub fn list_items(capabilities: &Capabilities) -> Items {
    let header = Items::section(Some(fields(mime::FIELDS)), None);
    with_snippet(fact_items(capabilities).and(header), capabilities)
}

/// These, and what a message's snippet is made of.
pub fn with_snippet(items: Items, capabilities: &Capabilities) -> Items {
    if capabilities.has("PREVIEW") {
        items.and_beyond(beyond::PREVIEW)
    } else {
        items.and(Items::section(Some(Section::Text(None)), Some(SNIPPET_BYTES)))
    }
}

/// FETCH items for what a message is, without its header.
pub fn fact_items(capabilities: &Capabilities) -> Items {
    let facts = state_items(capabilities)
        .and(MessageDataItemName::InternalDate)
        .and(MessageDataItemName::Rfc822Size)
        .and(MessageDataItemName::BodyStructure);
    match (capabilities.has("OBJECTID"), capabilities.has_labels()) {
        (true, _) => facts.and_beyond(beyond::EMAIL_ID),
        (false, true) => facts.and_beyond(beyond::GMAIL_MESSAGE_ID),
        (false, false) => facts,
    }
}

/// The message of a FETCH response with [`list_items`] or more; one that is marked as deleted is gone. `complete` adds to it what was read
/// besides.
pub fn source(
    place: &MailboxRef,
    uid: u32,
    fetched: &FetchedItems<'_>,
    complete: impl FnOnce(&mut EmailMessage, &Hint),
) -> Source {
    if fetched.flags.as_deref().is_some_and(is_deleted) {
        return place.deleted_source(uid);
    }
    let header = fetched.header().unwrap_or_default();
    let beginning = fetched.section("TEXT").filter(|_| fetched.preview.is_none());
    let mut message = mime::message(header, beginning);
    if let Some(preview) = &fetched.preview {
        message.snippet = mime::snippet(preview);
    }
    let mut hint = Hint::default();
    if let Some(structure) = &fetched.structure {
        let parts = structure::read(structure);
        mime::fill(&mut message, &parts);
        hint = mime::hint(&parts);
    }
    place.mark(&mut hint);
    let size = fetched.size.unwrap_or(0);
    message.size = i64::try_from(size).unwrap_or(i64::MAX);
    let received = fetched.internal_date.map(|seconds| Instant::from_millis(seconds.saturating_mul(1000)));
    message.received_at = received.or(message.sent_at).unwrap_or_default();
    State::new(place, fetched).apply_to(&mut message, place);
    complete(&mut message, &hint);
    let date = message.sent_at.map(|at| at.to_string()).unwrap_or_default();
    let message_id = message.internet_message_id.as_deref().unwrap_or_default();
    let fingerprint = ids::fingerprint(fetched.email_id.as_deref(), message_id, &date, size);
    let id = place.message(uid);
    let item = Item {
        external_id: id.clone(),
        body: JsonText::of(&message).unwrap_or_default(),
        fingerprint: Some(fingerprint),
        hint: hint.to_value(),
        ..Item::default()
    };
    Source { external_id: id, etag: etag(fetched), items: vec![item], ..Source::default() }
}

/// A known message's state alone; one that is marked as deleted is gone.
pub fn partial(place: &MailboxRef, uid: u32, fetched: &FetchedItems<'_>) -> Source {
    if fetched.flags.as_deref().is_some_and(is_deleted) {
        return place.deleted_source(uid);
    }
    let state = State::new(place, fetched);
    let id = place.message(uid);
    let body = JsonText::of(&state).unwrap_or_default();
    let item = Item { external_id: id.clone(), body, partial: true, ..Item::default() };
    Source { external_id: id, etag: etag(fetched), items: vec![item], ..Source::default() }
}

/// The version of the message, where its flags were fetched.
pub fn etag(fetched: &FetchedItems<'_>) -> Option<String> {
    let flags = fetched.flags.as_deref()?;
    Some(ids::etag(fetched.modseq, flags))
}

/// Whether another program marked the message as deleted. It is there until it is expunged, and no client shows it.
pub fn is_deleted(flags: &[String]) -> bool {
    flags.iter().any(|flag| flag.eq_ignore_ascii_case("\\Deleted"))
}

/// The state that flags describe; `\Recent` is ignored.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct State {
    unread: bool,
    starred: bool,
    answered: bool,
    forwarded: bool,
    draft: bool,
    keywords: Vec<String>,
    /// None: labels name them, and the server did not send the labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    folder_ids: Option<Vec<String>>,
}

impl State {
    fn new(place: &MailboxRef, fetched: &FetchedItems<'_>) -> Self {
        let flags = fetched.flags.as_deref().unwrap_or_default();
        let has = |flag: &str| flags.iter().any(|known| known.eq_ignore_ascii_case(flag));
        let keywords: BTreeSet<String> = flags
            .iter()
            .filter(|flag| !flag.starts_with('\\') && !flag.eq_ignore_ascii_case("$Forwarded"))
            .map(|flag| flag.to_lowercase())
            .collect();
        State {
            unread: !has("\\Seen"),
            starred: has("\\Flagged"),
            answered: has("\\Answered"),
            forwarded: has("$Forwarded"),
            draft: has("\\Draft"),
            keywords: keywords.into_iter().take(MAX_KEYWORDS).collect(),
            folder_ids: match &place.all_mail {
                Some(all) => fetched.labels.as_deref().map(|labels| all.folders(labels)),
                None => Some(vec![place.folder.clone()]),
            },
        }
    }

    fn apply_to(self, message: &mut EmailMessage, place: &MailboxRef) {
        message.unread = self.unread;
        message.starred = self.starred;
        message.answered = self.answered;
        message.forwarded = self.forwarded;
        message.draft = self.draft;
        message.keywords = self.keywords;
        message.folder_ids = self.folder_ids.unwrap_or_else(|| vec![place.folder.clone()]);
    }
}
