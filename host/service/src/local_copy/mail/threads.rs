//! Threads: the provider's own if it has them; else messages of which one names the Message-ID of the other, under the same base subject
//! (RFC 8621 section 3, RFC 5256 section 2.1). A late message can join two threads: then the older one absorbs the younger, whose id keeps
//! working.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use ::mail::threads::base_subject;
use base::error::{Result, not_found};
use base::ids;
use base::tenant::Tenant;
use model::email::EmailMessage;
use sha2::{Digest, Sha256};
use storage::Tx;
use storage::items::{self, Item};
use storage::mail::{self as table, NewThread, Thread, ThreadName};

use crate::app::App;
use crate::app::resource_kind::ResourceKind;
use crate::connections::request_context::RequestContext;
use crate::local_copy::mail::locations::is_place;
use crate::local_copy::record::NormalizedRecord;
use crate::local_copy::transaction::CopyTransaction;

/// Most Message-IDs of one message that count; the last ones, which are its nearest relatives.
const MOST_REFS: usize = 50;

/// The threads of a page of messages, read once and changed in memory: a message finds the threads and names that an earlier message of the
/// page has created. `write` stores the changes.
#[derive(Debug, Default)]
pub struct Threads {
    of_provider: HashMap<String, String>,
    /// Ids of threads by the names of `refs`. A merged thread leads to another one: see `now`.
    by_ref: HashMap<String, String>,
    /// Merged threads, each with one that absorbed it, whose id is smaller.
    merged: HashMap<String, String>,
    new: Vec<NewThread>,
    /// Names that are not stored yet. Stored names change only by merges.
    new_refs: Vec<String>,
}

/// Changes that a page makes to the threads of its connection.
#[derive(Debug, Default, PartialEq)]
struct ThreadChanges {
    new: Vec<NewThread>,
    /// Merged threads, by the thread that absorbed them.
    merged: BTreeMap<String, Vec<String>>,
    /// New names, with their threads.
    names: Vec<(String, String)>,
}

impl Threads {
    /// Loads the threads of all messages that these records contain completely.
    pub async fn load(tx: &mut Tx, connection_id: &str, sources: &[&NormalizedRecord]) -> Result<Threads> {
        let (mut external_ids, mut names) = (BTreeSet::new(), BTreeSet::new());
        let told = sources.iter().flat_map(|source| &source.items);
        for item in told.filter(|item| !is_place(item.kind) && item.partial.is_none()) {
            let message: EmailMessage = serde_json::from_str(&item.content.body)?;
            match &message.thread_id {
                Some(external_id) => drop(external_ids.insert(external_id.clone())),
                None => names.extend(refs(&message)),
            }
        }
        let external_ids: Vec<&str> = external_ids.iter().map(String::as_str).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        Ok(Threads {
            of_provider: table::threads_of_provider(tx, connection_id, &external_ids).await?,
            by_ref: table::known_threads(tx, connection_id, &names).await?,
            ..Threads::default()
        })
    }

    /// Returns the id of the thread of a completely read message whose thread was `known`. `message.thread_id` is the provider's.
    pub fn thread_id(&mut self, app: &App, message: &EmailMessage, known: Option<&str>) -> String {
        let make = || NewThread {
            id: app.new_id(ids::Kind::Thread),
            external_id: message.thread_id.clone(),
            created_at: app.now(),
            latest_at: message.received_at.as_millis(),
        };
        match &message.thread_id {
            Some(external_id) => self.provided(external_id, make),
            None => self.computed(refs(message), known, make),
        }
    }

    fn provided(&mut self, external_id: &str, make: impl FnOnce() -> NewThread) -> String {
        if let Some(id) = self.of_provider.get(external_id) {
            return id.clone();
        }
        let id = self.add(make());
        self.of_provider.insert(external_id.to_owned(), id.clone());
        id
    }

    fn computed(
        &mut self,
        refs: Vec<String>,
        known: Option<&str>,
        make: impl FnOnce() -> NewThread,
    ) -> String {
        let named = refs.iter().filter_map(|name| self.by_ref.get(name)).map(String::as_str);
        let found: Vec<String> = named.chain(known).map(str::to_owned).collect();
        // The oldest first: ids begin with the time at which they were made.
        let found: BTreeSet<String> = found.iter().map(|id| self.now(id)).collect();
        let mut found = found.into_iter();
        let id = found.next().unwrap_or_else(|| self.add(make()));
        self.merged.extend(found.map(|younger| (younger, id.clone())));
        for name in refs {
            if self.by_ref.insert(name.clone(), id.clone()).is_none() {
                self.new_refs.push(name);
            }
        }
        id
    }

