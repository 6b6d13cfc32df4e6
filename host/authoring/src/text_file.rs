//! Files of a project that are read as text.

use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

/// Most bytes of such a file.
const MAX_BYTES: u64 = 1 << 20;

/// The text of a regular file of at most 1 MiB. A FIFO is not waited for, and no device is read.
pub fn read(path: &Path) -> io::Result<String> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut text = String::new();
    if file.take(MAX_BYTES + 1).read_to_string(&mut text)? as u64 > MAX_BYTES {
        return Err(io::Error::other(format!("it is too large: the limit is {MAX_BYTES} bytes")));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_are_read_and_no_more_than_the_limit() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        std::fs::write(path("file"), "a text").unwrap();
        assert_eq!(read(&path("file")).unwrap(), "a text");
        std::fs::write(path("large"), "a".repeat((1 << 20) + 1)).unwrap();
        assert!(read(&path("large")).unwrap_err().to_string().starts_with("it is too large"));
        assert!(std::process::Command::new("mkfifo").arg(path("fifo")).status().unwrap().success());
        std::os::unix::fs::symlink("/dev/zero", path("zero")).unwrap();
        for name in ["fifo", "zero", "."] {
            assert_eq!(read(&path(name)).unwrap_err().to_string(), "it is not a regular file", "{name}");
        }
    }
}
