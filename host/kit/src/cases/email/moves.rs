//! Messages that go to another folder, or to the trash.

use model::email::folders::{Folder, FolderRole};
use model::wire::email::MessageDelete;
use model::wire::{Mutated, Source};
use runtime::Surface;
use serde_json::json;

use crate::bench::{Bench, Outcome, Verdict, ensure, failed};
use crate::cases::email::messages::MAIL;
use crate::cases::items::changes::now;
use crate::mail_bench::{folder_with_role, folders_in, message_of, reference};
use crate::surface_bench::{Collection, main_item, supported};

/// Roles of folders that show messages of other folders, or that the provider fills itself.
const NO_TARGETS: [FolderRole; 8] = [
    FolderRole::All,
    FolderRole::Important,
    FolderRole::Flagged,
    FolderRole::Outbox,
    FolderRole::Drafts,
    FolderRole::Sent,
    FolderRole::Trash,
    FolderRole::Junk,
];

/// Returns the fingerprint of a source's message.
fn fingerprint(source: &Source) -> Option<String> {
    main_item(source).and_then(|item| item.fingerprint.clone())
}

/// The source in an answer that is not deleted: the message as it is now.
fn present(mutated: &Mutated) -> Option<&Source> {
    mutated.sources.iter().find(|source| !source.deleted && message_of(source).is_some())
}

/// Ends the case unless the changes since `cursor` report the message in this folder: under the id that it had, or under a new one that
/// the host can connect with the old one.
async fn ensure_moved(
    bench: &mut Bench,
    folder: &Collection,
    cursor: Option<String>,
    before: &Source,
    target: &str,
) -> Outcome {
    const GONE: &str = "a message that moves is not deleted: report it with its new folderIds. Where the provider gives it another id, its source has previousId, or its item the fingerprint that the message had: the host keeps its id, thread and labels";
    let pages = bench.items(&MAIL, folder, 0, cursor).await?;
    let sources: Vec<&Source> = pages.iter().flat_map(|page| &page.sources.sources).collect();
    let is_same = |source: &Source| {
        source.external_id == before.external_id
            || source.previous_id.as_ref() == Some(&before.external_id)
            || fingerprint(before).is_some() && fingerprint(source) == fingerprint(before)
    };
    let found =
        sources.iter().rev().find(|source| !source.deleted && MAIL.is_record(source) && is_same(source));
    let Some(found) = found else {
        let gone = sources.iter().any(|source| source.deleted && source.external_id == before.external_id);
        let as_what = if gone { "reported as deleted" } else { "not reported" };
        return failed(format!("a message that moved is {as_what}"), GONE);
    };
    let folders = message_of(found).unwrap_or_default().folder_ids;
    ensure(
        folders == [target],
        || format!("a message that moved to \"{target}\" is reported in {folders:?}"),
        GONE,
    )
}

/// `M4`: a message that moves to another folder is not deleted.
pub async fn moved(bench: &mut Bench) -> Outcome {
    const HELP: &str = "folders has all folders that the message is in after the change";
    bench.needs_feature(&MAIL, "moveMessages").await?;
    let folder = bench.collection(&MAIL).await?;
    let source = bench.create_named(&MAIL, &folder, "M4").await?;
    let pages = bench.items(&MAIL, &folder, 0, None).await?;
    let fits = |id: &str, folder_of: &Folder| {
        let is_target = folder_of.role.is_none_or(|role| !NO_TARGETS.contains(&role));
        id != folder.id && is_target && folder_of.selectable
    };
    let target = folders_in(&pages).into_iter().find(|(id, other)| fits(id, other)).map(|(id, _)| id);
    let Some(target) = target else {
        return Err(Verdict::NotApplicable(
            "the mailbox has no other folder that messages can be moved to".to_owned(),
        ));
    };
    let cursor = now(bench, &MAIL, &folder).await?;
    let fields = json!({ "folders": [target] });
    let after = bench.update_item(&MAIL, &folder, &source, &fields, &MAIL.key("M4-after")).await?;
    let read = bench.read_message(&after.external_id, false, 0).await?;
    ensure(
        read.folder_ids == [target.as_str()],
        || format!("a message that was moved to \"{target}\" is in {:?}", read.folder_ids),
        HELP,
    )?;
    ensure_moved(bench, &folder, cursor, &source, &target).await
}

/// `M5`: a message that is deleted goes to the trash, and is still there.
pub async fn trashed(bench: &mut Bench) -> Outcome {
    const HELP: &str = "without permanent the message moves to the folder with the role trash; the answer has it as it is there";
    bench.needs_feature(&MAIL, "delete").await?;
    let folder = bench.collection(&MAIL).await?;
    let source = bench.create_named(&MAIL, &folder, "M5").await?;
    let pages = bench.items(&MAIL, &folder, 0, None).await?;
    let Some(trash) = folder_with_role(&pages, FolderRole::Trash) else {
        return Err(Verdict::NotApplicable("the mailbox has no trash".to_owned()));
    };
    let cursor = now(bench, &MAIL, &folder).await?;
    let args = MessageDelete { message: reference(&source.external_id), permanent: false, if_match: None };
    let deleted = bench.calls.mutate(Surface::Email, MAIL.delete_op, &args, &MAIL.key("M5-delete")).await;
    let deleted = supported(deleted, MAIL.delete_op)?;
    let Some(after) = present(&deleted) else {
        return failed("the answer of a deletion to the trash has no message", HELP);
    };
    let read = bench.read_message(&after.external_id, false, 0).await?;
    ensure(
        read.folder_ids == [trash.as_str()],
        || format!("a message that was deleted is in {:?}, and the trash is \"{trash}\"", read.folder_ids),
        HELP,
    )?;
    ensure_moved(bench, &folder, cursor, &source, &trash).await
}
