//! Identifies the stored message that a provider's record stands for. A message keeps its id when it is moved or renamed: it is found by
//! its previous name, by its own name, or by its fingerprint while another one with the same fingerprint disappears.

use std::collections::HashMap;

use base::error::Result;
use model::email::EmailMessage;
use storage::items::{self, Item};
use storage::locked::{ConnectionLock, LockedRow};
use storage::{Tx, mail as table};

use crate::app::App;
use crate::app::resource_kind::ResourceKind;
use crate::local_copy::mail::locations::is_place;
use crate::local_copy::mail::page::{MailPage, StoredMessages};
use crate::local_copy::mail::source_names::{GONE, OUTGOING, is_outgoing};
use crate::local_copy::record::{NormalizedItem, NormalizedRecord};

/// Time after a deletion in which a new message can be the moved one, ms.
const MOVED_WITHIN_MS: i64 = 3_600_000;

/// Most recently deleted messages that are compared with new ones.
const MOST_GONE: i64 = 1_000;

impl<'l> StoredMessages<'l> {
    pub async fn load(
        tx: &mut Tx,
        app: &App,
        lock: &'l ConnectionLock,
        sources: &[&NormalizedRecord],
    ) -> Result<StoredMessages<'l>> {
        let lately = app.now() - MOVED_WITHIN_MS;
        let names: Vec<&str> = sources
            .iter()
            .flat_map(|s| [Some(s.source_id.as_str()), s.previous_id.as_deref()])
            .flatten()
            .collect();
        let family = ResourceKind::EmailMessage.family();
        let told_before = items::lock_ever_of_sources(tx, lock, family, &names).await?;
        let mut stored = StoredMessages {
            by_source: group_by_name(told_before, |item| Some(&item.source_id)),
            by_fingerprint: HashMap::new(),
            by_uid: HashMap::new(),
        };
        let new: Vec<&NormalizedRecord> =
            sources.iter().copied().filter(|source| !stored.is_named(source)).collect();
        let told = || new.iter().flat_map(|s| &s.items);
        let prints: Vec<&str> = told().filter_map(|i| i.fingerprint.as_deref()).collect();
        let uids: Vec<&str> = told().filter_map(|i| i.uid.as_deref()).collect();
        let gone = items::lock_gone_by_fingerprint(tx, lock, &prints, lately, MOST_GONE).await?;
        let ours = items::lock_ours_by_uid(tx, lock, &uids, OUTGOING, lately).await?;
        stored.by_fingerprint = group_by_name(gone, |item| item.fingerprint.as_ref());
        stored.by_uid = group_by_name(ours, |item| item.uid.as_ref());
        Ok(stored)
    }

    /// Whether the message of a record is found by one of the record's names, so that no other row has to be compared.
    fn is_named(&self, source: &NormalizedRecord) -> bool {
        match self.message_of(&source.source_id) {
            Some(item) => item.deleted_at.is_none(),
            None => source.previous_id.as_ref().is_some_and(|before| self.message_of(before).is_some()),
        }
    }

    /// Returns all rows that were ever read from a record of the page, tombstones included.
    pub fn of_source(&self, source_id: &str) -> &[LockedRow<'l, Item>] {
        self.by_source.get(source_id).map_or(&[], Vec::as_slice)
    }

    /// Returns the message of a record; after a deletion its tombstone.
    fn message_of(&self, source_id: &str) -> Option<&LockedRow<'l, Item>> {
        let mut messages = self.of_source(source_id).iter().filter(|item| is_message(item));
        let first = messages.clone().next();
        messages.find(|item| item.deleted_at.is_none()).or(first)
    }
}

fn group_by_name<'l>(
    items: Vec<LockedRow<'l, Item>>,
    name: impl Fn(&Item) -> Option<&String>,
) -> HashMap<String, Vec<LockedRow<'l, Item>>> {
    let mut groups: HashMap<String, Vec<LockedRow<'l, Item>>> = HashMap::new();
    for item in items {
        if let Some(name) = name(&item).cloned() {
            groups.entry(name).or_default().push(item);
        }
    }
    groups
}

