//! Mail, contacts and tasks of Alice's at Google, for histories.

use std::collections::BTreeSet;

use fakes::google::{GoogleService, State};
use serde_json::json;

use crate::email::mailbox::text;
use crate::fake_provider::convergence::records::{
    RecordHistory, RecordKind, RecordProvider, RecordSet, subject,
};
use crate::fake_provider::convergence::run;
use crate::google::ALICE;

const TRAPS: [&str; 9] = [
    "history_404",
    "history_empty_page",
    "batch_429",
    "batch_part_missing",
    "late_message",
    "expired_sync_token",
    "sync_token_expired_text",
    "people_busy",
    "rate_limit_exceeded",
];

fn mail_there(state: &mut State) -> RecordSet {
    let mut set = RecordSet::new();
    for (id, message) in &state.mailbox(ALICE).messages {
        let has = |label: &str| message.labels.contains(label);
        let folders = [("INBOX", "inbox"), ("SENT", "sent")].into_iter().filter(|(label, _)| has(label));
        let mut folders: BTreeSet<&str> = folders.map(|(_, role)| role).collect();
        if has("TRASH") {
            folders = BTreeSet::from(["trash"]);
        } else if folders.is_empty() {
            folders.insert("archive");
        }
        let line = format!("{} {} {} {folders:?}", subject(&message.raw), has("UNREAD"), has("STARRED"));
        set.insert(id.clone(), line);
    }
    set
}

fn tasks_there(state: &mut State) -> RecordSet {
    let list = state.task_book(ALICE).lists.first().expect("the default list");
    let mut set = RecordSet::new();
    for (id, task) in list.tasks.iter().filter(|(_, task)| !task.is_deleted) {
        let line = format!("{} {}", task.text("title").unwrap_or_default(), task.is_completed());
        set.insert(id.clone(), line);
    }
    set
}

impl RecordProvider for GoogleService {
    const REFUSALS: &'static [u16] = &[];

    fn calls(kind: RecordKind) -> &'static str {
        match kind {
            RecordKind::Mail => "/gmail/v1/",
            RecordKind::Contact => "/v1/people",
            RecordKind::Task => "/tasks/v1/",
        }
    }

    fn sending_path(_number: u8) -> &'static str {
        ""
    }

    fn trap_by(_is_first: bool, _a: u8, b: u8) -> &'static str {
        TRAPS[usize::from(b) % TRAPS.len()]
    }

    fn set_there(state: &mut State, kind: RecordKind) -> RecordSet {
        match kind {
            RecordKind::Mail => mail_there(state),
            RecordKind::Contact => {
                let names = state.contact_names(ALICE).into_iter();
                let line = |name: &String| text(&state.contact(ALICE, name)["names"][0]["givenName"]);
                names.map(|name| (name.clone(), line(&name))).collect()
            }
            RecordKind::Task => tasks_there(state),
        }
    }

    fn is_changeable(state: &mut State, kind: RecordKind, id: &str) -> bool {
        let is_sent = kind == RecordKind::Mail
            && state.mailbox(ALICE).messages.get(id).is_some_and(|message| message.labels.contains("SENT"));
        !is_sent
    }

    fn make_there(state: &mut State, kind: RecordKind, title: &str, message: &[u8]) {
        match kind {
            RecordKind::Mail => state.deliver(ALICE, message),
            RecordKind::Contact => state.put_contact(ALICE, json!({ "names": [{ "givenName": title }] })),
            RecordKind::Task => state.put_task(ALICE, json!({ "title": title })),
        };
    }

    fn change_there(state: &mut State, kind: RecordKind, id: &str, title: &str, number: u8) {
        match kind {
            RecordKind::Mail => {
                let (add, remove): (&[&str], &[&str]) = match number % 4 {
                    0 => (&["STARRED"], &[]),
                    1 => (&[], &["UNREAD"]),
                    2 => (&[], &["INBOX"]),
                    _ => (&["TRASH"], &["INBOX"]),
                };
                state.mailbox(ALICE).relabel(id, add, remove);
            }
            RecordKind::Contact => {
                state.change_contact(ALICE, id, json!({ "names": [{ "givenName": title }] }));
            }
            RecordKind::Task => {
                let is_open = state.task(ALICE, id)["status"] != "completed";
                match is_open && number.is_multiple_of(3) {
                    true => state.complete_task(ALICE, id),
                    false => state.change_task(ALICE, id, json!({ "title": title })),
                }
            }
        }
    }

    fn drop_there(state: &mut State, kind: RecordKind, id: &str) {
        match kind {
            RecordKind::Mail => {
                state.mailbox(ALICE).remove(id);
            }
            RecordKind::Contact => state.delete_contact(ALICE, id),
            RecordKind::Task => state.delete_task(ALICE, id),
        }
    }

    fn sent(state: &mut State) -> Vec<Vec<u8>> {
        state.sent.iter().map(|sent| sent.raw.clone()).collect()
    }
}

#[tokio::test]
async fn both_sides_have_the_same_records() {
    run::<RecordHistory<GoogleService>>().await;
}
