//! The folders and labels of a connection: what the provider calls them, and what we do.

use std::collections::HashMap;

use base::error::Result;
use model::email::folders::{Folder, FolderRole};
use storage::Tx;
use storage::items::{self, Item};

use crate::app::resource_kind::Kind;

/// Our ids by the provider's.
#[derive(Default)]
pub struct Names {
    by_external: HashMap<(Kind, String), String>,
}

impl Names {
    /// Those that are stored.
    pub async fn of(tx: &mut Tx, connection_id: &str) -> Result<Self> {
        let kinds = (Kind::EmailFolder.as_str(), Kind::EmailLabel.as_str());
        let mut names = Names::default();
        for item in items::live_of_kinds(tx, connection_id, kinds).await? {
            if let Some(kind) = Kind::parse(&item.kind) {
                names.add(kind, &item.external_id, &item.id);
            }
        }
        Ok(names)
    }

    pub fn add(&mut self, kind: Kind, external_id: &str, id: &str) {
        self.by_external.insert((kind, external_id.to_owned()), id.to_owned());
    }

    pub fn get(&self, kind: Kind, external_id: &str) -> Option<&String> {
        self.by_external.get(&(kind, external_id.to_owned()))
    }

    /// Our ids of these; one that is not known is left out: the connector tells of a folder before it tells of what is in it.
    pub fn ours(&self, kind: Kind, external_ids: &[String]) -> Vec<String> {
        let mut ids: Vec<String> = external_ids.iter().filter_map(|e| self.get(kind, e)).cloned().collect();
        ids.sort();
        ids.dedup();
        ids
    }
}

/// The folder of a mailbox that has this role.
pub fn with_role(folders: &[Item], role: FolderRole) -> Option<&Item> {
    folders
        .iter()
        .find(|item| serde_json::from_str::<Folder>(&item.body).is_ok_and(|folder| folder.role == Some(role)))
}
