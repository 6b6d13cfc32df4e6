//! Changes of folders and labels that a page of mail makes.

use base::error::Result;
use serde_json::{Map, Value};
use storage::Tx;
use storage::items::{self, RecordNames};
use storage::locked::ConnectionLock;

use crate::app::resource_kind::ResourceKind;
use crate::local_copy::diff::row;
use crate::local_copy::mail::locations::is_place;
use crate::local_copy::mail::normalize::hash;
use crate::local_copy::mail::page::{MailPage, StoredFolders};
use crate::local_copy::record::{NormalizedItem, NormalizedRecord};

/// Returns the rows of the folders and labels on a page, under their present and their previous names.
pub(crate) async fn stored_folders<'l>(
    tx: &mut Tx,
    lock: &'l ConnectionLock,
    sources: &[&NormalizedRecord],
) -> Result<StoredFolders<'l>> {
    let mut names = Vec::new();
    for source in sources {
        for fresh in source.items.iter().filter(|item| is_place(item.kind)) {
            names.push(fresh.external_id.as_str());
            names.extend(source.previous_id.as_deref());
        }
    }
    let (folder, label) = (ResourceKind::EmailFolder.as_str(), ResourceKind::EmailLabel.as_str());
    let names = RecordNames { source_ids: &[], external_ids: &names };
    let stored = items::lock_records(tx, lock, [folder, label, folder, label], "", names).await?;
    let mut folders = StoredFolders::with_capacity(stored.len());
    for item in stored {
        folders.insert((ResourceKind::from_item(&item)?, item.external_id.clone()), item);
    }
    Ok(folders)
}

impl MailPage<'_, '_> {
    pub(crate) fn told_place(&mut self, source: &NormalizedRecord, fresh: &NormalizedItem) {
        let stored = |name: &str| self.folders.get(&(fresh.kind, name.to_owned())).cloned();
        let known = stored(&fresh.external_id).or_else(|| stored(source.previous_id.as_deref()?));
        if let Some(known) = known.as_ref().filter(|known| self.is_younger(known)) {
            self.names.add(fresh.kind, &fresh.external_id, &known.id);
            self.superseded_folders = true;
            return;
        }
        let id = known.as_ref().map_or_else(|| self.app.new_id(fresh.kind.id_kind()), |k| k.id.clone());
        self.names.add(fresh.kind, &fresh.external_id, &id);
        let item = row(self.app, self.place, source, fresh, id, known.as_deref());
        self.push(fresh.kind, item, known, Vec::new());
    }

    /// Sets the parents of folders; a parent may be on this page, before or after.
    pub(crate) fn nest(&mut self, sources: &[&NormalizedRecord]) {
        let told = sources.iter().flat_map(|s| &s.items).filter(|i| i.kind == ResourceKind::EmailFolder);
        for fresh in told {
            let Some(id) = self.names.get(ResourceKind::EmailFolder, &fresh.external_id).cloned() else {
                continue;
            };
            let Some(changed) = self.changed.find_mut(&id) else { continue };
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
}
