//! Messages of several folders in the order in which they are reported, newest first, cut into chunks that fit into a cursor.

use serde::{Deserialize, Serialize};

use crate::imap::uids::UidSet;

/// A message and when it was received. `folder` is the caller's number for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Seconds since 1970.
    pub at: i64,
    pub folder: u32,
    pub uid: u32,
}

/// Messages that are reported together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Chunk {
    /// Seconds since 1970: with this chunk all that was received at this time and later has been reported.
    #[serde(rename = "t")]
    pub since: i64,
    #[serde(rename = "p")]
    pub parts: Vec<(u32, UidSet)>,
}

/// Cuts the messages into chunks of `size`, the newest first. Of messages of one second the one with the greater UID is newer.
pub fn chunks(mut entries: Vec<Entry>, size: usize) -> Vec<Chunk> {
    entries.sort_unstable_by_key(|entry| std::cmp::Reverse((entry.at, entry.uid, entry.folder)));
    let mut all = Vec::with_capacity(entries.len() / size.max(1) + 1);
    for (at, part) in entries.chunks(size.max(1)).enumerate() {
        let last = part.last().map_or(0, |entry| entry.at);
        let next = entries.get((at + 1) * size.max(1)).map(|entry| entry.at);
        // More of the same second comes in the next chunk.
        let since = if next == Some(last) { last.saturating_add(1) } else { last };
        let mut folders: Vec<u32> = part.iter().map(|entry| entry.folder).collect();
        folders.sort_unstable();
        folders.dedup();
        let uids = |folder: u32| part.iter().filter(|e| e.folder == folder).map(|e| e.uid).collect();
        let parts = folders.into_iter().map(|folder| (folder, uids(folder))).collect();
        all.push(Chunk { since, parts });
    }
    all
}

#[cfg(test)]
mod tests {
    use super::{Chunk, Entry, chunks};

    #[test]
    fn the_newest_come_first_and_ties_are_counted_as_open() {
        let entry = |at, folder, uid| Entry { at, folder, uid };
        let all = vec![entry(10, 0, 1), entry(30, 1, 1), entry(20, 0, 2), entry(20, 1, 2), entry(5, 0, 3)];
        let part = |folder, uids: &str| (folder, uids.parse().unwrap());
        assert_eq!(
            chunks(all, 2),
            [
                Chunk { since: 21, parts: vec![part(1, "1:2")] },
                Chunk { since: 10, parts: vec![part(0, "1:2")] },
                Chunk { since: 5, parts: vec![part(0, "3")] },
            ]
        );
        assert_eq!(chunks(Vec::new(), 0), []);
    }
}
