//! Large content of one call: what the guest names by id instead of holding it. Small blobs are kept in memory, larger ones
//! in an unnamed temporary file; both are gone when the last clone is dropped.

use std::collections::HashMap;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex};

use bytes::Bytes;

/// From this size on a blob lives in a file.
const SPOOL_FROM: usize = 256 << 10;

/// The blobs of one call. Cheap to clone; all clones are one table.
#[derive(Clone, Debug)]
pub struct Blobs(Arc<Mutex<Table>>);

#[derive(Debug)]
struct Table {
    by_id: HashMap<String, Blob>,
    left: u64,
}

/// Content and what is known of it.
#[derive(Clone, Debug)]
pub struct Blob {
    pub content_type: Option<String>,
    size: u64,
    data: Data,
}

#[derive(Clone, Debug)]
enum Data {
    Memory(Bytes),
    File(Arc<File>),
}

impl Default for Blobs {
    /// An empty table with the default budget.
    fn default() -> Self {
        Blobs::new(crate::runtime::limits::Limits::default().blob_bytes)
    }
}

impl Blobs {
    /// An empty table for at most `budget` bytes.
    pub fn new(budget: u64) -> Self {
        Blobs(Arc::new(Mutex::new(Table { by_id: HashMap::new(), left: budget })))
    }

    /// The blob with this id.
    pub fn get(&self, id: &str) -> Option<Blob> {
        self.0.lock().expect("no panic while holding blobs").by_id.get(id).cloned()
    }

    /// Adds a blob; its new id. None when the budget is spent or the disk is full.
    pub fn create(&self, content: &[u8], content_type: Option<String>) -> Option<String> {
        let mut writer = self.writer();
        writer.write(content)?;
        writer.finish(content_type)
    }

    /// Starts a blob that arrives in pieces.
    pub(crate) fn writer(&self) -> BlobWriter {
        BlobWriter { blobs: self.clone(), memory: Vec::new(), file: None, size: 0 }
    }

    fn reserve(&self, bytes: u64) -> Option<()> {
        let mut table = self.0.lock().expect("no panic while holding blobs");
        table.left = table.left.checked_sub(bytes)?;
        Some(())
    }
}

/// A blob that is being written. Its bytes count against the budget at once and stay counted if it is given up.
pub(crate) struct BlobWriter {
    blobs: Blobs,
    memory: Vec<u8>,
    file: Option<File>,
    size: u64,
}

impl BlobWriter {
    /// Appends; none when the budget is spent or the disk is full.
    pub(crate) fn write(&mut self, piece: &[u8]) -> Option<()> {
        self.blobs.reserve(piece.len() as u64)?;
        self.size += piece.len() as u64;
        if self.file.is_none() && self.memory.len() + piece.len() > SPOOL_FROM {
            let mut file = tempfile::tempfile().ok()?;
            file.write_all(&self.memory).ok()?;
            self.memory = Vec::new();
            self.file = Some(file);
        }
        match &mut self.file {
            Some(file) => file.write_all(piece).ok(),
            None => {
                self.memory.extend_from_slice(piece);
                Some(())
            }
        }
    }

    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// Adds what was written to the table; its new id.
    pub(crate) fn finish(self, content_type: Option<String>) -> Option<String> {
        let mut random = [0; 12];
        getrandom::fill(&mut random).ok()?;
        let id = format!("blob_{}", hex::encode(random));
        let data = match self.file {
            Some(file) => Data::File(Arc::new(file)),
            None => Data::Memory(self.memory.into()),
        };
        let blob = Blob { content_type, size: self.size, data };
        self.blobs.0.lock().expect("no panic while holding blobs").by_id.insert(id.clone(), blob);
        Some(id)
    }
}

impl Blob {
    /// Bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// At most `len` bytes from `offset`; empty at the end.
    pub fn read(&self, offset: u64, len: usize) -> std::io::Result<Bytes> {
        let left = usize::try_from(self.size.saturating_sub(offset)).unwrap_or(usize::MAX);
        let len = len.min(left);
        match &self.data {
            Data::Memory(bytes) => {
                let start = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
                Ok(bytes.slice(start..start + len))
            }
            Data::File(file) => {
                let mut piece = vec![0; len];
                file.read_exact_at(&mut piece, offset)?;
                Ok(piece.into())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_blobs_read_like_small_ones() {
        let blobs = Blobs::new(1 << 20);
        let content: Vec<u8> = (0..600_000_u32).map(|n| (n % 251) as u8).collect();
        for size in [10, 600_000] {
            let id = blobs.create(&content[..size], None).unwrap();
            let blob = blobs.get(&id).unwrap();
            assert_eq!(blob.size(), size as u64);
            assert_eq!(blob.read(3, 5).unwrap(), content[3..8]);
            assert_eq!(blob.read(size as u64 - 2, 100).unwrap(), content[size - 2..size]);
            assert!(blob.read(u64::MAX, 1).unwrap().is_empty());
        }
        assert!(blobs.create(&content, None).is_none(), "the budget is spent");
    }
}
