//! Files that are there whole or not at all.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use anyhow::Context;

/// Writes `content` to `path` so that a reader, or a crash, sees the old file or the new one: temporary file beside it, sync,
/// rename, sync of the folder.
pub(crate) fn write_atomically(path: &Path, content: &[u8]) -> anyhow::Result<()> {
    let dir = path.parent().context("a file has a folder")?;
    let mut file =
        tempfile::NamedTempFile::new_in(dir).with_context(|| format!("writing into {}", dir.display()))?;
    file.write_all(content)?;
    file.as_file().sync_all()?;
    file.persist(path).with_context(|| format!("writing {}", path.display()))?;
    sync_dir(dir)
}

/// Makes renames inside `dir` durable.
pub(crate) fn sync_dir(dir: &Path) -> anyhow::Result<()> {
    File::open(dir).and_then(|d| d.sync_all()).with_context(|| format!("syncing {}", dir.display()))
}
