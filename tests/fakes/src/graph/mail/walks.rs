//! Rounds of a delta: the changes of a folder, or of the tree of folders, since a token, and the generations of its pages.

use std::collections::BTreeMap;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;

use crate::graph::errors::GraphError;
use crate::graph::facts;
use crate::graph::mail::store::{MailStore, MessageChange, MessageChangeKind, MessageItem};

/// The object of a delta.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeltaScope {
    Messages {
        folder: String,
        /// Messages that were received before are left out, in Unix milliseconds.
        from_ms: Option<i64>,
        is_newest_first: bool,
    },
    Folders {
        with_hidden: bool,
    },
}

/// A first call and all pages up to its delta link.
#[derive(Clone, Debug)]
pub struct DeltaRound {
    pub scope: DeltaScope,
    /// The value of `$select`.
    pub select: Option<String>,
    entries: Vec<DeltaEntry>,
    /// Changes up to this one are in the round.
    upto: u64,
    /// The beginning of the page of each generation that is kept.
    kept: BTreeMap<u64, usize>,
}

/// An entry of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeltaEntry {
    Whole(String),
    /// Some members of an item.
    Partial {
        key: String,
        members: Vec<&'static str>,
    },
    Removed {
        key: String,
        place: u64,
    },
}

/// Oddities of a round.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeltaOddities {
    /// A message that left its folder and came back is reported as removed, and never again.
    pub hides_returns: bool,
    /// All updates have the changed members alone.
    pub is_partial: bool,
    /// The first entry comes again at the end.
    pub repeats: bool,
}

/// A page of a round, with the token of what follows.
#[derive(Debug)]
pub struct DeltaPage {
    pub entries: Vec<DeltaEntry>,
    pub select: Option<String>,
    pub scope: DeltaScope,
    /// `$skiptoken` or `$deltatoken`.
    pub link: &'static str,
    pub token: String,
}

/// A token of a delta.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeltaToken {
    Page { round: u64, generation: u64 },
    Next { round: u64 },
}

impl DeltaToken {
    pub fn to_text(self) -> String {
        let text = match self {
            DeltaToken::Page { round, generation } => format!("page:{round}:{generation}"),
            DeltaToken::Next { round } => format!("next:{round}"),
        };
        BASE64_URL_SAFE_NO_PAD.encode(text)
    }

    /// Parses a token.
    ///
    /// # Errors
    /// It is none: 400.
    pub fn parse(text: &str) -> Result<DeltaToken, GraphError> {
        let decoded =
            BASE64_URL_SAFE_NO_PAD.decode(text).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let parts: Vec<&str> = decoded.as_deref().map(|text| text.split(':').collect()).unwrap_or_default();
        let number = |text: &str| text.parse::<u64>().ok();
        let token = match parts.as_slice() {
            ["page", round, generation] => number(round)
                .zip(number(generation))
                .map(|(round, generation)| DeltaToken::Page { round, generation }),
            ["next", round] => number(round).map(|round| DeltaToken::Next { round }),
            _ => None,
        };
        token.ok_or_else(|| GraphError::new(400, "SyncStateInvalid", "The sync state is not valid."))
    }
}

/// The error of a token of which the server knows nothing any more.
pub fn state_not_found() -> GraphError {
    GraphError::new(
        410,
        "SyncStateNotFound",
        "The sync state generation is not found; generationsAvailable: 5. Start a full synchronization.",
    )
}

impl MailStore {
    /// Begins a round; none of its changes is older than `since`, and all items are in it where that is none. Returns its first token.
    pub fn begin_round(
        &mut self,
        scope: DeltaScope,
        select: Option<String>,
        since: Option<u64>,
        odd: DeltaOddities,
    ) -> DeltaToken {
        let mut entries = match (&scope, since) {
            (DeltaScope::Messages { folder, from_ms, is_newest_first }, None) => {
                self.first_entries(folder, *from_ms, *is_newest_first)
            }
            (DeltaScope::Messages { folder, from_ms, .. }, Some(since)) => {
                self.changed_entries(folder, *from_ms, since, odd)
            }
            (DeltaScope::Folders { with_hidden }, since) => self.folder_entries(*with_hidden, since),
        };
        if odd.repeats {
            entries.extend(entries.first().cloned());
        }
        let round = self.number();
        let kept = BTreeMap::from([(0, 0)]);
        self.rounds.insert(round, DeltaRound { scope, select, entries, upto: self.latest(), kept });
        DeltaToken::Page { round, generation: 0 }
    }

    /// Returns whether the round that follows another one has entries.
    pub fn has_news(&self, round: u64) -> bool {
        let Some(before) = self.rounds.get(&round) else { return false };
        match &before.scope {
            DeltaScope::Folders { .. } => self.latest() > before.upto,
            DeltaScope::Messages { folder, .. } => {
                let is_new =
                    |change: &MessageChange| change.changed > before.upto && change.folder == *folder;
                self.changes.iter().any(is_new)
            }
        }
    }

