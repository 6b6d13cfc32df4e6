//! Computes the changes that a page of mail makes to the local copy.

use std::collections::{BTreeSet, HashMap};

use base::error::Result;
use model::email::EmailMessage;
use serde_json::{Map, Value};
use storage::Tx;
use storage::items::{self, Item};
use storage::locked::LockedRow;

use crate::app::resource_kind::ResourceKind;
use crate::local_copy::change::{ChangeKind, Differences, ItemChange, SupersededRecords, UnloggedChange};
use crate::local_copy::diff::row;
use crate::local_copy::mail::diff_folders::stored_folders;
use crate::local_copy::mail::draft_state::is_being_sent;
use crate::local_copy::mail::folder_ids::FolderIds;
use crate::local_copy::mail::locations::{is_place, take_parts};
use crate::local_copy::mail::normalize::{MessageSideData, content, hash, with_own};
use crate::local_copy::mail::page::{MailPage, PageChanges, StoredMessages};
use crate::local_copy::mail::source_names::GONE;
use crate::local_copy::mail::superseded::{announced_uid, is_as_stored, without_renamed};
use crate::local_copy::mail::threads::Threads;
use crate::local_copy::record::{NormalizedContent, NormalizedItem, NormalizedRecord};
use crate::local_copy::transaction::CopyTransaction;

/// Returns the rows that these records change, without rows that were written since `as_of`. Writes only threads.
pub async fn differences<'l>(
    copy: &mut CopyTransaction<'_, 'l>,
    sources: &[NormalizedRecord],
    as_of: i64,
) -> Result<Differences<'l>> {
    let (app, lock, place) = (copy.app, copy.lock, copy.location);
    let (sources, renamed) = without_renamed(copy.tx, &lock.id, sources, as_of).await?;
    let mut page = MailPage {
        app,
        place,
        lock,
        known: StoredMessages::load(copy.tx, app, lock, &sources).await?,
        folders: stored_folders(copy.tx, lock, &sources).await?,
        names: FolderIds::load(copy.tx, &place.connection_id).await?,
        threads: Threads::load(copy.tx, &place.connection_id, &sources).await?,
        leaving: HashMap::new(),
        changed: PageChanges::default(),
        as_of,
        superseded: BTreeSet::new(),
        superseded_folders: false,
    };
    renamed.into_iter().for_each(|source| page.supersede(source));
    let read = || sources.iter().copied();
    let mut gone = Vec::new();
    for source in read().filter(|s| s.items.is_empty()) {
        let live = page.known.of_source(&source.source_id).iter().filter(|i| i.deleted_at.is_none());
        for item in live.filter(|i| !is_being_sent(i)) {
            match &item.fingerprint {
                Some(print) => page.leaving.entry(print.clone()).or_default().push(item.clone()),
                None => gone.push(item.clone()),
            }
        }
    }
    // Folders first: messages refer to them.
    for folders in [true, false] {
        for source in read() {
            for fresh in source.items.iter().filter(|i| is_place(i.kind) == folders) {
                page.record_change(source, fresh)?;
            }
        }
        if folders {
            page.nest(&sources);
        }
    }
    gone.extend(std::mem::take(&mut page.leaving).into_values().flatten());
    gone.sort_by(|a, b| a.id.cmp(&b.id));
    for item in gone {
        match page.is_younger(&item) {
            true => page.supersede_item(&item),
            false => page.gone(item),
        }
    }
    page.rethread(copy.tx).await?;
    page.threads.write(copy).await?;
    Ok(page.finish())
}

