//! `/v1/email`, told once and held against every kind of mailbox: the sandbox provider's always; where the peers are up, Dovecot by IMAP,
//! Cyrus by IMAP, and Cyrus by JMAP.

pub mod mailbox;

/// Each story is a test on every mailbox.
macro_rules! on_every_mailbox {
    ($($story:ident),* $(,)?) => {
        on_every_mailbox!(@ sandbox Sandbox $($story)*);
        on_every_mailbox!(@ dovecot Dovecot $($story)*);
        on_every_mailbox!(@ cyrus_imap CyrusImap $($story)*);
        on_every_mailbox!(@ jmap Jmap $($story)*);
    };
    (@ $name:ident $provider:ident $($story:ident)*) => {
        mod $name {
            use crate::email::mailbox::Mailbox;
            use crate::email::mailbox::Provider;

            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $story() {
                    if let Some(mailbox) = Mailbox::open(Provider::$provider).await {
                        super::$story(mailbox).await;
                    }
                }
            )*
        }
    };
}

mod appending;
mod cancelling;
mod changing;
pub mod connecting;
mod convergence;
mod conversation;
mod drafts;
mod event_source;
mod isolation;
mod leaving;
mod listing;
mod marked_deleted;
mod of_others;
mod once;
mod push;
mod reading;
mod relay;
mod scopes;
mod sending;
pub mod sync;
mod threads;
mod tracking;
mod wrong_input;
