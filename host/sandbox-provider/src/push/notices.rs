//! Notices of a write: the watches that get one, and its state.

use std::collections::BTreeMap;

use crate::kind::Kind;
use crate::ops::Op;
use crate::push::watches::{Watch, WatchTarget, Watches};

/// The watch has begun.
pub const SYNC: &str = "sync";
/// A watched record or folder has changed.
const EXISTS: &str = "exists";
/// The watched folder is gone.
const NOT_EXISTS: &str = "not_exists";

/// A notice to one watch.
#[derive(Clone, Debug)]
pub struct Notice {
    pub watch: Watch,
    /// The value of `x-sandbox-state`.
    pub state: &'static str,
}

/// The notices of these changes, which happened at once: one for each watch that has not expired.
pub fn for_changes(watches: &Watches, changes: &[Op], now_ms: i64) -> Vec<Notice> {
    if watches.is_empty() {
        return Vec::new();
    }
    let mut found: BTreeMap<(&str, &str), (&Watch, &'static str)> = BTreeMap::new();
    for (mail, touched) in changes.iter().filter_map(changed_subject) {
        for watch in watches.of_account(mail).filter(|watch| now_ms < watch.until_ms) {
            if let Some(state) = touched.state_for(&watch.watched) {
                found.insert((watch.mail.as_str(), watch.id.as_str()), (watch, state));
            }
        }
    }
    found.into_values().map(|(watch, state)| Notice { watch: watch.clone(), state }).collect()
}

/// The subject of a change.
enum ChangeSubject<'a> {
    /// The account was reset.
    Account,
    /// A folder of this kind is new, or its properties changed.
    Head(Kind),
    /// A folder is gone.
    Gone(Kind, &'a str),
    /// A record of a folder.
    Record(Kind, &'a str),
}

fn changed_subject(change: &Op) -> Option<(&str, ChangeSubject<'_>)> {
    Some(match change {
        Op::Account { mail, .. } => (mail.as_str(), ChangeSubject::Account),
        Op::Calendar(put) => (put.mail.as_str(), ChangeSubject::Head(Kind::Event)),
        Op::Book(put) => (put.mail.as_str(), ChangeSubject::Head(Kind::Card)),
        Op::List(put) => (put.mail.as_str(), ChangeSubject::Head(Kind::Todo)),
        Op::Event(put) => (put.mail.as_str(), ChangeSubject::Record(Kind::Event, &put.folder)),
        Op::Card(put) => (put.mail.as_str(), ChangeSubject::Record(Kind::Card, &put.folder)),
        Op::Todo(put) => (put.mail.as_str(), ChangeSubject::Record(Kind::Todo, &put.folder)),
        Op::Entry(put) => (put.mail.as_str(), ChangeSubject::Record(Kind::Mail, &put.folder)),
        Op::DropFolder { kind, mail, id } => (mail.as_str(), ChangeSubject::Gone(*kind, id)),
        Op::DropRecord(gone) => (gone.mail.as_str(), ChangeSubject::Record(gone.kind, &gone.folder)),
        Op::Mailbox(_)
        | Op::RawMessage { .. }
        | Op::Forget { .. }
        | Op::Receipt { .. }
        | Op::Grant(_)
        | Op::Watch(_)
        | Op::Counter { .. } => return None,
    })
}

impl ChangeSubject<'_> {
    /// The state that a watch of this gets; none where it has not changed.
    fn state_for(&self, watched: &WatchTarget) -> Option<&'static str> {
        let folder = watched.folder.as_deref();
        match *self {
            ChangeSubject::Account => Some(EXISTS),
            ChangeSubject::Head(kind) => (kind == watched.kind && folder.is_none()).then_some(EXISTS),
            ChangeSubject::Gone(kind, _) | ChangeSubject::Record(kind, _) if kind != watched.kind => None,
            ChangeSubject::Gone(_, id) => match folder {
                None => Some(EXISTS),
                Some(folder) => (folder == id).then_some(NOT_EXISTS),
            },
            ChangeSubject::Record(kind, id) => match folder {
                None => (kind == Kind::Mail).then_some(EXISTS),
                Some(folder) => (folder == id).then_some(EXISTS),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::calendar::types::{Calendar, Event};
    use crate::push::watches::WatchChange;
    use crate::state::State;

    const MAIL: &str = "a@sandbox.test";

    fn watching(state: &mut State, path: &str, until_ms: i64) {
        let watch = Watch {
            id: format!("{path}-{until_ms}"),
            mail: MAIL.to_owned(),
            watched: WatchTarget::parse(path).unwrap(),
            address: String::new(),
            secret: String::new(),
            until_ms,
        };
        state.commit(Op::Watch(WatchChange::Put(watch)));
        state.take_pending();
    }

    fn told(state: &mut State) -> Vec<String> {
        let changes = state.take_pending();
        for_changes(&state.watches, &changes, 10)
            .into_iter()
            .map(|n| format!("{} {}", n.watch.id, n.state))
            .collect()
    }

    #[test]
    fn each_watch_is_told_once_of_what_it_watches() {
        let mut state = State::default();
        state.commit(Op::Account { mail: MAIL.into(), name: "A".into(), zone: "UTC".into() });
        assert!(told(&mut state).is_empty());
        for (path, until_ms) in
            [("calendars", 11), ("calendars/work/events", 11), ("calendars/work/events", 10), ("mail", 11)]
        {
            watching(&mut state, path, until_ms);
        }
        state.put_head::<Event>(MAIL, Calendar { id: "work".into(), ..Calendar::default() });
        assert_eq!(told(&mut state), ["calendars-11 exists"]);
        for id in ["one", "two"] {
            state.put(MAIL, "work", 1, Arc::new(Event { id: id.into(), ..Event::default() }));
        }
        assert_eq!(told(&mut state), ["calendars/work/events-11 exists"]);
        state.put("b@sandbox.test", "work", 1, Arc::new(Event::default()));
        assert!(told(&mut state).is_empty(), "another account");
        state.remove::<Event>(MAIL, "work", 1, "one");
        assert_eq!(told(&mut state), ["calendars/work/events-11 exists"]);
        state.commit(Op::DropFolder { kind: Kind::Event, mail: MAIL.into(), id: "work".into() });
        assert_eq!(told(&mut state), ["calendars-11 exists", "calendars/work/events-11 not_exists"]);
        state.commit(Op::Account { mail: MAIL.into(), name: "A".into(), zone: "UTC".into() });
        assert_eq!(told(&mut state).len(), 3);
    }
}