    /// Begins the round that follows another one.
    ///
    /// # Errors
    /// The server has forgotten the round: 410.
    pub fn begin_next_round(&mut self, round: u64, odd: DeltaOddities) -> Result<DeltaToken, GraphError> {
        let before = self.rounds.get(&round).ok_or_else(state_not_found)?;
        let (scope, select, upto) = (before.scope.clone(), before.select.clone(), before.upto);
        Ok(self.begin_round(scope, select, Some(upto), odd))
    }

    /// Reads a page of a round. The pages of the newest five generations can be read.
    ///
    /// # Errors
    /// The round or the generation is forgotten: 410.
    pub fn read_round(&mut self, round: u64, generation: u64, size: usize) -> Result<DeltaPage, GraphError> {
        let of = self.rounds.get_mut(&round).ok_or_else(state_not_found)?;
        let begin = *of.kept.get(&generation).ok_or_else(state_not_found)?;
        let end = begin.saturating_add(size).min(of.entries.len());
        let entries = of.entries.get(begin..end).unwrap_or_default().to_vec();
        let (select, scope) = (of.select.clone(), of.scope.clone());
        if end == of.entries.len() {
            let token = DeltaToken::Next { round }.to_text();
            return Ok(DeltaPage { entries, select, scope, link: "$deltatoken", token });
        }
        of.kept.insert(generation + 1, end);
        while of.kept.len() > facts::number("mail_delta", "generations") {
            of.kept.pop_first();
        }
        let token = DeltaToken::Page { round, generation: generation + 1 }.to_text();
        Ok(DeltaPage { entries, select, scope, link: "$skiptoken", token })
    }

    /// Forgets all rounds: tokens that were handed out so far have expired.
    pub fn expire_tokens(&mut self) {
        self.rounds.clear();
    }

    /// Forgets the rounds of one folder.
    pub fn expire_tokens_of(&mut self, key: &str) {
        self.rounds
            .retain(|_, round| !matches!(&round.scope, DeltaScope::Messages { folder, .. } if folder == key));
    }

    fn first_entries(&self, folder: &str, from_ms: Option<i64>, is_newest_first: bool) -> Vec<DeltaEntry> {
        let mut items = self.newest_first(Some(folder));
        items.retain(|item| is_late_enough(item, from_ms));
        if !is_newest_first {
            items.sort_by_key(|item| item.number);
        }
        if from_ms.is_some() {
            items.truncate(facts::number("mail_delta", "filtered_most"));
        }
        items.into_iter().map(|item| DeltaEntry::Whole(item.key())).collect()
    }

    fn changed_entries(
        &self,
        folder: &str,
        from_ms: Option<i64>,
        since: u64,
        odd: DeltaOddities,
    ) -> Vec<DeltaEntry> {
        let changes = self.changes.iter().filter(|change| change.changed > since && change.folder == folder);
        // By message, in the order of the last change.
        let mut of_message: Vec<(u64, Vec<&MessageChange>)> = Vec::new();
        for change in changes {
            let at = of_message.iter().position(|(number, _)| *number == change.number);
            let mut all = at.map(|at| of_message.remove(at).1).unwrap_or_default();
            all.push(change);
            of_message.push((change.number, all));
        }
        let entries = of_message.into_iter().flat_map(|(number, changes)| {
            let item = self.messages.get(&number).filter(|item| item.folder == folder);
            changed_entry(item, &changes, from_ms, odd)
        });
        entries.collect()
    }

    fn folder_entries(&self, with_hidden: bool, since: Option<u64>) -> Vec<DeltaEntry> {
        let is_new = |changed: u64| since.is_none_or(|since| changed > since);
        let nodes = self.tree.nodes.values().filter(|node| self.tree.is_shown(node, with_hidden));
        let mut entries: Vec<DeltaEntry> = nodes
            .filter(|node| is_new(node.changed))
            .map(|node| DeltaEntry::Whole(node.key.clone()))
            .collect();
        if since.is_some() {
            let gone = self.tree.gone.iter().filter(|gone| is_new(gone.changed));
            let gone = gone.filter(|gone| with_hidden || !gone.is_hidden);
            entries.extend(gone.map(|gone| DeltaEntry::Removed { key: gone.key.clone(), place: 0 }));
        }
        entries
    }
}

fn is_late_enough(item: &MessageItem, from_ms: Option<i64>) -> bool {
    from_ms.is_none_or(|from| item.received_ms >= from)
}