    fn add(&mut self, thread: NewThread) -> String {
        let id = thread.id.clone();
        self.new.push(thread);
        id
    }

    /// Returns the thread that this one belongs to now.
    pub fn now(&mut self, id: &str) -> String {
        let mut last = id;
        while let Some(into) = self.merged.get(last) {
            last = into;
        }
        let last = last.to_owned();
        // Redirects each one on the way to the last, so that a long chain is walked once.
        let mut id = id.to_owned();
        while let Some(into) = self.merged.get_mut(&id) {
            id = std::mem::replace(into, last.clone());
        }
        last
    }

    /// The ids of merged threads.
    pub fn merged(&self) -> impl Iterator<Item = &String> {
        self.merged.keys()
    }

    /// Takes the changes to write.
    fn take_changes(&mut self) -> ThreadChanges {
        let mut changes = ThreadChanges { new: std::mem::take(&mut self.new), ..ThreadChanges::default() };
        let merged: BTreeSet<String> = self.merged.keys().cloned().collect();
        for from in merged {
            changes.merged.entry(self.now(&from)).or_default().push(from);
        }
        for name in std::mem::take(&mut self.new_refs) {
            if let Some(id) = self.by_ref.get(&name).cloned() {
                changes.names.push((name, self.now(&id)));
            }
        }
        changes
    }

    /// Writes the changes of the page: new threads, merges, new names.
    pub async fn write(&mut self, copy: &mut CopyTransaction<'_, '_>) -> Result<()> {
        let (app, location) = (copy.app, copy.location);
        let ThreadChanges { new, merged, names } = self.take_changes();
        table::insert_threads(copy.tx, &location.tenant, &location.connection_id, &new).await?;
        // Few messages join threads: one call for each thread that absorbed others, however many.
        for (into, from) in &merged {
            let from: Vec<&str> = from.iter().map(String::as_str).collect();
            table::merge_threads(copy.tx, &from, into, app.now()).await?;
        }
        let names: Vec<ThreadName<'_>> =
            names.iter().map(|(name, thread_id)| ThreadName { name, thread_id }).collect();
        Ok(table::name_threads(copy.tx, &location.connection_id, &names).await?)
    }
}

