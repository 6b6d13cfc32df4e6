//! Mail, contacts and tasks of Alice's at Graph, for histories.

use std::collections::BTreeSet;

use fakes::graph::{GraphService, GraphState};
use serde_json::json;

use crate::email::mailbox::text;
use crate::fake_provider::convergence::records::{RecordHistory, RecordKind, RecordProvider, RecordSet};
use crate::fake_provider::convergence::run;
use crate::microsoft::ALICE;
use crate::microsoft::convergence::COMMON_TRAPS;

/// The folders in which messages of a history can be: Graph's names, and our roles.
const FOLDERS: [(&str, &str); 5] = [
    ("inbox", "inbox"),
    ("archive", "archive"),
    ("deleteditems", "trash"),
    ("sentitems", "sent"),
    ("drafts", "drafts"),
];
/// The spellings of an expired token, for the next delta with one.
const EXPIRIES: [&str; 6] = [
    "delta_410_sync_state_not_found",
    "delta_404_sync_state_not_found",
    "delta_400_sync_state_invalid",
    "delta_410_resync_required",
    "delta_400_invalid_sync_state_data",
    "delta_400_id_malformed",
];
const TRAPS: [&str; 6] = [
    "removed_a_b_a",
    "partial_updates",
    "repeated_ids",
    "sent_copy_late",
    "sent_copy_renamed",
    "irresolvable_conflict",
];

fn message_there(state: &mut GraphState, id: &str) -> String {
    let role = folder_there(state, id);
    let item = state.mail_item(ALICE, id);
    let folders = BTreeSet::from([role]);
    format!("{} {} {} {folders:?}", item.content.subject, !item.is_read, item.flag == "flagged")
}

/// The role of the folder in which a message is at Graph.
fn folder_there(state: &mut GraphState, id: &str) -> String {
    let number = state.mail_item(ALICE, id).number;
    let folder = state.mailbox(ALICE).folder_of(number).unwrap_or_default().to_owned();
    let known = FOLDERS.iter().find(|(name, _)| *name == folder);
    known.map_or(folder, |(_, role)| (*role).to_owned())
}

impl RecordProvider for GraphService {
    const REFUSALS: &'static [u16] = &[403];

    fn calls(kind: RecordKind) -> &'static str {
        match kind {
            // `messages` and `mailFolders`.
            RecordKind::Mail => "/v1.0/me/m",
            RecordKind::Contact => "/v1.0/me/contact",
            RecordKind::Task => "/v1.0/me/todo",
        }
    }

    /// Graph gets a message as a draft, and then a request to send it.
    fn sending_path(number: u8) -> &'static str {
        if number.is_multiple_of(2) { "/me/messages" } else { "/send" }
    }

    fn trap_by(is_first: bool, a: u8, b: u8) -> &'static str {
        let chosen = usize::from(b);
        match is_first {
            true => TRAPS[chosen % TRAPS.len()],
            false if a.is_multiple_of(2) => EXPIRIES[chosen % EXPIRIES.len()],
            false => COMMON_TRAPS[chosen % COMMON_TRAPS.len()],
        }
    }

    fn set_there(state: &mut GraphState, kind: RecordKind) -> RecordSet {
        let mut set = RecordSet::new();
        match kind {
            RecordKind::Mail => {
                for id in state.mail_ids(ALICE) {
                    let line = message_there(state, &id);
                    set.insert(id, line);
                }
            }
            RecordKind::Contact => {
                for id in state.contact_ids(ALICE, "") {
                    let contact = state.stored_contact(ALICE, &id).unwrap_or_default();
                    set.insert(id, text(&contact["givenName"]));
                }
            }
            RecordKind::Task => {
                for id in state.task_ids(ALICE, "") {
                    let task = state.stored_task(ALICE, &id).unwrap_or_default();
                    let line = format!("{} {}", text(&task["title"]), task["status"] == "completed");
                    set.insert(id, line);
                }
            }
        }
        set
    }

    fn is_changeable(state: &mut GraphState, kind: RecordKind, id: &str) -> bool {
        kind != RecordKind::Mail || !["sent", "drafts"].contains(&folder_there(state, id).as_str())
    }

    fn make_there(state: &mut GraphState, kind: RecordKind, title: &str, message: &[u8]) {
        match kind {
            RecordKind::Mail => state.deliver(ALICE, message),
            RecordKind::Contact => state.put_contact(ALICE, "", json!({ "givenName": title })),
            RecordKind::Task => state.put_task(ALICE, "", json!({ "title": title })),
        };
    }

    fn change_there(state: &mut GraphState, kind: RecordKind, id: &str, title: &str, number: u8) {
        match kind {
            RecordKind::Mail => match number % 5 {
                0 => state.flag_mail(ALICE, id, "flagged"),
                1 => state.mark_mail_read(ALICE, id, true),
                2 => state.move_mail(ALICE, id, "archive"),
                3 => state.move_mail(ALICE, id, "deleteditems"),
                _ => state.move_mail(ALICE, id, "inbox"),
            },
            RecordKind::Contact => state.edit_contact(ALICE, id, json!({ "givenName": title })),
            RecordKind::Task if number.is_multiple_of(3) => {
                state.edit_task(ALICE, id, json!({ "status": "completed" }));
            }
            RecordKind::Task => state.edit_task(ALICE, id, json!({ "title": title })),
        }
    }

    fn drop_there(state: &mut GraphState, kind: RecordKind, id: &str) {
        match kind {
            RecordKind::Mail => state.delete_mail(ALICE, id),
            RecordKind::Contact => state.delete_contact(ALICE, id),
            RecordKind::Task => state.delete_task(ALICE, id),
        }
    }

    fn sent(state: &mut GraphState) -> Vec<Vec<u8>> {
        state.mailbox(ALICE).sent.iter().map(|sent| sent.raw.clone()).collect()
    }
}

#[tokio::test]
async fn both_sides_have_the_same_records() {
    run::<RecordHistory<GraphService>>().await;
}
