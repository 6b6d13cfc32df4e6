//! Atomic writes of files, and bounded reads.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::Context;
use rustix::fs::OFlags;

/// Most bytes that are allocated before the read: a size may be that of a sparse file.
const MAX_RESERVED: u64 = 64 << 20;

/// Opens a regular file of at most `max` bytes. Returns the file and its size. Never blocks on a FIFO, and reads no device: the
/// checks are on the opened file, whatever takes its name later.
pub(crate) fn open_regular(path: &Path, max: u64) -> io::Result<(File, u64)> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let size = metadata.len();
    if size > max {
        return Err(io::Error::other(format!("it is too large: {size} bytes, the limit is {max}")));
    }
    Ok((file, size))
}

/// The content of a regular file of at most `max` bytes, even if the file grows while it is read.
pub fn read_regular(path: &Path, max: u64) -> io::Result<Vec<u8>> {
    let (file, size) = open_regular(path, max)?;
    let mut content = Vec::with_capacity(usize::try_from(size.min(MAX_RESERVED)).unwrap_or_default());
    let read = file.take(max.saturating_add(1)).read_to_end(&mut content)?;
    if read as u64 > max {
        return Err(io::Error::other(format!("it is too large: the limit is {max} bytes")));
    }
    Ok(content)
}

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

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn only_regular_files_are_read_and_no_more_than_the_limit() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        std::fs::write(path("file"), [7_u8; 10]).unwrap();
        assert_eq!(read_regular(&path("file"), 10).unwrap(), [7_u8; 10]);
        assert_eq!(read_regular(&path("file"), u64::MAX).unwrap().len(), 10);
        let large = read_regular(&path("file"), 9).unwrap_err().to_string();
        assert_eq!(large, "it is too large: 10 bytes, the limit is 9");
        assert_eq!(read_regular(&path("none"), 9).unwrap_err().kind(), io::ErrorKind::NotFound);
        // It has no writer: an ordinary open would block for ever.
        assert!(Command::new("mkfifo").arg(path("fifo")).status().unwrap().success());
        std::os::unix::fs::symlink("/dev/zero", path("zero")).unwrap();
        for name in ["fifo", "zero", "."] {
            let error = read_regular(&path(name), 9).unwrap_err().to_string();
            assert_eq!(error, "it is not a regular file", "{name}");
        }
    }
}
