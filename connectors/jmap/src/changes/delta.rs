//! The changes since two states, of messages and of mailboxes (RFC 8620 section 5.2), with their present content: one request.

use std::collections::HashSet;

use connector_sdk::Outcome;
use model::wire::Source;
use serde_json::{Value, json};

use crate::changes::cursor::Cursor;
use crate::changes::telling::{DOING, ReportOptions};
use crate::client::{Client, Message, messages, with};
use crate::folders::{self, Tree};
use crate::message;
use crate::protocol::answers::{ChangesResponse, GetResponse};
use crate::protocol::{Answers, Batch, Call, email, failures};

/// Properties of a mailbox that change with every message (RFC 8621 section 2.2).
const COUNTS: [&str; 4] = ["totalEmails", "unreadEmails", "totalThreads", "unreadThreads"];

/// Calls for changes and for what was changed.
struct DeltaCalls {
    changes: Call,
    created: Call,
    updated: Call,
}

/// Messages.
pub struct EmailDelta(DeltaCalls);

/// Mailboxes.
pub struct FolderDelta(DeltaCalls);

/// The changes of messages.
pub struct Emails {
    pub sources: Vec<Source>,
    /// The state that is reported now.
    pub state: String,
    /// There is more to tell now.
    pub has_more: bool,
}

/// The changes of folders.
#[derive(Default)]
pub struct Folders {
    /// New and changed ones, reported before the messages in them.
    pub before: Vec<Source>,
    /// The folders that are gone.
    pub after: Vec<Source>,
    /// The state that is reported now.
    pub state: String,
    /// There is more to tell now.
    pub has_more: bool,
}

impl Folders {
    /// The folders before and after these messages.
    pub fn around(self, messages: Vec<Source>) -> Vec<Source> {
        self.before.into_iter().chain(messages).chain(self.after).collect()
    }
}

impl EmailDelta {
    /// Adds the calls: new messages are read whole, of others what can change. `since` is the argument `sinceState`, or a reference.
    pub(super) fn ask(batch: &mut Batch, since: (&str, Value), telling: ReportOptions) -> Self {
        let args = with(&json!({ "maxChanges": telling.limit }), since.0, since.1);
        let changes = batch.call("Email/changes", args);
        let created = batch.call("Email/get", with(&telling.get(), "#ids", changes.at("/created")));
        let updated =
            batch.call("Email/get", with(&email::get(&email::STATE), "#ids", changes.at("/updated")));
        EmailDelta(DeltaCalls { changes, created, updated })
    }

    /// Parses the answers.
    pub(super) fn read(&self, client: &Client, answers: &Answers, telling: ReportOptions) -> Outcome<Emails> {
        let changed: ChangesResponse = answers.get(&self.0.changes)?;
        let updated = read(client, answers, &self.0.updated, &changed.updated, &email::get(&email::STATE))?;
        let created = read(client, answers, &self.0.created, &changed.created, &telling.get())?;
        let updated = updated.into_iter().map(|message| telling.partial(message));
        let created = created.into_iter().map(|message| telling.source(message));
        let gone = changed.destroyed.iter().map(|id| message::deleted_source(id));
        let sources = updated.chain(created).chain(gone).collect();
        Ok(Emails { sources, has_more: has_more(&changed), state: changed.new_state })
    }
}

impl FolderDelta {
    /// Adds the calls.
    pub(super) fn ask(batch: &mut Batch, cursor: &Cursor) -> Self {
        let changes = batch.call("Mailbox/changes", json!({ "sinceState": cursor.mailboxes }));
        let created = batch.call("Mailbox/get", json!({ "#ids": changes.at("/created") }));
        let updated = batch.call("Mailbox/get", json!({ "#ids": changes.at("/updated") }));
        FolderDelta(DeltaCalls { changes, created, updated })
    }

    /// Parses the answers.
    pub(super) fn read(&self, client: &Client, answers: &Answers) -> Outcome<Folders> {
        let changed: ChangesResponse = answers.get(&self.0.changes)?;
        let before = self.changed_folders(client, answers, &changed)?;
        let after = changed.destroyed.iter().map(|id| folders::deleted_source(id)).collect();
        Ok(Folders { before, after, has_more: has_more(&changed), state: changed.new_state })
    }

    /// The mailboxes that changed. A name or a place that changed is in the path of everything below too, and the path of a nested
    /// one is made of mailboxes that did not change: then all are read, in one more request.
    fn changed_folders(
        &self,
        client: &Client,
        answers: &Answers,
        changed: &ChangesResponse,
    ) -> Outcome<Vec<Source>> {
        if changed.created.is_empty() && changed.updated.is_empty() {
            return Ok(Vec::new());
        }
        let mut tree = Tree::read(answers.get(&self.0.created)?);
        tree.add(answers.get(&self.0.updated)?);
        let is_count = |name: &String| COUNTS.contains(&name.as_str());
        let counts_only = changed.updated_properties.as_ref().is_some_and(|names| names.iter().all(is_count));
        let keeps_paths = changed.updated.is_empty() || counts_only;
        if keeps_paths && tree.is_flat() {
            return Ok(tree.sources());
        }
        let mut batch = client.batch();
        let all = folders::all(&mut batch);
        let tree = Tree::from_answers(&client.run(batch, DOING)?, &all)?;
        let names: HashSet<&str> =
            changed.created.iter().chain(&changed.updated).map(String::as_str).collect();
        Ok(match keeps_paths {
            true => tree.sources_at(|id| names.contains(id)),
            false => tree.sources_below(|id| names.contains(id)),
        })
    }
}

/// Whether there are more changes now. A server that says so without a new state would be asked for ever.
fn has_more(changed: &ChangesResponse) -> bool {
    let is_empty = changed.created.is_empty() && changed.updated.is_empty() && changed.destroyed.is_empty();
    changed.has_more_changes && !(is_empty && changed.old_state.as_ref() == Some(&changed.new_state))
}

/// The messages of a call whose ids are another call's answer. Servers that return more changes than requested may refuse to read
/// as many at once: then they are read in smaller pieces.
fn read(
    client: &Client,
    answers: &Answers,
    call: &Call,
    ids: &[String],
    args: &Value,
) -> Outcome<Vec<Message>> {
    match answers.attempt::<GetResponse>(call)? {
        Ok(got) => Ok(messages(got)),
        Err(error) if error.kind == "requestTooLarge" => client.emails(ids, args, DOING),
        Err(error) => Err(failures::of_method(&error)),
    }
}
