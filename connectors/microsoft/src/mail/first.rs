//! The initial sync of a mailbox: a merge of its folders' messages, newest first. Each call reads the next page of those folders that are
//! behind the others, and reports all that it has read: nothing is read ahead of what the host has stored by more than one page of a
//! folder. (Graph forgets links that are four or five pages old while one reads on, microsoftgraph/microsoft-graph-docs#2162.)

use crate::mail::cursor::{FolderPosition, MailCursor};
use crate::mail::delta::{MAX_PAGE_SIZE, MIN_PAGE_SIZE};

/// Folders of one batch.
pub const MAX_FOLDERS: usize = 20;
/// Time after which folders that are at their end are read again while others are not, ms. New mail comes into them.
const POLL_INTERVAL_MS: i64 = 60_000;

/// The folders of a call, by their ids.
#[derive(Debug, Default, PartialEq)]
pub struct FolderChoice {
    pub ids: Vec<String>,
    pub page_size: u32,
    /// All folders at their end are among them.
    pub is_round: bool,
}

/// Returns the folders whose next pages this call reads. `limit`: messages that the host asked for.
pub fn choose(cursor: &MailCursor, limit: u32, now_ms: i64) -> FolderChoice {
    if cursor.is_first {
        return choose_first(cursor, limit, now_ms);
    }
    // A page that has a next one comes before a new round: its link does not live long.
    let open = cursor.folders.iter().filter(|folder| folder.is_in_between() || folder.is_first);
    let open: Vec<String> = ids(open.take(MAX_FOLDERS));
    let is_round = open.is_empty() || is_due(cursor, now_ms);
    let ids = if is_round { ids(cursor.folders.iter()) } else { open };
    FolderChoice { page_size: page_size(limit, ids.len()), ids, is_round }
}

fn is_due(cursor: &MailCursor, now_ms: i64) -> bool {
    now_ms.saturating_sub(cursor.polled_at) >= POLL_INTERVAL_MS
}

fn choose_first(cursor: &MailCursor, limit: u32, now_ms: i64) -> FolderChoice {
    let mut open: Vec<_> = cursor.folders.iter().filter(|folder| folder.is_first).collect();
    // Those that have not begun can have the newest messages of all.
    open.sort_by_key(|folder| std::cmp::Reverse(folder.oldest.unwrap_or(i64::MAX)));
    open.truncate(MAX_FOLDERS);
    let page_size = page_size(limit, open.len());
    // The last call is a round: messages move while folders are read.
    let is_round = is_due(cursor, now_ms) || open.is_empty();
    let mut chosen = ids(open.into_iter());
    if is_round {
        chosen.extend(ids(cursor.folders.iter().filter(|folder| !folder.is_first)));
    }
    FolderChoice { ids: chosen, page_size, is_round }
}

fn ids<'c>(folders: impl Iterator<Item = &'c FolderPosition>) -> Vec<String> {
    folders.map(|folder| folder.id.clone()).collect()
}

/// Messages of each page, so that those of all folders are about as many as were asked for.
fn page_size(limit: u32, folders: usize) -> u32 {
    let limit = if limit == 0 { MAX_PAGE_SIZE } else { limit };
    let at_once = u32::try_from(folders.clamp(1, MAX_FOLDERS)).unwrap_or(1);
    (limit / at_once).clamp(MIN_PAGE_SIZE, MAX_PAGE_SIZE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mail::cursor::FeedPosition;

    fn cursor(folders: &[(&str, Option<i64>, bool)]) -> MailCursor {
        let folder = |(id, oldest, is_first): &(&str, Option<i64>, bool)| FolderPosition {
            oldest: *oldest,
            is_first: *is_first,
            ..FolderPosition::new(id)
        };
        MailCursor { is_first: true, folders: folders.iter().map(folder).collect(), ..MailCursor::default() }
    }

    #[test]
    fn the_folders_that_are_behind_go_on() {
        let many: Vec<(String, Option<i64>, bool)> =
            (0..25).map(|number| (format!("f{number}"), (number > 0).then_some(number), true)).collect();
        let many: Vec<(&str, Option<i64>, bool)> =
            many.iter().map(|(id, oldest, is_first)| (id.as_str(), *oldest, *is_first)).collect();
        let chosen = choose(&cursor(&many), 200, 0);
        assert_eq!((chosen.ids.len(), chosen.page_size, chosen.is_round), (20, 10, false));
        assert_eq!(
            (chosen.ids[0].as_str(), chosen.ids[1].as_str(), chosen.ids[19].as_str()),
            ("f0", "f24", "f6")
        );
        let last = choose(&cursor(&[("a", None, false), ("b", Some(1), true)]), 0, 0);
        assert_eq!((last.ids, last.page_size), (vec!["b".to_owned()], 200));
        // Mail that comes meanwhile is seen too.
        let round = choose(&cursor(&[("a", None, false), ("b", Some(1), true)]), 0, 60_000);
        assert_eq!((round.ids, round.is_round), (vec!["b".to_owned(), "a".to_owned()], true));
    }

    #[test]
    fn a_page_with_a_next_one_comes_before_a_new_round() {
        let mut all = cursor(&[("a", None, false), ("b", None, false)]);
        all.is_first = false;
        assert_eq!(
            choose(&all, 100, 0),
            FolderChoice { ids: vec!["a".into(), "b".into()], page_size: 50, is_round: true }
        );
        all.folders[1].at = Some(FeedPosition::Page("s".to_owned()));
        assert_eq!(
            choose(&all, 100, 0),
            FolderChoice { ids: vec!["b".into()], page_size: 100, is_round: false }
        );
        // A folder that is read from its begin takes long, and must not keep new mail back.
        let round = choose(&all, 100, 60_000);
        assert_eq!((round.ids.len(), round.is_round), (2, true));
    }
}
