//! `messages.append` and `drafts.save`: store a message in a mailbox.

use std::collections::BTreeMap;

use connector_sdk::{Context, Failure, Outcome, code};
use io_jmap::rfc8621::email::import::JmapEmailImportArgs;
use io_jmap::rfc8621::email::set::JmapEmailPatch;
use io_jmap::rfc8621::mailbox::JmapMailboxRole;
use model::Instant;
use model::wire::email::{DraftSave, MessageAppend};
use model::wire::{Mutated, Source, Warning};
use serde_json::{Value, json};

use crate::client::{Client, Message, id_of, messages, set, summary, with};
use crate::edit::{self, keyword};
use crate::folders::{self, Place, Tree};
use crate::message;
use crate::protocol::answers::{Set, SetError};
use crate::protocol::email::Email;
use crate::protocol::{Batch, Call, failures};
use crate::read;

/// The creation id of the imported message.
pub const IMPORTED: &str = "message";

/// The size of the chunks in which content is compared, in bytes.
const COMPARED_BYTES: u32 = 256 << 10;

/// The mailboxes and keywords of a message to store.
pub struct Target {
    pub mailboxes: BTreeMap<String, bool>,
    pub keywords: BTreeMap<String, bool>,
    pub received_at: Instant,
}

/// Stores a message. The message of an earlier attempt is found by its Message-ID in the folder.
pub fn append(cx: &Context, args: MessageAppend) -> Outcome<Mutated> {
    if !args.labels.is_empty() {
        return Err(Failure::unsupported("labels"));
    }
    let client = Client::new(cx)?;
    let mut ids = folders::ids(&args.folders)?;
    let keywords = keywords(&args)?;
    let mut batch = client.batch();
    let all = ids.is_empty().then(|| folders::all(&mut batch));
    let (copies, answers) = read::copies(&client, batch, &args.internet_message_id)?;
    if let Some(all) = all {
        let tree = Tree::from_answers(&answers, &all)?;
        let inbox = tree.with_role(&JmapMailboxRole::Inbox);
        ids.push(
            inbox.ok_or_else(|| Failure::not_found("the account has no inbox; name a folder"))?.to_owned(),
        );
    }
    let is_in_all = |email: &Email| ids.iter().all(|id| email.mailboxes().any(|mailbox| mailbox == id));
    if let Some(found) = copies.into_iter().find(|message| message.as_ref().is_ok_and(is_in_all)) {
        return Ok(to_mutated(found));
    }
    let received_at = args.received_at.unwrap_or_else(|| Instant::from_millis(cx.now_ms()));
    let blob_id = client.upload(&args.blob)?;
    import(&client, &blob_id, &Target { mailboxes: set(ids), keywords, received_at }).map(to_mutated)
}

fn keywords(args: &MessageAppend) -> Outcome<BTreeMap<String, bool>> {
    let flags = [("$seen", !args.unread), ("$flagged", args.starred), ("$draft", args.draft)];
    let flags = flags.into_iter().filter(|(_, is_set)| *is_set).map(|(name, _)| Ok(name.to_owned()));
    Ok(set(flags.chain(args.keywords.iter().map(|name| keyword(name))).collect::<Outcome<Vec<_>>>()?))
}

fn to_mutated(message: Message) -> Mutated {
    let item = Some(message::external_id(id_of(&message)));
    Mutated { sources: vec![message::whole(message)], item, ..Mutated::default() }
}

/// Adds a call that imports an uploaded blob as a message.
pub fn ask_import(batch: &mut Batch, blob_id: &str, target: &Target) -> Call {
    let args = JmapEmailImportArgs {
        blob_id: blob_id.to_owned(),
        mailbox_ids: target.mailboxes.clone(),
        keywords: Some(target.keywords.clone()),
        received_at: Some(utc(target.received_at)),
    };
    batch.call("Email/import", json!({ "emails": { IMPORTED: args } }))
}

