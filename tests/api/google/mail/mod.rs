//! Gmail accounts through `/v1/email`.

mod history;
mod push;
mod reading;
mod traps;
mod writing;

use fakes::google::{GoogleService, Mailbox, State};

use crate::fake_provider::mail::{self, MailProvider, message_id};
use crate::google::ALICE;

pub type MailAccount = mail::MailAccount<GoogleService>;

impl MailProvider for GoogleService {
    fn deliver(state: &mut State, raw: &[u8]) -> String {
        state.deliver(ALICE, raw)
    }
}

impl MailAccount {
    /// Reads or changes Alice's mailbox at Google.
    pub fn mailbox<T>(&self, access: impl FnOnce(&mut Mailbox) -> T) -> T {
        self.world.fake.with(|state| access(state.mailbox(ALICE)))
    }

    /// The labels that a message has at Google.
    pub fn labels(&self, subject: &str) -> Vec<String> {
        self.mailbox(|mailbox| {
            let found = mailbox.titled(subject);
            found.map(|message| message.labels.iter().cloned().collect()).unwrap_or_default()
        })
    }

    /// The requests to Gmail since `clear_requests`, each as its method and the end of its path, or the number of its parts.
    pub fn trips(&self) -> Vec<String> {
        let requests = self.world.fake.requests().into_iter();
        let of_mail = requests
            .filter(|request| request.path.contains("/gmail/v1/") || request.path.starts_with("/batch"));
        of_mail
            .map(|request| match request.path.rsplit_once("/users/me/") {
                Some((_, end)) => format!("{} {end}", request.method),
                None => format!("batch of {}", request.parts.len()),
            })
            .collect()
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

/// The header fields of an answer to the message with this subject.
pub fn answer_to(subject: &str) -> String {
    let id = message_id(subject);
    format!("In-Reply-To: <{id}>\r\nReferences: <{id}>\r\n")
}
