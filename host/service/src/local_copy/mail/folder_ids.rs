//! Ids of a connection's folders and labels: the provider's and ours.

use std::collections::HashMap;

use base::error::Result;
use model::email::folders::{Folder, FolderRole};
use storage::Tx;
use storage::items::{self, Item};

use crate::app::resource_kind::ResourceKind;

/// Our ids by the provider's ids.
#[derive(Default)]
pub struct FolderIds {
    by_external: HashMap<(ResourceKind, String), String>,
}

impl FolderIds {
    /// Loads the stored folders and labels.
    pub async fn load(tx: &mut Tx, connection_id: &str) -> Result<Self> {
        let kinds = (ResourceKind::EmailFolder.as_str(), ResourceKind::EmailLabel.as_str());
        let mut names = FolderIds::default();
        for item in items::live_of_kinds(tx, connection_id, kinds).await? {
            if let Some(kind) = ResourceKind::parse(&item.kind) {
                names.add(kind, &item.external_id, &item.id);
            }
        }
        Ok(names)
    }

    pub fn add(&mut self, kind: ResourceKind, external_id: &str, id: &str) {
        self.by_external.insert((kind, external_id.to_owned()), id.to_owned());
    }

    pub fn get(&self, kind: ResourceKind, external_id: &str) -> Option<&String> {
        self.by_external.get(&(kind, external_id.to_owned()))
    }

    /// Returns our ids of these; unknown ones are left out: the connector reports a folder before its contents.
    pub fn ours(&self, kind: ResourceKind, external_ids: &[String]) -> Vec<String> {
        let mut ids: Vec<String> = external_ids.iter().filter_map(|e| self.get(kind, e)).cloned().collect();
        ids.sort();
        ids.dedup();
        ids
    }
}

/// Returns the folder of a mailbox that has this role.
pub fn with_role(folders: &[Item], role: FolderRole) -> Option<&Item> {
    folders
        .iter()
        .find(|item| serde_json::from_str::<Folder>(&item.body).is_ok_and(|folder| folder.role == Some(role)))
}
