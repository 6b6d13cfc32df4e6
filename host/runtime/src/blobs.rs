//! Large content of one call, which the guest names by id instead of holding it. Small blobs stay in memory as long as there is
//! room for them, everything else is in one unnamed temporary file; all of it is gone when the last clone is dropped.

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex};

use bytes::Bytes;

/// Bytes of a piece of the file. A smaller blob stays in memory.
const PIECE: usize = 256 << 10;
/// Bytes of all blobs in memory, with the overhead of each.
const MEMORY: u64 = 4 << 20;
/// Bytes that a blob takes besides its content: id, table entry and type. Count against the budget too.
const OVERHEAD: u64 = 256;
/// Longest type that is stored: RFC 6838 section 4.2 has names of 127 characters on each side of the slash.
const CONTENT_TYPE: usize = 255;
/// Blobs of one call.
const MAX_BLOBS: usize = 4_096;

/// The blobs of one call. Cheap to clone; all clones are one table.
#[derive(Clone, Debug)]
pub struct Blobs(Arc<Mutex<Table>>);

#[derive(Debug)]
struct Table {
    by_id: HashMap<String, Blob>,
    /// Bytes of the budget.
    left: u64,
    /// Bytes in memory.
    in_memory: u64,
    /// The file, created for the first blob that needs it, and its length.
    file: Option<Arc<File>>,
    length: u64,
}

/// Content, with its type and size.
#[derive(Clone, Debug)]
pub struct Blob {
    pub content_type: Option<String>,
    size: u64,
    data: Data,
}

#[derive(Clone, Debug)]
enum Data {
    Memory(Bytes),
    /// Offsets of the pieces in the file. All pieces but the last have the same length.
    File(Arc<File>, Arc<[u64]>),
}

impl Default for Blobs {
    /// An empty table with the default budget.
    fn default() -> Self {
        Blobs::new(crate::limits::Limits::default().blob_bytes)
    }
}

impl Blobs {
    /// An empty table for at most `budget` bytes.
    pub fn new(budget: u64) -> Self {
        let table = Table { by_id: HashMap::new(), left: budget, in_memory: 0, file: None, length: 0 };
        Blobs(Arc::new(Mutex::new(table)))
    }

    /// The blob with this id.
    pub fn get(&self, id: &str) -> Option<Blob> {
        self.0.lock().expect("no panic while holding blobs").by_id.get(id).cloned()
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.lock().expect("no panic while holding blobs").by_id.len()
    }

    /// Bytes of memory that they take.
    pub fn in_memory(&self) -> u64 {
        self.0.lock().expect("no panic while holding blobs").in_memory
    }

    /// Adds a blob and returns its id. None when the budget is spent or the disk is full.
    pub fn create(&self, content: &[u8], content_type: Option<String>) -> Option<String> {
        let mut writer = self.writer();
        writer.write(content)?;
        writer.finish(content_type)
    }

    /// Starts a blob that arrives in pieces.
    pub(crate) fn writer(&self) -> BlobWriter {
        BlobWriter { blobs: self.clone(), memory: Vec::new(), pieces: Vec::new(), size: 0 }
    }

    fn reserve(&self, bytes: u64) -> Option<()> {
        let mut table = self.0.lock().expect("no panic while holding blobs");
        table.left = table.left.checked_sub(bytes)?;
        Some(())
    }

    /// Writes to the end of the file and returns the offset. None when the disk is full.
    fn append(&self, piece: &[u8]) -> Option<u64> {
        let (file, at) = {
            let mut table = self.0.lock().expect("no panic while holding blobs");
            if table.file.is_none() {
                table.file = Some(Arc::new(tempfile::tempfile().ok()?));
            }
            let at = table.length;
            table.length += piece.len() as u64;
            (table.file.clone()?, at)
        };
        file.write_all_at(piece, at).ok()?;
        Some(at)
    }
}

/// A blob that is being written. Its bytes count against the budget at once and stay counted if the writer is dropped.
pub(crate) struct BlobWriter {
    blobs: Blobs,
    /// The bytes that are not in the file yet.
    memory: Vec<u8>,
    pieces: Vec<u64>,
    size: u64,
}

