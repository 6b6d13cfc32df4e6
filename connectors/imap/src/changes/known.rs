//! What the cursor says of a folder's messages, worked out the same way by the first reading and by every comparison.

use crate::changes::cursor::{Known, StatusSeen};
use crate::folders::Counts;

/// What STATUS says is all that is to be known of an empty mailbox.
pub fn settle_empty(known: &mut Known, counts: Counts) {
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
