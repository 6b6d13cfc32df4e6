//! What a page of mail changes here.

use std::collections::{BTreeSet, HashMap};

use base::error::Result;
use model::email::EmailMessage;
use serde_json::{Map, Value};
use storage::Tx;
use storage::items::{self, Item};
use storage::locked::{ConnectionLock, Locked};

use crate::app::App;
use crate::app::resource_kind::ResourceKind;
use crate::local_copy::change::{
    ChangeKind, CopyLocation, Differences, ItemChange, SupersededRecords, UnloggedChange,
};
use crate::local_copy::diff::row;
use crate::local_copy::mail::draft_state::is_being_sent;
use crate::local_copy::mail::folder_ids::FolderIds;
use crate::local_copy::mail::locations::{is_place, take_parts};
use crate::local_copy::mail::normalize::{MessageSideData, content, hash, with_own};
use crate::local_copy::mail::page::{MailPage, StoredMessages};
use crate::local_copy::mail::source_names::GONE;
use crate::local_copy::mail::superseded::{announced_uid, is_as_stored, without_renamed};
use crate::local_copy::mail::threads::Threads;
use crate::local_copy::record::{NormalizedContent, NormalizedItem, NormalizedRecord};

/// The rows that these sources change, but for what is stored of them since `as_of`. Writes nothing but threads.
pub async fn differences<'l>(
    tx: &mut Tx,
    app: &App,
    (lock, place): (&'l ConnectionLock, &CopyLocation),
    sources: &[NormalizedRecord],
    as_of: i64,
) -> Result<Differences<'l>> {
    let (sources, renamed) = without_renamed(tx, &lock.id, sources, as_of).await?;
    let mut page = MailPage {
        app,
        place,
        lock,
        known: StoredMessages::of(tx, app, lock, &sources).await?,
        names: FolderIds::of(tx, &place.connection_id).await?,
        threads: Threads::default(),
        leaving: HashMap::new(),
        changed: Vec::new(),
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
    // Folders first: messages name them.
    for folders in [true, false] {
        for source in read() {
            for fresh in source.items.iter().filter(|i| is_place(i.kind) == folders) {
                page.told(tx, source, fresh).await?;
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
    page.rethread(tx).await?;
    Ok(page.finish())
}

impl<'l> MailPage<'_, 'l> {
    async fn told(&mut self, tx: &mut Tx, source: &NormalizedRecord, fresh: &NormalizedItem) -> Result<()> {
        if is_place(fresh.kind) {
            return self.told_place(tx, source, fresh).await;
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
                // Whoever asked reads it whole first (`sync::pull`); one that went meanwhile is none of ours.
                None => Ok(()),
            },
            None => self.told_whole(tx, source, fresh, known).await,
        }
    }

    async fn told_place(
        &mut self,
        tx: &mut Tx,
        source: &NormalizedRecord,
        fresh: &NormalizedItem,
    ) -> Result<()> {
        let (lock, kind) = (self.lock, fresh.kind.as_str());
        let known = items::lock_by_external_id(tx, lock, kind, "", &fresh.external_id).await?;
        let known = match (&known, &source.previous_id) {
            (None, Some(before)) => items::lock_by_external_id(tx, lock, kind, "", before).await?,
            _ => known,
        };
        if let Some(known) = known.as_ref().filter(|known| self.is_younger(known)) {
            self.names.add(fresh.kind, &fresh.external_id, &known.id);
            self.superseded_folders = true;
            return Ok(());
        }
        let id = known.as_ref().map_or_else(|| self.app.new_id(fresh.kind.id_kind()), |k| k.id.clone());
        self.names.add(fresh.kind, &fresh.external_id, &id);
        let item = row(self.app, self.place, source, fresh, (id, None), known.as_deref());
        self.push(fresh.kind, item, known, Vec::new());
        Ok(())
    }

    /// Folders name the folder above them; it may have come with this page, before or after.
    fn nest(&mut self, sources: &[&NormalizedRecord]) {
        let told = sources.iter().flat_map(|s| &s.items).filter(|i| i.kind == ResourceKind::EmailFolder);
        for fresh in told {
            let Some(id) = self.names.get(ResourceKind::EmailFolder, &fresh.external_id).cloned() else {
                continue;
            };
            let Some(changed) = self.changed.iter_mut().find(|c| c.item.id == id) else { continue };
            let Ok(mut folder) = serde_json::from_str::<Map<String, Value>>(&changed.item.body) else {
                continue;
            };
            let above = folder.get("parentId").and_then(Value::as_str);
            let above = above.and_then(|e| self.names.get(ResourceKind::EmailFolder, e)).cloned();
            folder.insert("parentId".into(), above.map_or(Value::Null, Value::String));
            changed.item.body = Value::Object(folder).to_string();
            changed.item.hash = hash(&changed.item.body);
        }
    }

    async fn told_whole(
        &mut self,
        tx: &mut Tx,
        source: &NormalizedRecord,
        fresh: &NormalizedItem,
        known: Option<Locked<'l, Item>>,
    ) -> Result<()> {
        let mut message: EmailMessage = serde_json::from_str(&fresh.content.body)?;
        let before = known.as_ref().map(|k| k.body.clone());
        // The thread of what went may be part of another one by now; the Message-ID leads there.
        let live = known.as_ref().filter(|k| k.deleted_at.is_none());
        let thread_before = live.and_then(|k| k.series_id.as_deref());
        let thread = self.threads.of(tx, self.app, self.place, &message, thread_before).await?;
        message.thread_id = Some(thread.clone());
        message.folder_ids = self.names.ours(ResourceKind::EmailFolder, &message.folder_ids);
        message.label_ids = self.names.ours(ResourceKind::EmailLabel, &message.label_ids);
        let kind = kind_of(&message);
        // A draft that became a message is another resource: it was sent, here or by another client. What becomes of one that we are
        // sending is for the outbox to say: its copy may be read before the send has answered.
        let (known, other) = match known {
            Some(item) if item.kind != kind.as_str() => (None, Some(item)),
            known => (known, None),
        };
        let id = known.as_ref().map_or_else(|| self.app.new_id(kind.id_kind()), |k| k.id.clone());
        let announced = known.as_deref().and_then(announced_uid).cloned();
        let mut aside = MessageSideData::of(fresh.aside.as_deref());
        aside.parts = take_parts(&id, &mut message.attachments);
        let places = message.folder_ids.iter().chain(&message.label_ids).cloned().collect();
        let mut fresh = NormalizedItem { kind, aside: aside.text(), ..fresh.clone() };
        if announced.is_some() && known.as_ref().is_some_and(|k| k.source_id == source.source_id) {
            // It is still the version before the one that was announced.
            fresh.uid = announced;
        }
        fresh.content = contents_of(message, kind, before.as_deref())?;
        fresh.hash = hash(&fresh.content.body);
        let mut item = row(self.app, self.place, source, &fresh, (id, Some(thread)), known.as_deref());
        if let Some(known) = &known {
            // Back after it was gone: it was on its way from one name to the next, and keeps what was ours.
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
        known: Locked<'l, Item>,
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
            aside: MessageSideData { told: None, ..MessageSideData::of(known.aside.as_deref()) }.text(),
            content,
            ..fresh.clone()
        };
        let (id, other) = match known.kind == kind.as_str() {
            true => (known.id.clone(), None),
            false => (self.app.new_id(kind.id_kind()), Some(known.clone())),
        };
        let known = Some(known).filter(|_| other.is_none());
        let item = row(self.app, self.place, source, &fresh, (id, thread), known.as_deref());
        self.push(kind, item, known, places);
        if let Some(other) = other.filter(|o| !is_being_sent(o)) {
            self.gone(other);
        }
        Ok(())
    }

    /// A row as it is to be: told later in the page once more, the last counts.
    fn push(&mut self, kind: ResourceKind, item: Item, known: Option<Locked<'l, Item>>, places: Vec<String>) {
        let change = match &known {
            Some(known) if known.deleted_at.is_none() => ChangeKind::Updated,
            _ => ChangeKind::Created,
        };
        let earlier = self.changed.iter().position(|c| c.item.id == item.id);
        let before = match earlier {
            Some(at) => self.changed.remove(at).before,
            None => known,
        };
        let (refs, keys) = (Vec::new(), Vec::new());
        self.changed.push(ItemChange { kind, item, change, before, inserted: None, refs, keys, places });
    }

    pub(crate) fn gone(&mut self, item: Locked<'l, Item>) {
        let now = self.app.now();
        let kind = ResourceKind::parse(&item.kind).unwrap_or(ResourceKind::EmailMessage);
        let tombstone = Item { deleted_at: Some(now), updated_at: now, ..Item::clone(&item) };
        self.changed.push(ItemChange {
            kind,
            item: tombstone,
            change: ChangeKind::Deleted,
            before: Some(item),
            inserted: None,
            refs: Vec::new(),
            keys: Vec::new(),
            places: Vec::new(),
        });
    }

    /// Messages of threads that were taken in by others.
    async fn rethread(&mut self, tx: &mut Tx) -> Result<()> {
        let merged: Vec<String> = self.threads.merged().cloned().collect();
        for from in merged {
            for item in items::lock_of_thread(tx, self.lock, &from).await? {
                if self.changed.iter().any(|c| c.item.id == item.id) {
                    continue;
                }
                let message: EmailMessage = serde_json::from_str(&item.body)?;
                let places = message.folder_ids.into_iter().chain(message.label_ids).collect();
                let kind = ResourceKind::of(&item)?;
                let updated = Item { updated_at: self.app.now(), ..Item::clone(&item) };
                self.push(kind, updated, Some(item), places);
            }
        }
        for changed in &mut self.changed {
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

    /// What differs from what is stored. What the provider alone changed is told to nobody.
    fn finish(mut self) -> Differences<'l> {
        let mut out = Differences::default();
        // Then all of it is written in its order, as names are taken once.
        let names_change_hands = self.changed.iter().any(|c| c.item.source_id.starts_with(GONE));
        for changed in std::mem::take(&mut self.changed) {
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
            }
        }
        let (sources, folders) = (self.superseded.into_iter().collect(), self.superseded_folders);
        out.superseded = SupersededRecords { sources, folders };
        out
    }
}

fn kind_of(message: &EmailMessage) -> ResourceKind {
    if message.draft { ResourceKind::EmailDraft } else { ResourceKind::EmailMessage }
}

/// The columns of a message, with what only the host knows of it.
fn contents_of(
    message: EmailMessage,
    kind: ResourceKind,
    before: Option<&str>,
) -> serde_json::Result<NormalizedContent> {
    let mut content = content(message)?;
    content.body = with_own(content.body, kind, before)?;
    Ok(content)
}