impl BlobWriter {
    /// Appends; none when the budget is spent or the disk is full.
    pub(crate) fn write(&mut self, mut content: &[u8]) -> Option<()> {
        self.blobs.reserve(content.len() as u64)?;
        self.size += content.len() as u64;
        while self.memory.len() + content.len() > PIECE {
            let (now, later) = content.split_at(PIECE - self.memory.len());
            self.memory.extend_from_slice(now);
            self.pieces.push(self.blobs.append(&self.memory)?);
            self.memory.clear();
            content = later;
        }
        self.memory.extend_from_slice(content);
        Some(())
    }

    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// Adds the written bytes to the table as a new blob. Returns its id. None when the table has too many blobs, or the budget
    /// or the disk has no room.
    pub(crate) fn finish(mut self, content_type: Option<String>) -> Option<String> {
        let mut random = [0; 12];
        getrandom::fill(&mut random).ok()?;
        let id = format!("blob_{}", hex::encode(random));
        self.blobs.reserve(OVERHEAD)?;
        let takes = self.memory.len() as u64 + OVERHEAD;
        let has_room = self.blobs.in_memory() + takes <= MEMORY;
        let data = if self.pieces.is_empty() && has_room {
            Data::Memory(std::mem::take(&mut self.memory).into_boxed_slice().into())
        } else {
            if !self.memory.is_empty() {
                self.pieces.push(self.blobs.append(&self.memory)?);
            }
            let file = self.blobs.0.lock().expect("no panic while holding blobs").file.clone();
            file.map_or_else(|| Data::Memory(Bytes::new()), |file| Data::File(file, self.pieces.into()))
        };
        let content_type = content_type.filter(|text| text.len() <= CONTENT_TYPE);
        let mut table = self.blobs.0.lock().expect("no panic while holding blobs");
        if table.by_id.len() >= MAX_BLOBS {
            return None;
        }
        table.in_memory += if matches!(data, Data::Memory(_)) { takes } else { OVERHEAD };
        table.by_id.insert(id.clone(), Blob { content_type, size: self.size, data });
        Some(id)
    }
}

impl Blob {
    /// Bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// At most `len` bytes from `offset`, fewer only at the end; empty beyond it.
    pub fn read(&self, offset: u64, len: usize) -> std::io::Result<Bytes> {
        let left = usize::try_from(self.size.saturating_sub(offset)).unwrap_or(usize::MAX);
        let len = len.min(left);
        match &self.data {
            Data::Memory(bytes) => {
                let start = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
                Ok(bytes.slice(start..start + len))
            }
            Data::File(file, pieces) => {
                let mut content = vec![0; len];
                let mut done = 0;
                while done < len {
                    let at = offset + done as u64;
                    let within = at % PIECE as u64;
                    let most = (PIECE as u64 - within).min((len - done) as u64) as usize;
                    let piece =
                        pieces.get((at / PIECE as u64) as usize).ok_or(std::io::ErrorKind::UnexpectedEof)?;
                    file.read_exact_at(&mut content[done..done + most], piece + within)?;
                    done += most;
                }
                Ok(content.into())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_blobs_read_like_small_ones() {
        let blobs = Blobs::new(4 << 20);
        let content: Vec<u8> = (0..600_000_u32).map(|n| (n % 251) as u8).collect();
        for size in [10, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE, 600_000] {
            let id = blobs.create(&content[..size], None).unwrap();
            let blob = blobs.get(&id).unwrap();
            assert_eq!(blob.size(), size as u64);
            assert_eq!(blob.read(3, 5).unwrap(), content[3..8]);
            assert_eq!(blob.read(size as u64 - 2, 100).unwrap(), content[size - 2..size]);
            assert!(blob.read(u64::MAX, 1).unwrap().is_empty());
        }
        let blobs = Blobs::new(1 << 20);
        assert!(blobs.create(&content, None).is_some());
        assert!(blobs.create(&content, None).is_none(), "the budget is spent");
    }

    #[test]
    fn blobs_that_are_written_at_once_share_the_file() {
        let blobs = Blobs::new(8 << 20);
        let contents: Vec<Vec<u8>> =
            (0..3_u8).map(|n| vec![n + 1; PIECE * 2 + 100 * usize::from(n)]).collect();
        let mut writers: Vec<BlobWriter> = contents.iter().map(|_| blobs.writer()).collect();
        for part in 0..100 {
            for (writer, content) in writers.iter_mut().zip(&contents) {
                let size = content.len().div_ceil(100);
                let from = (part * size).min(content.len());
                writer.write(&content[from..(from + size).min(content.len())]).unwrap();
            }
        }
        for (writer, content) in writers.into_iter().zip(contents) {
            let blob = blobs.get(&writer.finish(None).unwrap()).unwrap();
            assert_eq!(blob.read(0, usize::MAX).unwrap(), content);
            assert_eq!(blob.read(PIECE as u64 - 5, 10).unwrap().len(), 10);
        }
        assert_eq!(blobs.in_memory(), 3 * OVERHEAD);
    }

    #[test]
    fn what_has_no_room_in_memory_is_in_the_file() {
        let blobs = Blobs::default();
        let content = vec![7; 200 << 10];
        let ids: Vec<String> = (0..60).map(|_| blobs.create(&content, None).unwrap()).collect();
        assert!(blobs.in_memory() <= MEMORY + 60 * OVERHEAD, "{} bytes", blobs.in_memory());
        assert!(ids.iter().all(|id| blobs.get(id).unwrap().read(0, usize::MAX).unwrap() == content));
        let empty = blobs.create(b"", None).unwrap();
        assert!(blobs.get(&empty).unwrap().read(0, 10).unwrap().is_empty());
    }

    #[test]
    fn the_smallest_blobs_come_to_an_end() {
        for content in [&b""[..], b"x"] {
            let blobs = Blobs::default();
            let made = (0..1_000_000).take_while(|_| blobs.create(content, None).is_some()).count();
            assert_eq!((made, blobs.count()), (MAX_BLOBS, MAX_BLOBS));
            let blobs = Blobs::new(100 * OVERHEAD);
            assert!((0..1_000).filter_map(|_| blobs.create(content, None)).count() <= 100);
        }
    }
}