/// Returns a thread that the key may see; a merged one is found under its old id.
pub async fn find(app: &App, asker: &RequestContext, id: &str) -> Result<Thread> {
    asker.ensure_scope(ResourceKind::EmailMessage.read_scope())?;
    let missing = || not_found("thread");
    let mut id = id.to_owned();
    // Merges lead to the present thread in one step, or two while one is running.
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

/// Returns the provider's id of the thread that a message or draft belongs to: that of the message it answers (`answered`, an id of ours),
/// else that of its draft. None where both have none, and where threads are computed here.
pub async fn find_joined(
    app: &App,
    tenant: &Tenant,
    answered: Option<&str>,
    draft: Option<&Item>,
) -> Result<Option<String>> {
    let reader = app.db.reader();
    let answered = match answered {
        Some(id) => items::find(reader, tenant, ResourceKind::EmailMessage.as_str(), id).await?,
        None => None,
    };
    for id in answered.iter().chain(draft).filter_map(|item| item.series_id.as_deref()) {
        let thread = table::find_thread(reader, tenant, id).await?;
        if let Some(external_id) = thread.and_then(|thread| thread.external_id) {
            return Ok(Some(external_id));
        }
    }
    Ok(None)
}

/// Returns the names that lead to a message's thread: its own Message-ID and those that it refers to, each under its subject.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn new_thread(id: &str) -> NewThread {
        NewThread { id: id.to_owned(), external_id: None, created_at: 1, latest_at: 1 }
    }

    /// The threads of a connection as tables: each message is looked up and written before the next one.
    #[derive(Clone, Debug, Default, PartialEq)]
    struct Tables {
        refs: BTreeMap<String, String>,
        merged: BTreeMap<String, String>,
    }

    impl Tables {
        fn merge(&mut self, from: &str, into: &str) {
            let moved = self.refs.values_mut().chain(self.merged.values_mut());
            moved.filter(|thread| thread.as_str() == from).for_each(|thread| *thread = into.to_owned());
            self.merged.insert(from.to_owned(), into.to_owned());
        }

        fn store(&mut self, message: &ThreadedMessage, new: &str) -> String {
            let known = message.known.iter().map(|id| self.merged.get(id).unwrap_or(id));
            let named = message.refs.iter().filter_map(|name| self.refs.get(name));
            let found: BTreeSet<String> = named.chain(known).cloned().collect();
            let id = found.first().cloned().unwrap_or_else(|| new.to_owned());
            found.iter().skip(1).for_each(|younger| self.merge(younger, &id));
            self.refs.extend(message.refs.iter().map(|name| (name.clone(), id.clone())));
            id
        }

        fn apply(&mut self, changes: &ThreadChanges) {
            for (into, from) in &changes.merged {
                from.iter().for_each(|from| self.merge(from, into));
            }
            self.refs.extend(changes.names.iter().cloned());
        }
    }

    /// A message reduced to the fields that threads depend on.
    #[derive(Clone, Debug)]
    struct ThreadedMessage {
        refs: Vec<String>,
        known: Option<String>,
        /// The rank of its thread's id among all ids, if it begins one.
        rank: u8,
    }

    fn message() -> impl Strategy<Value = ThreadedMessage> {
        let refs = prop::collection::btree_set(0..14_u8, 0..4);
        (refs, prop::option::weighted(0.2, 0..6_u8), any::<u8>()).prop_map(|(refs, known, rank)| {
            ThreadedMessage {
                refs: refs.into_iter().map(|name| format!("ref-{name}")).collect(),
                known: known.map(stored),
                rank,
            }
        })
    }

    /// Returns the id of a stored thread; new ones may have greater or smaller ids.
    fn stored(n: u8) -> String {
        format!("thr-{:03}-stored", 40 * n)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn a_page_makes_of_threads_what_its_messages_make_one_by_one(
            known in prop::collection::btree_map(0..14_u8, 0..6_u8, 0..14),
            page in prop::collection::vec(message(), 0..24),
        ) {
            let refs = known.into_iter().map(|(name, thread)| (format!("ref-{name}"), stored(thread)));
            let before = Tables { refs: refs.collect(), ..Tables::default() };
            let (mut one_by_one, mut at_once) = (before.clone(), before.clone());
            let mut threads =
                Threads { by_ref: before.refs.clone().into_iter().collect(), ..Threads::default() };
            let mut made = Vec::new();
            for (n, message) in page.iter().enumerate() {
                let new = format!("thr-{:03}-{n}", message.rank);
                let expected = one_by_one.store(message, &new);
                if expected == new {
                    made.push(new_thread(&new));
                }
                let found =
                    threads.computed(message.refs.clone(), message.known.as_deref(), || new_thread(&new));
                prop_assert_eq!(found, expected);
            }
            let merged: BTreeSet<String> = threads.merged().cloned().collect();
            let expected: BTreeSet<String> = one_by_one.merged.keys().cloned().collect();
            prop_assert_eq!(merged, expected);
            for (from, into) in &one_by_one.merged {
                prop_assert_eq!(threads.now(from), into.clone());
            }
            let changes = threads.take_changes();
            prop_assert_eq!(&changes.new, &made);
            let names: BTreeSet<&String> = changes.names.iter().map(|(name, _)| name).collect();
            prop_assert_eq!(names.len(), changes.names.len(), "each name is written once");
            at_once.apply(&changes);
            prop_assert_eq!(at_once, one_by_one);
        }
    }

    #[test]
    fn three_threads_that_two_messages_join_are_the_oldest() {
        let by_ref = [("a", "thr-1"), ("b", "thr-2"), ("c", "thr-3")];
        let by_ref = by_ref.map(|(name, thread)| (name.to_owned(), thread.to_owned()));
        let mut threads = Threads { by_ref: by_ref.into(), ..Threads::default() };
        let refs = |names: [&str; 2]| names.map(str::to_owned).to_vec();
        let new = || new_thread("thr-9");
        assert_eq!(threads.computed(refs(["b", "c"]), None, new), "thr-2");
        assert_eq!(threads.computed(refs(["a", "c"]), None, new), "thr-1");
        assert_eq!(threads.computed(refs(["d", "e"]), Some("thr-3"), new), "thr-1");
        let changes = threads.take_changes();
        let merged = BTreeMap::from([("thr-1".to_owned(), vec!["thr-2".to_owned(), "thr-3".to_owned()])]);
        let names = ["d", "e"].map(|name| (name.to_owned(), "thr-1".to_owned())).to_vec();
        assert_eq!(changes, ThreadChanges { new: Vec::new(), merged, names });
    }

    #[test]
    fn a_thread_of_the_provider_is_made_once() {
        let of_provider = HashMap::from([("x".to_owned(), "thr-1".to_owned())]);
        let mut threads = Threads { of_provider, ..Threads::default() };
        assert_eq!(threads.provided("x", || new_thread("thr-2")), "thr-1");
        assert_eq!(threads.provided("y", || new_thread("thr-3")), "thr-3");
        assert_eq!(threads.provided("y", || new_thread("thr-4")), "thr-3");
        assert_eq!(threads.take_changes().new, [new_thread("thr-3")]);
    }
}
