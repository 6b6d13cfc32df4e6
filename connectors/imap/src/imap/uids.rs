//! `UidSet`: many UIDs in little room, written as IMAP writes them (RFC 9051 section 9, `sequence-set`).

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use io_imap::types::core::Vec1;
use io_imap::types::sequence::{SeqOrUid, Sequence, SequenceSet};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A set of UIDs as ranges, ascending, neither touching nor overlapping.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UidSet {
    ranges: Vec<(u32, u32)>,
}

impl UidSet {
    /// The empty set.
    pub fn new() -> Self {
        UidSet::default()
    }

    /// This UID alone.
    pub fn only(uid: u32) -> Self {
        UidSet::range(uid, uid)
    }

    /// Everything from `first` to `last`; empty where there is nothing between. UID 0 does not exist.
    pub fn range(first: u32, last: u32) -> Self {
        let first = first.max(1);
        UidSet { ranges: if first <= last { vec![(first, last)] } else { Vec::new() } }
    }

    /// There is no UID in it.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// How many UIDs are in it.
    pub fn len(&self) -> u64 {
        self.ranges.iter().map(|(first, last)| u64::from(last - first) + 1).sum()
    }

    /// The greatest one.
    pub fn last(&self) -> Option<u32> {
        self.ranges.last().map(|(_, last)| *last)
    }

    /// This UID is in it.
    pub fn contains(&self, uid: u32) -> bool {
        let at = self.ranges.partition_point(|(_, last)| *last < uid);
        self.ranges.get(at).is_some_and(|(first, _)| *first <= uid)
    }

    /// All of them, ascending.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = u32> + '_ {
        self.ranges.iter().flat_map(|(first, last)| *first..=*last)
    }

    /// Adds one. Quick at the end, where UIDs are usually added.
    pub fn insert(&mut self, uid: u32) {
        let at = match self.ranges.last() {
            Some((_, last)) if *last < uid => self.ranges.len(),
            _ => self.ranges.partition_point(|(_, last)| *last < uid),
        };
        if uid == 0 || self.ranges.get(at).is_some_and(|(first, _)| *first <= uid) {
            return;
        }
        let before =
            at.checked_sub(1).filter(|at| self.ranges.get(*at).is_some_and(|(_, last)| *last == uid - 1));
        let follows = self.ranges.get(at).copied().filter(|(first, _)| uid.checked_add(1) == Some(*first));
        match (before.and_then(|at| self.ranges.get_mut(at)), follows) {
            (Some(range), Some((_, last))) => {
                range.1 = last;
                self.ranges.remove(at);
            }
            (Some(range), None) => range.1 = uid,
            (None, Some((_, last))) => {
                self.ranges.splice(at..=at, [(uid, last)]);
            }
            (None, None) => self.ranges.insert(at, (uid, uid)),
        }
    }

    /// Adds all of the other's.
    pub fn add(&mut self, other: &UidSet) {
        if other.is_empty() {
            return;
        }
        let mut ranges = std::mem::take(&mut self.ranges);
        ranges.extend_from_slice(&other.ranges);
        self.ranges = joined(ranges);
    }

    /// All of these sets in one.
    pub fn union<'s>(sets: impl IntoIterator<Item = &'s UidSet>) -> UidSet {
        UidSet { ranges: joined(sets.into_iter().flat_map(|set| set.ranges.iter().copied()).collect()) }
    }

    /// What is in this one and not in the other.
    pub fn minus(&self, other: &UidSet) -> UidSet {
        let mut ranges = Vec::new();
        let mut at = 0;
        for &(first, last) in &self.ranges {
            let mut from = Some(first);
            while other.ranges.get(at).is_some_and(|(_, end)| *end < first) {
                at += 1;
            }
            let mut next = at;
            while let (Some(start), Some(&(cut, end))) = (from, other.ranges.get(next)) {
                if cut > last {
                    break;
                }
                if cut > start {
                    ranges.push((start, cut - 1));
                }
                from = end.checked_add(1).filter(|start| *start <= last);
                next += 1;
            }
            ranges.extend(from.map(|start| (start, last)));
        }
        UidSet { ranges }
    }

    /// What is in both.
    pub fn and(&self, other: &UidSet) -> UidSet {
        self.minus(&self.minus(other))
    }

    /// Takes the greatest `count` out of it, the newest ones.
    pub fn take_last(&mut self, count: u64) -> UidSet {
        let mut taken = Vec::new();
        let mut room = count;
        while room > 0
            && let Some((first, last)) = self.ranges.pop()
        {
            let here = u64::from(last - first) + 1;
            if here > room {
                let cut = last - u32::try_from(room).unwrap_or(0) + 1;
                self.ranges.push((first, cut - 1));
                taken.push((cut, last));
                break;
            }
            taken.push((first, last));
            room -= here;
        }
        taken.reverse();
        UidSet { ranges: taken }
    }

    /// Parts whose text is at most about `bytes` long, for commands that a server's line limit allows.
    pub fn pieces(&self, bytes: usize) -> Vec<UidSet> {
        // A range takes at most 22 bytes: two UIDs of ten digits, a colon and a comma.
        let ranges = (bytes / 22).max(1);
        self.ranges.chunks(ranges).map(|part| UidSet { ranges: part.to_vec() }).collect()
    }
}

