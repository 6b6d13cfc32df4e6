//! Folders, and the order of the initial sync.

use std::collections::HashSet;

use model::Instant;
use model::wire::email::MessageAppend;
use serde_json::json;

use crate::bench::{Bench, Outcome, ensure};
use crate::caller::Page;
use crate::cases::email::messages::{MAIL, append, head};
use crate::mail_bench::{folders_in, message_of};

/// Bytes of an id.
const MAX_ID_BYTES: usize = 1024;
/// Messages of the initial sync, and messages of a page.
const MESSAGES: i64 = 5;
const LIMIT: u32 = 2;
const HOUR_MS: i64 = 3_600_000;

/// `M1`: folders are reported before the messages in them, and no two things of the mailbox have one id.
pub async fn reported_first(bench: &mut Bench) -> Outcome {
    const FIRST: &str = "a folder or label is reported before the messages in it, or on their page: else the host has messages in no folder";
    const IDS: &str = "folders, labels and messages share one space of ids: prefix them where the provider's could be equal (F:1, L:1, M:1)";
    let folder = bench.collection(&MAIL).await?;
    bench.create_named(&MAIL, &folder, "M1").await?;
    let pages = bench.items(&MAIL, &folder, LIMIT, None).await?;
    let mut containers = HashSet::new();
    let mut messages = HashSet::new();
    for page in &pages {
        let (records, others): (Vec<_>, Vec<_>) = page
            .sources
            .sources
            .iter()
            .filter(|source| !source.deleted)
            .partition(|source| MAIL.is_record(source));
        containers.extend(others.iter().map(|source| source.external_id.as_str()));
        for source in records {
            let id = source.external_id.as_str();
            ensure(
                !id.is_empty() && id.len() <= MAX_ID_BYTES,
                || format!("a message has an id of {} bytes", id.len()),
                "externalId is the provider's id of the message, 1 to 1,024 bytes",
            )?;
            messages.insert(id);
            let message = message_of(source).unwrap_or_default();
            let mut named = message.folder_ids.iter().chain(&message.label_ids);
            let unknown = named.find(|id| !containers.contains(id.as_str()));
            ensure(
                unknown.is_none(),
                || format!("the message \"{id}\" is in {}, which was not reported before", json!(unknown)),
                FIRST,
            )?;
        }
    }
    let shared = messages.iter().find(|id| containers.contains(*id));
    ensure(
        shared.is_none(),
        || format!("a message and a folder or label have the id {}", json!(shared)),
        IDS,
    )?;
    each_role_once(&pages)
}

/// Ends the case if two folders have one role, or a folder's path does not end with its name.
fn each_role_once(pages: &[Page]) -> Outcome {
    let mut roles = HashSet::new();
    let mut seen = HashSet::new();
    for (id, folder) in folders_in(pages).into_iter().filter(|(id, _)| seen.insert(id.clone())) {
        let role = folder.role.map(|role| json!(role).to_string());
        ensure(
            role.is_none_or(|role| roles.insert(role)),
            || format!("two folders have the role {}", json!(folder.role)),
            "at most one folder has each role: leave the others without a role",
        )?;
        ensure(
            folder.path.is_empty() || folder.path.last() == Some(&folder.name),
            || format!("the folder \"{id}\" has the name {:?}, and the path {:?}", folder.name, folder.path),
            "path has the names from the root of the mailbox down to the folder, its own last",
        )?;
    }
    Ok(())
}

/// `M2`: the initial sync is newest first, and `coveredSince` says how far it is complete.
pub async fn newest_first(bench: &mut Bench) -> Outcome {
    const ORDER: &str = "without a cursor, messages are reported newest first: the host serves lists before it has read everything";
    const COVERED: &str = "coveredSince is the time from which on all messages have been reported: messages of the same second may follow, so say a second more than the oldest one of the page";
    let folder = bench.collection(&MAIL).await?;
    let start_ms = bench.now_ms();
    // In no order.
    for number in [2, 0, 4, 1, 3] {
        let label = MAIL.label(&format!("M2-{number}"));
        let message = format!("{}\r\nText.\r\n", head(&label, "swkit@example.test", "swkit@example.test"));
        let at = Instant::from_millis(start_ms - (MESSAGES - number) * HOUR_MS);
        let args = MessageAppend { received_at: Some(at), ..append(&folder, &label, message.as_bytes()) };
        bench.append_message(&args, &MAIL.key(&format!("M2-{number}"))).await?;
    }
    let pages = bench.items(&MAIL, &folder, LIMIT, None).await?;
    let (mut covered, mut oldest, mut seen) = (None::<Instant>, None::<Instant>, HashSet::new());
    for page in &pages {
        let mut oldest_of_page = oldest;
        for source in &page.sources.sources {
            let Some(message) = message_of(source).filter(|_| seen.insert(source.external_id.clone())) else {
                continue;
            };
            let at = message.received_at;
            ensure(
                covered.is_none_or(|since| at < since),
                || {
                    format!(
                        "a page has coveredSince {}, and a message of {at} comes on a later one",
                        text(covered)
                    )
                },
                COVERED,
            )?;
            // A provider that is read folder by folder has an order in each of them.
            if !message.folder_ids.contains(&folder.id) {
                continue;
            }
            ensure(
                covered.is_none() || oldest.is_none_or(|oldest| at <= oldest),
                || format!("a message of {at} comes on a later page than one of {}", text(oldest)),
                ORDER,
            )?;
            oldest_of_page = Some(oldest_of_page.map_or(at, |oldest| oldest.min(at)));
        }
        (covered, oldest) = (page.sources.covered_since.or(covered), oldest_of_page);
    }
    Ok(())
}

fn text(at: Option<Instant>) -> String {
    at.map(|at| at.to_string()).unwrap_or_default()
}
