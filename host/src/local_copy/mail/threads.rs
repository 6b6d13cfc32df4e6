//! Which messages belong together. The provider's own threads where it has them; else messages of which one names the Message-ID of
//! the other, under the same base subject (RFC 8621 section 3, RFC 5256 section 2.1). A late joiner can make two threads one: then the
//! older one takes in the younger, whose id keeps working.

use std::collections::HashMap;

use ::mail::threads::base_subject;
use base::error::{Result, not_found};
use base::ids;
use model::email::EmailMessage;
use sha2::{Digest, Sha256};
use storage::mail::Thread;
use storage::{Tx, mail as table};

use crate::app::App;
use crate::app::resource_kind::ResourceKind;
use crate::connections::request_context::RequestContext;
use crate::local_copy::change::CopyLocation;

/// Message-IDs of one message that count; the last ones, which are its nearest relatives.
const MOST_REFS: usize = 50;

/// Threads as a page of messages finds them, and what becomes of them meanwhile.
#[derive(Default)]
pub struct Threads {
    /// Merged ones, with what took them in.
    merged: HashMap<String, String>,
    of_provider: HashMap<String, String>,
}

impl Threads {
    /// The id of the thread of a message that was read whole. `message.thread_id` is the provider's.
    pub async fn of(
        &mut self,
        tx: &mut Tx,
        app: &App,
        place: &CopyLocation,
        message: &EmailMessage,
        known: Option<&str>,
    ) -> Result<String> {
        match &message.thread_id {
            Some(external_id) => self.provided(tx, app, place, message, external_id).await,
            None => self.computed(tx, app, place, message, known).await,
        }
    }

    async fn provided(
        &mut self,
        tx: &mut Tx,
        app: &App,
        place: &CopyLocation,
        message: &EmailMessage,
        external_id: &str,
    ) -> Result<String> {
        if let Some(id) = self.of_provider.get(external_id) {
            return Ok(id.clone());
        }
        let id = match table::thread_of_provider(tx, &place.connection_id, external_id).await? {
            Some(id) => id,
            None => made(tx, app, place, message).await?,
        };
        self.of_provider.insert(external_id.to_owned(), id.clone());
        Ok(id)
    }

    async fn computed(
        &mut self,
        tx: &mut Tx,
        app: &App,
        place: &CopyLocation,
        message: &EmailMessage,
        known: Option<&str>,
    ) -> Result<String> {
        let refs = refs(message);
        let mut found = table::known_threads(tx, &place.connection_id, &refs).await?;
        found.extend(known.map(|id| self.now(id)));
        found.sort_unstable();
        found.dedup();
        let mut found = found.into_iter();
        let Some(id) = found.next() else {
            let id = made(tx, app, place, message).await?;
            table::name_thread(tx, &place.connection_id, &refs, &id).await?;
            return Ok(id);
        };
        for younger in found {
            table::merge_thread(tx, &younger, &id, app.now()).await?;
            self.merged.insert(younger, id.clone());
        }
        table::name_thread(tx, &place.connection_id, &refs, &id).await?;
        Ok(id)
    }

    /// The thread that this one is part of by now.
    pub fn now(&self, id: &str) -> String {
        let mut id = id;
        // As many steps as there are merges; more would be a circle.
        for _ in 0..=self.merged.len() {
            match self.merged.get(id) {
                Some(into) => id = into,
                None => break,
            }
        }
        id.to_owned()
    }

    pub fn merged(&self) -> impl Iterator<Item = &String> {
        self.merged.keys()
    }
}

/// A thread that the key may see; one that was merged is found under its old id.
pub async fn find(app: &App, asker: &RequestContext, id: &str) -> Result<Thread> {
    asker.ensure_scope(ResourceKind::EmailMessage.read_scope())?;
    let missing = || not_found("thread");
    let mut id = id.to_owned();
    // Merges point to what is there: one step, or two while one is under way.
    for _ in 0..4 {
        if !ids::is_plausible(&id) {
            return Err(missing());
        }
        let found = table::find_thread(app.db.reader(), &asker.tenant, &id).await?;
        let thread = found.filter(|t| asker.may_use(&t.connection_id)).ok_or_else(missing)?;
        match thread.merged_into {
            Some(into) => id = into,
            None => return Ok(thread),
        }
    }
    Err(missing())
}

/// A new thread, which begins with this message.
async fn made(tx: &mut Tx, app: &App, place: &CopyLocation, message: &EmailMessage) -> Result<String> {
    let thread = Thread {
        id: app.new_id(ids::Kind::Thread),
        connection_id: place.connection_id.clone(),
        external_id: message.thread_id.clone(),
        merged_into: None,
        created_at: app.now(),
    };
    table::new_thread(tx, &place.tenant, &thread, message.received_at.as_millis()).await?;
    Ok(thread.id)
}

/// What leads to a message's thread: its own Message-ID and those that it names, each under its subject.
fn refs(message: &EmailMessage) -> Vec<String> {
    let subject = text::folding::fold(&base_subject(message.subject.as_deref().unwrap_or_default()));
    let named = message.references.iter().chain(&message.in_reply_to).rev().take(MOST_REFS);
    let mut refs: Vec<String> = message
        .internet_message_id
        .iter()
        .chain(named)
        .map(|id| hex::encode(&Sha256::digest(format!("{id}\n{subject}"))[..16]))
        .collect();
    refs.sort_unstable();
    refs.dedup();
    refs
}
