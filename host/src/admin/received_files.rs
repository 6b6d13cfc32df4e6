//! The files of a form that has some, as they arrived.

use std::path::Path;

use tempfile::TempDir;
use tokio::sync::OwnedSemaphorePermit;

/// Files that arrived. They are removed with this, unless they were kept elsewhere.
pub struct ReceivedFiles {
    folder: TempDir,
    pub parts: FilesOfForm,
    _room: OwnedSemaphorePermit,
}

/// The files that a form had in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FilesOfForm {
    pub has_manifest: bool,
    pub has_component: bool,
}

impl ReceivedFiles {
    /// Files in a folder, with the room that they take until they are dropped.
    pub fn new(folder: TempDir, parts: FilesOfForm, room: OwnedSemaphorePermit) -> ReceivedFiles {
        ReceivedFiles { folder, parts, _room: room }
    }

    /// The folder with the files.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}