/// Ranges in any order made into ascending ones that do not touch.
fn joined(mut ranges: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    ranges.sort_unstable();
    let mut out: Vec<(u32, u32)> = Vec::with_capacity(ranges.len());
    for (first, last) in ranges {
        match out.last_mut() {
            Some((_, end)) if first <= end.saturating_add(1) => *end = (*end).max(last),
            _ => out.push((first, last)),
        }
    }
    out
}

impl FromIterator<u32> for UidSet {
    fn from_iter<I: IntoIterator<Item = u32>>(uids: I) -> Self {
        let ranges = uids.into_iter().filter(|uid| *uid != 0).map(|uid| (uid, uid));
        UidSet { ranges: joined(ranges.collect()) }
    }
}

/// The greatest UID that the crate writes as it is. It takes the last one that there can be for `*`, the last message of the mailbox.
const LAST: u32 = u32::MAX - 2;

impl From<&UidSet> for SequenceSet {
    /// The set for a command. Greater UIDs than [`LAST`], to which no mailbox comes, are named as that one, and so is the empty set, which
    /// no command can name.
    fn from(set: &UidSet) -> Self {
        let uid = |uid: u32| SeqOrUid::Value(NonZeroU32::new(uid.min(LAST)).unwrap_or(NonZeroU32::MIN));
        let sequence = |&(first, last): &(u32, u32)| Sequence::Range(uid(first), uid(last));
        let sequences = Vec1::try_from(set.ranges.iter().map(sequence).collect::<Vec<_>>());
        SequenceSet(sequences.unwrap_or_else(|_| Vec1::from(Sequence::Single(uid(LAST)))))
    }
}

impl From<&SequenceSet> for UidSet {
    /// A server's set. `*` is the greatest UID that there can be.
    fn from(set: &SequenceSet) -> Self {
        let uid = |uid: &SeqOrUid| match uid {
            SeqOrUid::Value(uid) => uid.get(),
            SeqOrUid::Asterisk => u32::MAX,
        };
        let range = |sequence: &Sequence| match sequence {
            Sequence::Single(only) => (uid(only), uid(only)),
            Sequence::Range(first, last) => (uid(first).min(uid(last)), uid(first).max(uid(last))),
        };
        UidSet { ranges: joined(set.0.as_ref().iter().map(range).collect()) }
    }
}

impl fmt::Display for UidSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (first, last)) in self.ranges.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            if first == last { write!(f, "{comma}{first}")? } else { write!(f, "{comma}{first}:{last}")? }
        }
        Ok(())
    }
}

impl FromStr for UidSet {
    type Err = String;

    /// A sequence set; ranges may be in any order, and turned round. No text at all is the empty set.
    fn from_str(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Ok(UidSet::new());
        }
        let set = SequenceSet::try_from(text).map_err(|_| "not a set of UIDs".to_owned())?;
        Ok(UidSet::from(&set))
    }
}

impl Serialize for UidSet {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for UidSet {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        String::deserialize(d)?.parse().map_err(de::Error::custom)
    }
}