impl<'l> MailPage<'_, 'l> {
    fn record_change(&mut self, source: &NormalizedRecord, fresh: &NormalizedItem) -> Result<()> {
        if is_place(fresh.kind) {
            self.told_place(source, fresh);
            return Ok(());
        }
        let known = self.known(source, fresh);
        if let Some(known) = known.as_ref().filter(|known| self.is_younger(known)) {
            if !is_as_stored(known, source, fresh) {
                self.supersede(source);
                self.supersede_item(known);
            }
            return Ok(());
        }
        if source.previous_id.is_some() {
            let others = self.namesakes(source, known.as_deref());
            if others.iter().any(|other| self.is_younger(other)) {
                self.supersede(source);
                return Ok(());
            }
            others.into_iter().for_each(|other| self.nameless(other));
        }
        match &fresh.partial {
            Some(fields) => match known.filter(|k| k.deleted_at.is_none()) {
                Some(known) => self.told_fields(source, fresh, known, fields),
                // The caller reads it completely first (`sync::pull`); one that was deleted in between is not ours.
                None => Ok(()),
            },
            None => self.told_whole(source, fresh, known),
        }
    }

    fn told_whole(
        &mut self,
        source: &NormalizedRecord,
        fresh: &NormalizedItem,
        known: Option<LockedRow<'l, Item>>,
    ) -> Result<()> {
        let mut message: EmailMessage = serde_json::from_str(&fresh.content.body)?;
        let before = known.as_ref().map(|k| k.body.clone());
        // The thread of a deleted message may have been merged; the Message-ID leads to it.
        let live = known.as_ref().filter(|k| k.deleted_at.is_none());
        let thread_before = live.and_then(|k| k.series_id.as_deref());
        let thread = self.threads.thread_id(self.app, &message, thread_before);
        message.thread_id = Some(thread.clone());
        message.folder_ids = self.names.ours(ResourceKind::EmailFolder, &message.folder_ids);
        message.label_ids = self.names.ours(ResourceKind::EmailLabel, &message.label_ids);
        let kind = kind_of(&message);
        // A draft that became a message is another resource: it was sent, here or by another client. The outbox decides about one that this
        // host is sending: its copy may be read before the send has returned.
        let (known, other) = match known {
            Some(item) if item.kind != kind.as_str() => (None, Some(item)),
            known => (known, None),
        };
        let id = known.as_ref().map_or_else(|| self.app.new_id(kind.id_kind()), |k| k.id.clone());
        let announced = known.as_deref().and_then(announced_uid).cloned();
        let mut aside = MessageSideData::from_text(fresh.aside.as_deref());
        aside.parts = take_parts(&id, &mut message.attachments);
        let places = message.folder_ids.iter().chain(&message.label_ids).cloned().collect();
        let mut fresh = NormalizedItem { kind, aside: aside.text(), ..fresh.clone() };
        if announced.is_some() && known.as_ref().is_some_and(|k| k.source_id == source.source_id) {
            // It is still the version before the announced one.
            fresh.uid = announced;
        }
        fresh.content = contents_of(message, kind, before.as_deref())?;
        fresh.hash = hash(&fresh.content.body);
        let row = row(self.app, self.place, source, &fresh, id, known.as_deref());
        let mut item = Item { series_id: Some(thread), ..row };
        if let Some(known) = &known {
            // It reappeared after a deletion: it was being renamed, and keeps the host's fields.
            (item.metadata, item.created_at) = (known.metadata.clone(), known.created_at);
        }
        self.push(kind, item, known, places);
        if let Some(other) = other.filter(|o| o.deleted_at.is_none() && !is_being_sent(o)) {
            self.gone(other);
        }
        Ok(())
    }

    fn told_fields(
        &mut self,
        source: &NormalizedRecord,
        fresh: &NormalizedItem,
        known: LockedRow<'l, Item>,
        fields: &Map<String, Value>,
    ) -> Result<()> {
        let mut body: Map<String, Value> = serde_json::from_str(&known.body)?;
        for (name, value) in fields {
            let ours = match name.as_str() {
                "folderIds" => Some(ResourceKind::EmailFolder),
                "labelIds" => Some(ResourceKind::EmailLabel),
                _ => None,
            };
            let value = match ours {
                None => value.clone(),
                Some(kind) => {
                    let named: Vec<String> = serde_json::from_value(value.clone())?;
                    self.names.ours(kind, &named).into()
                }
            };
            body.insert(name.clone(), value);
        }
        let message: EmailMessage = serde_json::from_value(Value::Object(body))?;
        let kind = kind_of(&message);
        let places = message.folder_ids.iter().chain(&message.label_ids).cloned().collect();
        let thread = known.series_id.clone();
        let content = contents_of(message, kind, Some(&known.body))?;
        let fresh = NormalizedItem {
            kind,
            uid: known.uid.clone(),
            hash: hash(&content.body),
            provider_data: known.provider_data.clone(),
            fingerprint: known.fingerprint.clone(),
            aside: MessageSideData { told: None, ..MessageSideData::from_text(known.aside.as_deref()) }
                .text(),
            content,
            ..fresh.clone()
        };
        let (id, other) = match known.kind == kind.as_str() {
            true => (known.id.clone(), None),
            false => (self.app.new_id(kind.id_kind()), Some(known.clone())),
        };
        let known = Some(known).filter(|_| other.is_none());
        let row = row(self.app, self.place, source, &fresh, id, known.as_deref());
        let item = Item { series_id: thread, ..row };
        self.push(kind, item, known, places);
        if let Some(other) = other.filter(|o| !is_being_sent(o)) {
            self.gone(other);
        }
        Ok(())
    }

    /// Adds a row; if the page contains the item once more, the last one counts.
    pub(crate) fn push(
        &mut self,
        kind: ResourceKind,
        item: Item,
        known: Option<LockedRow<'l, Item>>,
        places: Vec<String>,
    ) {
        let change = match &known {
            Some(known) if known.deleted_at.is_none() => ChangeKind::Updated,
            _ => ChangeKind::Created,
        };
        let before = match self.changed.take(&item.id) {
            Some(earlier) => earlier.before,
            None => known,
        };
        self.changed.add(item_change(kind, item, change, before, places));
    }

    pub(crate) fn gone(&mut self, item: LockedRow<'l, Item>) {
        let tombstone = self.tombstone(item);
        self.changed.add(tombstone);
    }

    /// Returns the deletion of an item.
    pub(crate) fn tombstone(&self, item: LockedRow<'l, Item>) -> ItemChange<'l> {
        let now = self.app.now();
        let kind = ResourceKind::parse(&item.kind).unwrap_or(ResourceKind::EmailMessage);
        let tombstone = Item { deleted_at: Some(now), updated_at: now, ..Item::clone(&item) };
        item_change(kind, tombstone, ChangeKind::Deleted, Some(item), Vec::new())
    }

    /// Updates the messages of merged threads.
    async fn rethread(&mut self, tx: &mut Tx) -> Result<()> {
        let merged: Vec<String> = self.threads.merged().cloned().collect();
        let merged: Vec<&str> = merged.iter().map(String::as_str).collect();
        for item in items::lock_of_threads(tx, self.lock, &merged).await? {
            if self.changed.contains(&item.id) {
                continue;
            }
            let message: EmailMessage = serde_json::from_str(&item.body)?;
            let places = message.folder_ids.into_iter().chain(message.label_ids).collect();
            let kind = ResourceKind::from_item(&item)?;
            let updated = Item { updated_at: self.app.now(), ..Item::clone(&item) };
            self.push(kind, updated, Some(item), places);
        }
        for changed in self.changed.iter_mut() {
            let Some(thread) = changed.item.series_id.clone() else { continue };
            let now = self.threads.now(&thread);
            if now != thread && changed.change != ChangeKind::Deleted {
                changed.item.body = changed.item.body.replacen(&thread, &now, 1);
                changed.item.hash = hash(&changed.item.body);
                changed.item.series_id = Some(now);
            }
        }
        Ok(())
    }

    /// Returns the differences from the stored rows. Changes that only the provider sees are not logged.
    fn finish(self) -> Differences<'l> {
        let mut out = Differences::default();
        // If a name passes from one item to another, all rows are written in their order, as names are unique.
        let names_change_hands = self.changed.iter().any(|c| c.item.source_id.starts_with(GONE));
        for changed in self.changed.into_changes() {
            let same = changed.change == ChangeKind::Updated
                && changed.before.as_ref().is_some_and(|before| before.hash == changed.item.hash)
                && !names_change_hands;
            if !same {
                out.changed.push(changed);
                continue;
            }
            let ItemChange { before: Some(before), item, .. } = changed else { continue };
            let is_quiet = before.source_id != item.source_id
                || before.external_id != item.external_id
                || before.provider_etag != item.provider_etag
                || before.provider_data != item.provider_data
                || before.aside != item.aside;
            if is_quiet {
                let item = Item { updated_at: before.updated_at, etag: before.etag.clone(), ..item };
                out.quiet.push(UnloggedChange { before, item });
            } else {
                out.unchanged.push(before.into_row());
            }
        }
        let (sources, folders) = (self.superseded.into_iter().collect(), self.superseded_folders);
        out.superseded = SupersededRecords { sources, folders };
        out
    }
}

/// Returns a change of mail, whose items have no references.
fn item_change<'l>(
    kind: ResourceKind,
    item: Item,
    change: ChangeKind,
    before: Option<LockedRow<'l, Item>>,
    places: Vec<String>,
) -> ItemChange<'l> {
    ItemChange { kind, item, change, before, stored: None, refs: Vec::new(), keys: Vec::new(), places }
}

fn kind_of(message: &EmailMessage) -> ResourceKind {
    if message.draft { ResourceKind::EmailDraft } else { ResourceKind::EmailMessage }
}

/// Returns the columns of a message, with the host's fields.
fn contents_of(
    message: EmailMessage,
    kind: ResourceKind,
    before: Option<&str>,
) -> serde_json::Result<NormalizedContent> {
    let mut content = content(message)?;
    content.body = with_own(content.body, kind, before)?;
    Ok(content)
}
