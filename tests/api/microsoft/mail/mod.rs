//! Mailboxes of Microsoft 365 through `/v1/email`.

mod changes;
mod reading;
mod sending;
mod writing;

use fakes::graph::{GraphRequest, GraphService, GraphState, MailStore};
use serde_json::Value;

use crate::fake_provider::mail::{self, MINUTE_MS, MailProvider};
use crate::microsoft::{ALICE, unbatched};

pub type MailAccount = mail::MailAccount<GraphService>;

impl MailProvider for GraphService {
    fn deliver(state: &mut GraphState, raw: &[u8]) -> String {
        state.deliver(ALICE, raw)
    }
}

impl MailAccount {
    /// Lets time pass until a message is sent, or has failed. Returns the message.
    pub async fn delivered(&self, message: Value) -> Value {
        let mut message = message;
        for _ in 0..10 {
            if ["sent", "failed"].iter().any(|state| message["delivery"]["state"] == *state) {
                break;
            }
            self.world.advance(10 * MINUTE_MS);
            self.world.server.hand_over().await;
            message = self.shown(&message["id"]).await;
        }
        message
    }

    /// Reads or changes Alice's mailbox at Graph.
    pub fn mailbox<T>(&self, access: impl FnOnce(&mut MailStore) -> T) -> T {
        self.world.fake.with(|state| access(state.mailbox(ALICE)))
    }

    /// The subjects of the messages in a folder at Graph, by its well-known name or its own; sorted.
    pub fn subjects_in(&self, folder: &str) -> Vec<String> {
        self.mailbox(|mailbox| {
            let key = mailbox.folder_key(folder);
            let inside = mailbox.messages.values().filter(|message| message.folder == key);
            let mut subjects: Vec<String> = inside.map(|message| message.content.subject.clone()).collect();
            subjects.sort();
            subjects
        })
    }

    /// The requests to Graph since `clear_requests`, parts of batches each for itself.
    pub fn requests(&self) -> Vec<GraphRequest> {
        let all = self.world.fake.requests().into_iter().flat_map(unbatched);
        all.filter(|request| request.path.starts_with("/v1.0/me/")).collect()
    }
}

/// A message to Alice; `more` has further header fields, each with its line end.
pub fn letter(subject: &str, more: &str) -> String {
    mail::letter(ALICE, subject, more)
}

/// Returns a message with this text.
pub fn written(subject: &str, more: &str, body: &str) -> String {
    mail::written(ALICE, subject, more, body)
}

/// The creations of messages with these subjects as in a feed; sorted.
pub fn created(subjects: &[String]) -> Vec<String> {
    let mut created: Vec<String> = subjects.iter().map(|subject| format!("created {subject}")).collect();
    created.sort();
    created
}
