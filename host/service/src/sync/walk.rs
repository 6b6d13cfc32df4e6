//! A walk: the pages of a connector from a cursor on until there are no more. Either all of them are an enumeration of all records, or none
//! is: records that a page of changes does not name still exist.

use storage::sync_states::SyncState;

/// The walk of a pull.
#[derive(Clone, Debug, Default)]
pub(crate) struct Walk {
    /// The cursor of its first page; empty: none.
    start: String,
    /// None: no page of it was read yet.
    is_enumeration: Option<bool>,
    /// Failed requests to the provider while these pages were read.
    pub(crate) failed_requests: u32,
}

impl Walk {
    /// Returns a walk that begins with the page of this cursor.
    pub(crate) fn starting_at(cursor: Option<&str>) -> Walk {
        Walk { start: cursor.unwrap_or_default().to_owned(), ..Walk::default() }
    }

    /// Returns the walk of the page of this cursor, with which a pull begins: an earlier pull may have stopped inside it, in a scan or in
    /// changes.
    pub(crate) fn resumed(state: &SyncState, is_scan: bool, cursor: Option<&str>) -> Walk {
        match &state.walk_start {
            _ if is_scan => Walk { is_enumeration: Some(true), ..Walk::default() },
            Some(start) if cursor.is_some() => {
                Walk { start: start.clone(), is_enumeration: Some(false), ..Walk::default() }
            }
            _ => Walk::starting_at(cursor),
        }
    }

    /// Adds a page. Returns whether it belongs to this walk: all pages of a walk are enumerations, or none is.
    pub(crate) fn add_page(&mut self, is_enumeration: bool, failed_requests: u32) -> bool {
        self.failed_requests = self.failed_requests.saturating_add(failed_requests);
        *self.is_enumeration.get_or_insert(is_enumeration) == is_enumeration
    }

    /// Returns `SyncState::walk_start` after a page that is not the last.
    pub(crate) fn stored_start(&self) -> Option<String> {
        (self.is_enumeration == Some(false)).then(|| self.start.clone())
    }

    /// Makes the next pull start the walk again.
    pub(crate) fn restart(&self, state: &mut SyncState) {
        match self.is_enumeration {
            Some(true) => restart_scan(state),
            _ => state.cursor = Some(self.start.clone()).filter(|start| !start.is_empty()),
        }
        state.walk_start = None;
    }
}

/// Makes the next pull read everything from the beginning.
pub(crate) fn restart_scan(state: &mut SyncState) {
    (state.scan_cursor, state.scan_since, state.rescan) = (None, None, true);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_of_a_walk_are_of_one_kind() {
        for is_enumeration in [true, false] {
            let mut walk = Walk::starting_at(Some("start"));
            assert!(walk.add_page(is_enumeration, 1) && walk.add_page(is_enumeration, 2));
            assert!(!walk.add_page(!is_enumeration, 0));
            assert_eq!(walk.failed_requests, 3);
        }
    }

    #[test]
    fn a_walk_that_was_stopped_goes_on_as_it_began() {
        let mut state = SyncState { cursor: Some("inside".to_owned()), ..SyncState::default() };
        let mut walk = Walk::starting_at(Some("start"));
        assert_eq!(walk.stored_start(), None, "nothing is known of it");
        assert!(walk.add_page(false, 0));
        state.walk_start = walk.stored_start();
        let mut resumed = Walk::resumed(&state, false, Some("inside"));
        assert!(!resumed.add_page(true, 0), "an enumeration among differences");
        resumed.restart(&mut state);
        assert_eq!((state.cursor.as_deref(), state.walk_start, state.rescan), (Some("start"), None, false));

        let mut state = SyncState { scan_cursor: Some("inside".to_owned()), ..SyncState::default() };
        let mut resumed = Walk::resumed(&state, true, Some("inside"));
        assert!(!resumed.add_page(false, 0), "differences in an enumeration");
        resumed.restart(&mut state);
        assert_eq!((state.scan_cursor, state.rescan), (None, true));
        assert!(Walk::resumed(&SyncState::default(), false, None).add_page(true, 0), "it begins");
    }
}