fn is_draft(fresh: &NormalizedItem) -> bool {
    fresh.content.flags & table::flag::DRAFT != 0
}

fn is_message(item: &Item) -> bool {
    ResourceKind::from_item(item).is_ok_and(|kind| !is_place(kind))
}

impl<'l> MailPage<'_, 'l> {
    /// Returns other messages with the name that a message gets: it may have been read as a separate message between two steps of the
    /// provider.
    pub(crate) fn namesakes(
        &self,
        source: &NormalizedRecord,
        known: Option<&Item>,
    ) -> Vec<LockedRow<'l, Item>> {
        let Some(known) = known else { return Vec::new() };
        let of_source = self.known.of_source(&source.source_id).iter();
        let is_other = |item: &&LockedRow<'l, Item>| {
            item.id != known.id && item.deleted_at.is_none() && is_message(item)
        };
        of_source.filter(is_other).cloned().collect()
    }

    /// Deletes an item whose name another one takes: this is written before the other one is.
    pub(crate) fn nameless(&mut self, item: LockedRow<'l, Item>) {
        let name = format!("{GONE}{}", item.id);
        let mut gone = self.tombstone(item);
        (gone.item.source_id, gone.item.external_id) = (name.clone(), name);
        self.changed.add(gone);
    }

    /// Returns the row that this item belongs to.
    pub(crate) fn known(
        &mut self,
        source: &NormalizedRecord,
        fresh: &NormalizedItem,
    ) -> Option<LockedRow<'l, Item>> {
        let before = source.previous_id.as_ref().and_then(|before| self.known.message_of(before));
        let tombstone = match (before, self.known.message_of(&source.source_id)) {
            (Some(item), None) => return Some(item.clone()),
            (before, Some(item)) if item.deleted_at.is_none() => return before.or(Some(item)).cloned(),
            (_, tombstone) => tombstone.cloned(),
        };
        if let Some(saved) = self.saved_here(fresh) {
            return Some(saved);
        }
        if let Some(sent) = self.sent_here(fresh) {
            return Some(sent);
        }
        let Some(print) = &fresh.fingerprint else { return tombstone };
        if let Some(item) = self.leaving.get_mut(print).and_then(Vec::pop) {
            return Some(item);
        }
        let mut moved = self.known.by_fingerprint.get(print).into_iter().flatten();
        moved.find(|item| !self.changed.contains(&item.id)).cloned().or(tombstone)
    }

    /// Returns the draft that this is the next version of: the write that changes it here has announced this version, and the page deletes
    /// the old one, or an earlier page did.
    fn saved_here(&mut self, fresh: &NormalizedItem) -> Option<LockedRow<'l, Item>> {
        let message_id = fresh.uid.as_ref().filter(|_| is_draft(fresh))?;
        let leaving = |item: &Item| self.leaving.get(item.fingerprint.as_ref()?);
        let is_leaving =
            |item: &Item| leaving(item).is_some_and(|same| same.iter().any(|leaving| leaving.id == item.id));
        let is_announced = |item: &Item| {
            serde_json::from_str::<EmailMessage>(&item.body)
                .is_ok_and(|shown| shown.internet_message_id.as_ref() != Some(message_id))
        };
        let saved = self.known.by_uid.get(message_id)?.iter().find(|item| {
            item.kind == ResourceKind::EmailDraft.as_str()
                && (item.deleted_at.is_some() || is_leaving(item))
                && is_announced(item)
        });
        let saved = saved?.clone();
        if let Some(leaving) = saved.fingerprint.as_ref().and_then(|print| self.leaving.get_mut(print)) {
            leaving.retain(|leaving| leaving.id != saved.id);
        }
        Some(saved)
    }

    /// Returns the message of ours that this is a copy of.
    fn sent_here(&self, fresh: &NormalizedItem) -> Option<LockedRow<'l, Item>> {
        let message_id = fresh.uid.as_ref().filter(|_| fresh.partial.is_none())?;
        if is_draft(fresh) || is_outgoing(&fresh.external_id) {
            return None;
        }
        let same = self.known.by_uid.get(message_id)?;
        same.iter().find(|item| is_outgoing(&item.source_id)).cloned()
    }
}
