//! Sets of UIDs against the plain sets of the standard library.

use std::collections::BTreeSet;

use connector_imap::imap::command::Piece;
use connector_imap::imap::commands::expunge;
use connector_imap::imap::uids::UidSet;
use io_imap::types::sequence::SequenceSet;
use proptest::prelude::*;

fn uids() -> impl Strategy<Value = BTreeSet<u32>> {
    // Small numbers make ranges that touch; the greatest ones find overflows.
    let uid = prop_oneof![8 => 1..80_u32, 1 => (u32::MAX - 5)..=u32::MAX];
    proptest::collection::btree_set(uid, 0..60)
}

fn set(uids: &BTreeSet<u32>) -> UidSet {
    uids.iter().copied().collect()
}

fn plain(set: &UidSet) -> BTreeSet<u32> {
    set.iter().collect()
}

proptest! {
    #[test]
    fn a_set_is_written_and_read(all in uids(), order in any::<u64>()) {
        let compact = set(&all);
        prop_assert_eq!(plain(&compact), all.clone());
        prop_assert_eq!(compact.len(), all.len() as u64);
        prop_assert_eq!(compact.last(), all.last().copied());
        prop_assert_eq!(&compact.to_string().parse::<UidSet>().unwrap(), &compact);
        // In any order.
        let mut shuffled: Vec<u32> = all.iter().copied().collect();
        shuffled.sort_by_key(|uid| u64::from(*uid).wrapping_mul(order | 1));
        let mut one_by_one = UidSet::new();
        shuffled.iter().for_each(|uid| one_by_one.insert(*uid));
        prop_assert_eq!(&one_by_one, &compact);
        let pieces = compact.pieces(44);
        prop_assert!(pieces.iter().all(|piece| piece.to_string().len() <= 44));
        prop_assert_eq!(UidSet::union(&pieces), compact);
    }

    #[test]
    fn sets_are_added_and_taken_apart(one in uids(), other in uids(), count in 0..70_u64) {
        let (a, b) = (set(&one), set(&other));
        prop_assert_eq!(plain(&a.minus(&b)), &one - &other);
        prop_assert_eq!(plain(&a.and(&b)), &one & &other);
        let mut both = a.clone();
        both.add(&b);
        prop_assert_eq!(plain(&both), &one | &other);
        prop_assert!(one.iter().chain(&other).all(|uid| both.contains(*uid)));
        prop_assert!(other.difference(&one).all(|uid| !a.contains(*uid)));
        let mut rest = a.clone();
        let taken = rest.take_last(count);
        prop_assert_eq!(taken.len(), count.min(a.len()));
        prop_assert!(rest.last().is_none_or(|uid| taken.iter().next().is_none_or(|first| uid < first)));
        prop_assert_eq!(UidSet::union([&rest, &taken]), a);
    }

    #[test]
    fn nonsense_is_refused_or_read_but_never_a_panic(text in "[0-9:,* ]{0,30}") {
        if let Ok(set) = text.parse::<UidSet>() {
            prop_assert_eq!(&set.to_string().parse::<UidSet>().unwrap(), &set);
        }
    }

    /// The crate puts sets in order before it writes them, and takes the greatest UID for `*`.
    #[test]
    fn a_command_names_what_is_in_the_set_and_nothing_else(all in uids()) {
        let command = expunge(Some(SequenceSet::from(&set(&all))));
        let [Piece::Text(text)] = command.pieces() else { panic!("a text alone") };
        let text = std::str::from_utf8(text).unwrap().strip_prefix("UID EXPUNGE ").unwrap();
        prop_assert!(!text.contains('*'), "{}", text);
        let last = u32::MAX - 2;
        let expected = if all.is_empty() { BTreeSet::from([last]) } else { all.iter().map(|uid| *uid.min(&last)).collect() };
        prop_assert_eq!(plain(&text.parse().unwrap()), expected);
    }
}
