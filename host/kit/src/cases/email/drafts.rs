//! Drafts: stored, replaced, deleted.

use model::email::EmailMessage;
use model::email::folders::FolderRole;
use model::wire::Source;
use model::wire::email::DraftSave;
use runtime::{Code, Error, Surface};

use crate::bench::{Bench, Outcome, describe_error, ensure, failed, must};
use crate::cases::email::messages::{MAIL, content, head, message_id};
use crate::mail_bench::{folder_with_role, reference, with_subject};
use crate::surface_bench::{Collection, optional, supported, written_source};

const ONCE: &str = "a repeated attempt looks for the draft of the first one: the same Message-ID and the same bytes in the drafts folder";
const REPLACED: &str = "store the new version first, then delete the one that it replaces; previousId of the new source names the old one";
const STALE: &str = "a version that is gone, or another one than ifMatch names, is failure conflict or not-found, and nothing is written: someone else has changed the draft";

/// The arguments that store a draft with this subject. All versions of a draft have one Message-ID.
fn draft(subject: &str) -> DraftSave {
    const VERSIONED: &str = "swkit-email-M6";
    let message = head(subject, "swkit@example.test", "swkit@example.test");
    let id = message_id(VERSIONED);
    let message = message.replace(&message_id(subject), &id);
    DraftSave {
        blob: content(format!("{message}\r\nText of {subject}.\r\n").as_bytes()),
        internet_message_id: id,
        ..DraftSave::default()
    }
}

async fn save(bench: &mut Bench, args: &DraftSave, of: &str) -> Result<Source, Error> {
    let saved = bench.calls.mutate(Surface::Email, "drafts.save", args, &MAIL.key(of)).await?;
    Ok(written_source(&saved).unwrap_or_default())
}

/// The drafts with this subject in the whole mailbox.
async fn drafts(
    bench: &mut Bench,
    folder: &Collection,
    subject: &str,
) -> Outcome<Vec<(String, EmailMessage)>> {
    let pages = bench.items(&MAIL, folder, 0, None).await?;
    Ok(with_subject(&pages, subject))
}

/// `M6`: a draft is stored once, replaced by its next version, and deleted.
pub async fn saved(bench: &mut Bench) -> Outcome {
    bench.needs_feature(&MAIL, "drafts").await?;
    let folder = bench.collection(&MAIL).await?;
    let (first_subject, second_subject) = (MAIL.label("M6-first"), MAIL.label("M6-second"));
    let first = supported(save(bench, &draft(&first_subject), "M6-1").await, "drafts.save")?;
    let again = must(save(bench, &draft(&first_subject), "M6-1").await, "drafts.save again")?;
    let count = drafts(bench, &folder, &first_subject).await?.len();
    ensure(
        count == 1 && first.external_id == again.external_id,
        || {
            let (one, other) = (&first.external_id, &again.external_id);
            format!(
                "a draft that was stored twice under one key is there {count} times, as \"{one}\" and \"{other}\""
            )
        },
        ONCE,
    )?;
    ensure_draft(bench, &folder, &first.external_id).await?;
    let replaces = Some(reference(&first.external_id));
    let next = DraftSave { replaces, if_match: first.etag.clone(), ..draft(&second_subject) };
    let second = must(save(bench, &next, "M6-2").await, "drafts.save of the next version")?;
    let (old, new) = (
        drafts(bench, &folder, &first_subject).await?.len(),
        drafts(bench, &folder, &second_subject).await?.len(),
    );
    ensure(
        (old, new) == (0, 1),
        || {
            format!(
                "after a draft was replaced, the old version is there {old} times, and the new one {new} times"
            )
        },
        REPLACED,
    )?;
    let is_known =
        first.external_id == second.external_id || second.previous_id.as_ref() == Some(&first.external_id);
    ensure(
        is_known,
        || {
            format!(
                "previousId of the new version is {:?}, and the old one was \"{}\"",
                second.previous_id, first.external_id
            )
        },
        REPLACED,
    )?;
    ensure_stale(bench, &folder, first).await?;
    let gone = bench.try_delete_item(&MAIL, &folder, &second.external_id, &MAIL.key("M6-delete")).await;
    let is_deleted = optional(gone, MAIL.delete_op)?.is_some();
    let left = drafts(bench, &folder, &second_subject).await?.len();
    ensure(left == 0 || !is_deleted, || "a deleted draft is still in the mailbox".to_owned(), REPLACED)
}

/// Ends the case unless this version of a draft, which another one has replaced, cannot be replaced again.
async fn ensure_stale(bench: &mut Bench, folder: &Collection, old: Source) -> Outcome {
    let subject = MAIL.label("M6-late");
    if old.etag.is_none() {
        return Ok(());
    }
    let replaces = Some(reference(&old.external_id));
    let late = DraftSave { replaces, if_match: old.etag, ..draft(&subject) };
    match save(bench, &late, "M6-3").await {
        Err(error) if [Code::Conflict, Code::NotFound].contains(&error.code) => {}
        Err(error) => {
            return failed(format!("replacing an old version fails: {}", describe_error(&error)), STALE);
        }
        Ok(_) => return failed("an old version of a draft is replaced a second time", STALE),
    }
    let count = drafts(bench, folder, &subject).await?.len();
    ensure(count == 0, || "the rejected draft was written".to_owned(), STALE)
}

/// Ends the case unless this message is a draft, read, in the drafts folder.
async fn ensure_draft(bench: &mut Bench, folder: &Collection, id: &str) -> Outcome {
    const HELP: &str = "a draft is stored with the flag draft, as read, in the folder with the role drafts";
    let read = bench.read_message(id, false, 0).await?;
    let pages = bench.items(&MAIL, folder, 0, None).await?;
    let is_there = match folder_with_role(&pages, FolderRole::Drafts) {
        Some(drafts) => read.folder_ids.contains(&drafts),
        None => true,
    };
    ensure(
        read.draft && !read.unread && is_there,
        || {
            let EmailMessage { draft, unread, folder_ids, .. } = &read;
            format!("a new draft has draft {draft}, unread {unread}, and is in {folder_ids:?}")
        },
        HELP,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_versions_of_a_draft_have_one_message_id() {
        let (first, second) = (draft("first"), draft("second"));
        assert_eq!(first.internet_message_id, second.internet_message_id);
        assert_ne!(first.blob, second.blob);
    }
}
