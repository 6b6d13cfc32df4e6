//! `UidSet`: many UIDs in little room, written as IMAP writes them (RFC 9051 section 9, `sequence-set`).

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroU32;
use std::ops::Bound;
use std::str::FromStr;

use io_imap::types::core::Vec1;
use io_imap::types::sequence::{SeqOrUid, Sequence, SequenceSet};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A set of UIDs as ranges that neither touch nor overlap, the last UID of each by its first: a server may send them in any order, and
/// each is put in its place without moving the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UidSet {
    ranges: BTreeMap<u32, u32>,
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
        UidSet { ranges: (first <= last).then_some((first, last)).into_iter().collect() }
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
        self.ranges.last_key_value().map(|(_, last)| *last)
    }

    /// This UID is in it.
    pub fn contains(&self, uid: u32) -> bool {
        self.ranges.range(..=uid).next_back().is_some_and(|(_, last)| *last >= uid)
    }

    /// All of them, ascending.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = u32> + '_ {
        self.ranges.iter().flat_map(|(first, last)| *first..=*last)
    }

    /// Adds one.
    pub fn insert(&mut self, uid: u32) {
        if uid != 0 {
            self.insert_range(uid, uid);
        }
    }

    /// Adds all from `first`, which is not 0, to `last`, and takes the ranges that they touch into theirs.
    fn insert_range(&mut self, first: u32, last: u32) {
        let before = self.ranges.range_mut(..=first).next_back();
        let start = match before {
            Some((_, end)) if *end >= last => return,
            Some((start, end)) if *end >= first - 1 => {
                *end = last;
                *start
            }
            _ => {
                self.ranges.insert(first, last);
                first
            }
        };
        let behind = (Bound::Excluded(start), Bound::Included(last.saturating_add(1)));
        while let Some((next, end)) = self.ranges.range(behind).next().map(|(next, end)| (*next, *end)) {
            self.ranges.remove(&next);
            self.ranges.insert(start, end.max(last));
        }
    }

    /// Adds all of the other's.
    pub fn add(&mut self, other: &UidSet) {
        for (first, last) in &other.ranges {
            self.insert_range(*first, *last);
        }
    }

    /// All of these sets in one.
    pub fn union<'s>(sets: impl IntoIterator<Item = &'s UidSet>) -> UidSet {
        join_ranges(sets.into_iter().flat_map(UidSet::pairs).collect())
    }

    fn pairs(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.ranges.iter().map(|(first, last)| (*first, *last))
    }

    /// Returns the UIDs that are in this set and not in the other.
    pub fn minus(&self, other: &UidSet) -> UidSet {
        let mut ranges = Vec::new();
        let mut cuts = other.pairs().peekable();
        for (first, last) in self.pairs() {
            let mut from = Some(first);
            while cuts.next_if(|(_, end)| *end < first).is_some() {}
            while let (Some(start), Some(&(cut, end))) = (from, cuts.peek()) {
                if cut > last {
                    break;
                }
                if cut > start {
                    ranges.push((start, cut - 1));
                }
                from = end.checked_add(1).filter(|start| *start <= last);
                // One that reaches beyond this range may cut the next one too.
                if end <= last {
                    cuts.next();
                }
            }
            ranges.extend(from.map(|start| (start, last)));
        }
        UidSet { ranges: ranges.into_iter().collect() }
    }

    /// Returns the UIDs that are in both.
    pub fn and(&self, other: &UidSet) -> UidSet {
        self.minus(&self.minus(other))
    }

    /// Takes the greatest `count` out of it, the newest ones.
    pub fn take_last(&mut self, count: u64) -> UidSet {
        let mut taken = UidSet::new();
        let mut room = count;
        while room > 0
            && let Some((first, last)) = self.ranges.pop_last()
        {
            let here = u64::from(last - first) + 1;
            if here > room {
                let cut = last - u32::try_from(room).unwrap_or(0) + 1;
                self.ranges.insert(first, cut - 1);
                taken.ranges.insert(cut, last);
                break;
            }
            taken.ranges.insert(first, last);
            room -= here;
        }
        taken
    }

    /// Parts whose text is at most about `bytes` long, for commands that a server's line limit allows.
    pub fn pieces(&self, bytes: usize) -> Vec<UidSet> {
        // A range takes at most 22 bytes: two UIDs of ten digits, a colon and a comma.
        let ranges: Vec<(u32, u32)> = self.pairs().collect();
        let piece = |part: &[(u32, u32)]| UidSet { ranges: part.iter().copied().collect() };
        ranges.chunks((bytes / 22).max(1)).map(piece).collect()
    }
}

/// The set of these ranges, which may be in any order and overlap.
fn join_ranges(mut ranges: Vec<(u32, u32)>) -> UidSet {
    ranges.sort_unstable();
    let mut out: Vec<(u32, u32)> = Vec::with_capacity(ranges.len());
    for (first, last) in ranges {
        match out.last_mut() {
            Some((_, end)) if first <= end.saturating_add(1) => *end = (*end).max(last),
            _ => out.push((first, last)),
        }
    }
    UidSet { ranges: out.into_iter().collect() }
}

impl FromIterator<u32> for UidSet {
    fn from_iter<I: IntoIterator<Item = u32>>(uids: I) -> Self {
        let ranges = uids.into_iter().filter(|uid| *uid != 0).map(|uid| (uid, uid));
        join_ranges(ranges.collect())
    }
}

/// The greatest UID that the crate writes as it is. It takes the last one that there can be for `*`, the last message of the mailbox.
const LAST: u32 = u32::MAX - 2;

impl From<&UidSet> for SequenceSet {
    /// The set for a command. Greater UIDs than [`LAST`], to which no mailbox comes, are named as that one, and so is the empty set, which
    /// no command can name.
    fn from(set: &UidSet) -> Self {
        let uid = |uid: u32| SeqOrUid::Value(NonZeroU32::new(uid.min(LAST)).unwrap_or(NonZeroU32::MIN));
        let sequence = |(first, last): (u32, u32)| Sequence::Range(uid(first), uid(last));
        let sequences = Vec1::try_from(set.pairs().map(sequence).collect::<Vec<_>>());
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
        join_ranges(set.0.as_ref().iter().map(range).collect())
    }
}

impl fmt::Display for UidSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (first, last)) in self.pairs().enumerate() {
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