/// Formats a date (RFC 8620 section 1.4) in whole seconds, because servers may refuse fractions.
fn utc(instant: Instant) -> String {
    let whole = instant.as_millis().div_euclid(1000).saturating_mul(1000);
    Instant::from_millis(whole).timestamp().to_string()
}

/// Imports an uploaded blob as a message, and reads it.
pub fn import(client: &Client, blob_id: &str, target: &Target) -> Outcome<Message> {
    const DOING: &str = "storing the message";
    let mut batch = client.batch();
    let import = ask_import(&mut batch, blob_id, target);
    // Not every server knows the new message by its creation id here.
    let get = batch.call("Email/get", with(&summary(), "ids", json!([format!("#{IMPORTED}")])));
    let answers = client.run(batch, DOING)?;
    let id = match answers.get::<Set>(&import)?.created(IMPORTED) {
        Ok(id) => id,
        Err(error) => existing(client, error, target)?,
    };
    let read = answers.get(&get).map(messages).unwrap_or_default().into_iter().find(|one| id_of(one) == id);
    match read {
        Some(message) => Ok(message),
        None => read_one(client, &id),
    }
}

/// A message by its id.
pub fn read_one(client: &Client, id: &str) -> Outcome<Message> {
    let found = client.emails(&[id.to_owned()], &summary(), "reading the message")?;
    found.into_iter().next().ok_or_else(|| Failure::not_found("the message has already been deleted"))
}

/// Adds an existing message to the mailboxes: servers may store the same bytes only once (RFC 8621 section 4.8).
fn existing(client: &Client, error: Box<SetError>, target: &Target) -> Outcome<String> {
    let Some(id) = error.existing_id.as_deref().filter(|_| error.kind == "alreadyExists") else {
        return Err(failures::of_object(&error));
    };
    let patch = target
        .mailboxes
        .keys()
        .fold(JmapEmailPatch::default(), |patch, mailbox| patch.add_to_mailbox(mailbox));
    let mut batch = client.batch();
    let set = batch.call("Email/set", json!({ "update": { id: patch } }));
    let answer = client.run(batch, "storing the message")?.get::<Set>(&set)?.updated(id);
    answer.map_err(|error| failures::of_object(&error)).map(|()| id.to_owned())
}

/// Stores a draft, and destroys the version that it replaces afterwards: one request for both would destroy the old version even if the new
/// one was refused.
pub fn save_draft(cx: &Context, args: DraftSave) -> Outcome<Mutated> {
    let client = Client::new(cx)?;
    let replaced = args.replaces.as_ref().map(|one| message::id(&one.source)).transpose()?;
    let mut batch = client.batch();
    let all = folders::all(&mut batch);
    let check = replaced.as_deref().map(|id| edit::ask(&mut batch, id));
    let (copies, answers) = read::copies(&client, batch, &args.internet_message_id)?;
    let drafts =
        folders::ensure(&client, &Tree::from_answers(&answers, &all)?, JmapMailboxRole::Drafts, "Drafts")?;
    let earlier = copies.into_iter().filter(|message| is_draft(message, &drafts.id, replaced.as_deref()));
    let earlier: Vec<Message> = earlier.collect();
    let is_current = match check {
        Some(check) => edit::check(answers.get(&check)?, args.if_match.as_deref()).map(|_| ()),
        None => Ok(()),
    };
    let is_gone = is_current.as_ref().is_err_and(|failure| failure.code == code::NOT_FOUND);
    let left = match is_current {
        // An earlier attempt may already have destroyed the old version.
        Err(failure) if !is_gone => return Err(failure),
        Err(failure) => match left_by_earlier_attempt(&client, earlier, &args.blob)? {
            None if args.if_match.is_some() => return Err(failure),
            left => left,
        },
        Ok(()) => left_by_earlier_attempt(&client, earlier, &args.blob)?,
    };
    let replaced = replaced.filter(|_| !is_gone);
    let new = match left {
        Some(message) => message,
        None => {
            let blob_id = client.upload(&args.blob)?;
            import(&client, &blob_id, &draft_target(cx, &drafts.id))?
        }
    };
    let previous = args.replaces.map(|one| one.source);
    finish(&client, new, drafts, replaced.as_deref(), previous)
}

