//! The cursor's state of a folder's messages, computed the same way by the initial sync and by every comparison.

use crate::changes::cursor::{FolderState, StatusSeen};
use crate::folders::Counts;

/// Stores the counts of STATUS: an empty mailbox has no other state.
pub fn settle_empty(known: &mut FolderState, counts: Counts) {
    known.status = Some(StatusSeen::from(counts));
    known.uid_validity = counts.uid_validity;
    known.modseq = counts.highest_modseq;
}

/// A combination of flags, in one spelling.
pub fn flags_key(flags: &[String]) -> String {
    let mut flags: Vec<String> = flags.iter().map(|flag| flag.to_lowercase()).collect();
    flags.retain(|flag| flag != "\\recent");
    flags.sort();
    flags.dedup();
    flags.join(" ")
}
