//! A backup as one file: a tar of plain files, the manifest first. It is written in a folder beside its target, and moved there when it is
//! complete and on disk.

use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use sha2::{Digest, Sha256};
use tar::{Builder, EntryType, Header};

use crate::cli::backup::manifest::{BackupFile, BackupManifest, MANIFEST};

/// Bytes that are read at a time.
const CHUNK_BYTES: usize = 256 << 10;

/// The content of a file of a backup.
pub enum BackupContent {
    File(PathBuf),
    Bytes(Vec<u8>),
}

/// A file to be put into a backup.
pub struct BackupSource {
    /// Its name in the backup.
    pub name: String,
    pub content: BackupContent,
}

impl BackupSource {
    fn open(&self) -> Result<Box<dyn Read + '_>> {
        Ok(match &self.content {
            BackupContent::File(path) => {
                Box::new(File::open(path).with_context(|| format!("cannot read {}", path.display()))?)
            }
            BackupContent::Bytes(bytes) => Box::new(bytes.as_slice()),
        })
    }

    /// Its size and digest. The content is read piece by piece.
    pub fn measure(&self) -> Result<BackupFile> {
        let (mut content, mut hash, mut size) = (self.open()?, Sha256::new(), 0_u64);
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            let length = content.read(&mut chunk).with_context(|| format!("cannot read {}", self.name))?;
            let Some(read) = chunk.get(..length).filter(|read| !read.is_empty()) else { break };
            hash.update(read);
            size += read.len() as u64;
        }
        Ok(BackupFile { name: self.name.clone(), size, sha256: hex::encode(hash.finalize()) })
    }
}

/// Writes a backup in `staging`, a folder on the same disk, and then moves it to `target`, which is not overwritten. `manifest` lists the
/// sources in their order. Returns the size in bytes.
pub fn write(
    target: &Path,
    staging: &Path,
    manifest: &BackupManifest,
    sources: &[BackupSource],
) -> Result<u64> {
    let context = || format!("cannot write {}", target.display());
    let folder = target.parent().context("a backup needs a directory")?;
    // For this user alone.
    let mut file = tempfile::NamedTempFile::new_in(staging).with_context(context)?;
    let size = fill(file.as_file_mut(), manifest, sources).with_context(context)?;
    file.persist_noclobber(target).map_err(|e| e.error).with_context(context)?;
    File::open(folder).and_then(|folder| folder.sync_all()).with_context(context)?;
    Ok(size)
}

/// Writes the archive to disk. Returns its size in bytes.
fn fill(out: &mut File, manifest: &BackupManifest, sources: &[BackupSource]) -> Result<u64> {
    let mut archive = Builder::new(BufWriter::with_capacity(CHUNK_BYTES, &mut *out));
    let text = serde_json::to_vec_pretty(manifest)?;
    append(&mut archive, MANIFEST, text.len() as u64, &mut text.as_slice())?;
    for (source, listed) in sources.iter().zip(&manifest.files) {
        let mut content = source.open()?.take(listed.size);
        append(&mut archive, &listed.name, listed.size, &mut content)?;
        ensure!(content.limit() == 0, "{} became shorter while it was read", source.name);
    }
    let mut buffered = archive.into_inner()?;
    buffered.flush()?;
    drop(buffered);
    out.sync_all()?;
    Ok(out.metadata()?.len())
}

fn append(archive: &mut Builder<impl Write>, name: &str, size: u64, content: &mut impl Read) -> Result<()> {
    let mut header = Header::new_ustar();
    header.set_path(name)?;
    header.set_entry_type(EntryType::Regular);
    header.set_size(size);
    header.set_mode(0o600);
    header.set_cksum();
    archive.append(&header, content)?;
    Ok(())
}