/// The entries of a message that changed so in a folder; `item` where it is there now.
fn changed_entry(
    item: Option<&MessageItem>,
    changes: &[&MessageChange],
    from_ms: Option<i64>,
    odd: DeltaOddities,
) -> Vec<DeltaEntry> {
    let has = |kind: &MessageChangeKind| changes.iter().any(|change| change.kind == *kind);
    let departure = changes.iter().find(|change| change.kind == MessageChangeKind::Departure);
    let removed = departure
        .map(|change| DeltaEntry::Removed { key: format!("msg-{}", change.number), place: change.place });
    let Some(item) = item else {
        // A message that came and went in between was never reported.
        let is_unknown = changes.first().is_some_and(|change| change.kind == MessageChangeKind::Arrival);
        return removed.filter(|_| !is_unknown).into_iter().collect();
    };
    if let Some(removed) = removed.filter(|_| odd.hides_returns) {
        return vec![removed];
    }
    if !is_late_enough(item, from_ms) {
        return Vec::new();
    }
    let mut members: Vec<&'static str> = Vec::new();
    for change in changes {
        if let MessageChangeKind::Update(names) = &change.kind {
            members.extend(names.iter().filter(|name| !members.contains(name)).copied().collect::<Vec<_>>());
        }
    }
    let is_short = odd.is_partial || members == ["isRead"];
    if is_short && !has(&MessageChangeKind::Arrival) {
        return vec![DeltaEntry::Partial { key: item.key(), members }];
    }
    vec![DeltaEntry::Whole(item.key())]
}

#[cfg(test)]
mod tests {
    use super::{DeltaEntry, DeltaOddities, DeltaPage, DeltaScope, DeltaToken};
    use crate::graph::mail::store::{MailStore, NewMessage};

    fn inbox() -> DeltaScope {
        DeltaScope::Messages { folder: "folder-inbox".to_owned(), from_ms: None, is_newest_first: true }
    }

    fn store(messages: i64) -> MailStore {
        let mut store = MailStore::new("a@x.test", false);
        for at in 1..=messages {
            store.add(NewMessage::now(b"Subject: x\r\n\r\n".to_vec(), "inbox", at));
        }
        store
    }

    fn read(store: &mut MailStore, token: &str, size: usize) -> Result<DeltaPage, String> {
        let token = match DeltaToken::parse(token).map_err(|error| error.code)? {
            DeltaToken::Next { round } => {
                store.begin_next_round(round, DeltaOddities::default()).map_err(|error| error.code)?
            }
            page @ DeltaToken::Page { .. } => page,
        };
        let DeltaToken::Page { round, generation } = token else {
            unreachable!("a round begins with a page")
        };
        store.read_round(round, generation, size).map_err(|error| error.code)
    }

    #[test]
    fn an_older_next_link_dies_while_one_reads_on() {
        let mut store = store(20);
        let mut tokens = vec![store.begin_round(inbox(), None, None, DeltaOddities::default()).to_text()];
        for _ in 0..6 {
            let page = read(&mut store, tokens.last().expect("one"), 2).expect("a page");
            assert_eq!((page.entries.len(), page.link), (2, "$skiptoken"));
            tokens.push(page.token);
        }
        let kept: Vec<bool> = tokens.iter().map(|token| read(&mut store, token, 2).is_ok()).collect();
        assert_eq!(kept, [false, false, true, true, true, true, true]);
        assert_eq!(read(&mut store, &tokens[0], 2).expect_err("forgotten"), "SyncStateNotFound");
        assert_eq!(DeltaToken::parse("no token").expect_err("none").code, "SyncStateInvalid");
    }

    #[test]
    fn a_round_has_the_changes_since_the_last_one() {
        let mut store = store(3);
        let first = store.begin_round(inbox(), None, None, DeltaOddities::default()).to_text();
        let page = read(&mut store, &first, 10).expect("a page");
        let newest = DeltaEntry::Whole("msg-3".to_owned());
        assert_eq!((page.entries.first(), page.link), (Some(&newest), "$deltatoken"));
        store.record_update(1, vec!["isRead"], 9);
        store.move_to(2, "folder-archive", 9);
        store.purge(3, 9);
        let new = store.add(NewMessage::now(b"Subject: y\r\n\r\n".to_vec(), "inbox", 9));
        let page = read(&mut store, &page.token, 10).expect("a page");
        let removed = |number: u64| DeltaEntry::Removed { key: format!("msg-{number}"), place: 1 };
        let expected = [
            DeltaEntry::Partial { key: "msg-1".to_owned(), members: vec!["isRead"] },
            removed(2),
            removed(3),
            DeltaEntry::Whole(format!("msg-{new}")),
        ];
        assert_eq!(page.entries, expected);
        assert!(read(&mut store, &page.token, 10).expect("a page").entries.is_empty());
    }

    #[test]
    fn a_move_there_and_back_is_reported_as_removed_where_the_trap_is_on() {
        for (hides_returns, expected) in [
            (false, DeltaEntry::Whole("msg-1".to_owned())),
            (true, DeltaEntry::Removed { key: "msg-1".to_owned(), place: 1 }),
        ] {
            let mut store = store(1);
            let before = store.latest();
            store.move_to(1, "folder-archive", 2);
            store.move_to(1, "folder-inbox", 3);
            let odd = DeltaOddities { hides_returns, ..DeltaOddities::default() };
            let DeltaToken::Page { round, .. } = store.begin_round(inbox(), None, Some(before), odd) else {
                unreachable!("a round begins with a page")
            };
            let page = store.read_round(round, 0, 10).expect("a page");
            assert_eq!(page.entries, [expected]);
        }
    }
}