/// The target for drafts: the drafts mailbox, marked as read.
pub fn draft_target(cx: &Context, drafts: &str) -> Target {
    Target {
        mailboxes: set([drafts.to_owned()]),
        keywords: set(["$draft", "$seen"].map(str::to_owned)),
        received_at: Instant::from_millis(cx.now_ms()),
    }
}

fn is_draft(message: &Message, drafts: &str, replaced: Option<&str>) -> bool {
    message.as_ref().is_ok_and(|email| {
        Some(email.id.as_str()) != replaced
            && email.keywords().any(|keyword| keyword == "$draft")
            && email.mailboxes().any(|mailbox| mailbox == drafts)
    })
}

/// Finds the draft of an earlier attempt. All versions of a draft have the same Message-ID, so the bytes must be equal too.
fn left_by_earlier_attempt(client: &Client, earlier: Vec<Message>, blob: &str) -> Outcome<Option<Message>> {
    let size = client.cx.host().blob_size(blob).and_then(|size| i64::try_from(size).ok());
    for message in earlier {
        let Ok(email) = &message else { continue };
        if email.size == size
            && let Some(blob_id) = &email.blob_id
            && is_same(client, blob_id, blob)?
        {
            return Ok(Some(message));
        }
    }
    Ok(None)
}

fn is_same(client: &Client, blob_id: &str, blob: &str) -> Outcome<bool> {
    let theirs = client.download(blob_id, "message.eml", crate::client::MESSAGE, "reading the draft")?;
    let host = client.cx.host();
    let mut offset = 0;
    loop {
        let ours = host.read_blob(blob, offset, COMPARED_BYTES);
        let read = ours.as_ref().map_or(0, Vec::len);
        if ours != host.read_blob(&theirs.id, offset, COMPARED_BYTES) {
            return Ok(false);
        }
        if read == 0 {
            return Ok(true);
        }
        offset += u64::try_from(read).unwrap_or(u64::MAX);
    }
}

/// Destroys the old version and reports the new one.
fn finish(
    client: &Client,
    new: Message,
    drafts: Place,
    replaced: Option<&str>,
    previous: Option<String>,
) -> Outcome<Mutated> {
    let id = id_of(&new).to_owned();
    let mut warnings = Vec::new();
    // Servers that derive ids from content have only one message if nothing changed.
    if let Some(replaced) = replaced.filter(|replaced| *replaced != id)
        && let Err(failure) = destroy(client, replaced)
    {
        // The draft is saved; `changes` reports the surplus copy later.
        let message = format!("the draft is saved, but its old version is still there: {}", failure.message);
        warnings.push(Warning { code: "old_version_kept".to_owned(), message, target: None });
    }
    let external_id = message::external_id(&id);
    let previous_id = previous.filter(|previous| *previous != external_id && warnings.is_empty());
    let source = Source { previous_id, ..message::whole(new) };
    let sources = drafts.made.into_iter().chain([source]).collect();
    Ok(Mutated { sources, item: Some(external_id), part: None, warnings })
}

/// Destroys a message. Succeeds if it no longer exists.
pub fn destroy(client: &Client, id: &str) -> Outcome<()> {
    let mut batch = client.batch();
    let set = ask_destroy(&mut batch, &[id]);
    match client.run(batch, "deleting the message")?.get::<Set>(&set)?.destroyed(id) {
        Err(error) if error.kind != "notFound" => Err(failures::of_object(&error)),
        _ => Ok(()),
    }
}

/// Adds a call that destroys messages.
pub fn ask_destroy(batch: &mut Batch, ids: &[&str]) -> Call {
    let destroy: Value = json!({ "destroy": ids });
    batch.call("Email/set", destroy)
}
