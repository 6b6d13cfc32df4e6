//! Folders: the delta of the folder tree, and the roles of folders. Each folder's messages have a separate delta.

use std::collections::{HashMap, HashSet};

use connector_sdk::http::{Request, Response};
use connector_sdk::rest::batch::{Part, PartOutcome};
use connector_sdk::{Context, Failure, Outcome, code};
use model::email::folders::{Folder, FolderRights, FolderRole};
use model::wire::{Item, JsonText, Source};

use crate::api::{accepted, exchange, object};
use crate::mail::cursor::{FeedPosition, FolderPosition, MailCursor};
use crate::mail::message::deleted_source;
use crate::mail::native::FolderEntry;
use crate::odata::page::Page;
use crate::odata::prefer::{Prefer, with};
use crate::odata::{batch, failures, root};

/// Graph's well-known folder names, which are the same in every language. An account may have no archive.
const WELL_KNOWN: [(&str, FolderRole); 7] = [
    ("inbox", FolderRole::Inbox),
    ("archive", FolderRole::Archive),
    ("drafts", FolderRole::Drafts),
    ("sentitems", FolderRole::Sent),
    ("deleteditems", FolderRole::Trash),
    ("junkemail", FolderRole::Junk),
    ("outbox", FolderRole::Outbox),
];

const SELECT: &str = "displayName,parentFolderId,totalItemCount,unreadItemCount";
const DOING: &str = "listing the folders";
/// The number of folders in a page.
const PAGE_SIZE: u32 = 200;
/// The maximum number of pages of folders that one call reads.
const MAX_PAGES: usize = 50;
/// The maximum number of ancestors in the path of a folder.
const MAX_DEPTH: usize = 100;
/// The type of saved searches, whose messages are in other folders.
const SEARCH_FOLDER: &str = "#microsoft.graph.mailSearchFolder";

/// The changes of the folder tree.
#[derive(Debug, Default)]
pub struct TreeChange {
    pub entries: Vec<FolderEntry>,
    /// The next position; none if the token has expired and the tree must be listed again.
    pub position: Option<FeedPosition>,
}

/// Returns the request for a page of the tree's delta.
pub fn request(at: Option<&FeedPosition>) -> Outcome<Request> {
    let query = at.map_or(("$select", SELECT), FeedPosition::parameter);
    let url = root::me(&["mailFolders", "delta"], &[query])?;
    Ok(with(Request::get(url), &[Prefer::PageSize(PAGE_SIZE)]))
}

/// Reads all pages of the tree's changes. `response` is the first page, requested at `at`.
pub fn read(context: &Context, at: Option<&FeedPosition>, response: Response) -> Outcome<TreeChange> {
    let mut change = TreeChange::default();
    let mut response = response;
    for _ in 0..MAX_PAGES {
        if !response.is_success() {
            let failure = failures::of_delta(context, &response, DOING);
            let is_expired = failure.code == code::CURSOR_EXPIRED && at.is_some();
            return if is_expired { Ok(TreeChange::default()) } else { Err(unknown_front(failure)) };
        }
        let page: Page<FolderEntry> = object(&response)?;
        let position = FeedPosition::from(page.position()?);
        change.entries.extend(page.value.into_iter().filter(|entry| !entry.id.is_empty()));
        if !position.has_more() {
            change.position = Some(position);
            return Ok(change);
        }
        response = exchange(context, request(Some(&position))?)?;
    }
    Err(Failure::unavailable("the provider's list of folders does not end"))
}

/// Converts `cursor-expired` to `unavailable` for a request that has no token of ours.
fn unknown_front(failure: Failure) -> Failure {
    match failure.code == code::CURSOR_EXPIRED {
        true => failure.with_code(code::UNAVAILABLE),
        false => failure,
    }
}

/// Lists the whole folder tree.
pub fn list(context: &Context) -> Outcome<TreeChange> {
    let response = exchange(context, request(None)?)?;
    read(context, None, response)
}

/// Returns the parts of a batch that ask for the folders with roles.
pub fn role_parts() -> Outcome<Vec<Part>> {
    let part = |(name, _): &(&str, FolderRole)| -> Outcome<Part> {
        let url = root::me(&["mailFolders", name], &[("$select", "id")])?;
        Ok(Part::new(*name, Request::get(url)))
    };
    WELL_KNOWN.iter().map(part).collect()
}

/// The roles by folder id, from the answers to `role_parts`. Fails if a part was not answered, because folders would then lack their roles.
pub fn read_roles(
    context: &Context,
    answers: &[(String, PartOutcome)],
) -> Outcome<HashMap<String, FolderRole>> {
    let mut roles = HashMap::new();
    for (name, outcome) in answers {
        let Some((_, role)) = WELL_KNOWN.iter().find(|(known, _)| known == name) else { continue };
        let PartOutcome::Answered(response) = outcome else {
            return Err(Failure::unavailable("the provider did not return the roles of the folders"));
        };
        match accepted(context, response.clone(), DOING) {
            Ok(response) => {
                let folder: FolderEntry = object(&response)?;
                roles.insert(folder.id, *role);
            }
            Err(failure) if failures::is_gone(&failure) => {}
            // A 404 of a front end says nothing about the folder.
            Err(failure) if failure.code == code::NOT_FOUND => {
                return Err(failure.with_code(code::UNAVAILABLE));
            }
            Err(failure) => return Err(failure),
        }
    }
    Ok(roles)
}

/// Reads the roles of folders in one batch.
pub fn find_roles(context: &Context) -> Outcome<HashMap<String, FolderRole>> {
    let outcome = batch::read(context, role_parts()?, batch::MAX_PARTS, DOING)?;
    read_roles(context, &outcome.parts)
}

/// The result of applying a change of the tree to the cursor.
#[derive(Debug, Default)]
pub struct TreeEffect {
    /// The folders that are new or changed.
    pub changed: Vec<Source>,
    /// The deleted folders.
    pub gone: Vec<Source>,
    pub has_new: bool,
}

/// Applies changes of the tree to the cursor. `is_list`: whether they are the complete list of folders.
pub fn take(cursor: &mut MailCursor, entries: &[FolderEntry], is_list: bool) -> TreeEffect {
    let mut effect = TreeEffect::default();
    let mut touched: HashSet<String> = HashSet::new();
    for entry in entries.iter().filter(|entry| entry.kind.as_deref() != Some(SEARCH_FOLDER)) {
        if entry.removed.is_some() {
            drop_folder(cursor, &entry.id, &mut effect);
            continue;
        }
        if cursor.folder(&entry.id).is_none() {
            cursor.folders.push(FolderPosition::new(&entry.id));
            effect.has_new = true;
            touched.insert(entry.id.clone());
        }
        if let Some(folder) = cursor.folder_mut(&entry.id)
            && update(folder, entry)
        {
            touched.insert(entry.id.clone());
        }
    }
    if is_list {
        let listed: HashSet<&String> = entries.iter().map(|entry| &entry.id).collect();
        let lost: Vec<String> = cursor
            .folders
            .iter()
            .map(|folder| &folder.id)
            .filter(|id| !listed.contains(id))
            .cloned()
            .collect();
        lost.iter().for_each(|id| drop_folder(cursor, id, &mut effect));
    }
    // The path of a folder contains the names of its ancestors.
    let is_touched =
        |folder: &&FolderPosition| way_up(cursor, folder).iter().any(|one| touched.contains(&one.id));
    effect.changed = cursor.folders.iter().filter(is_touched).map(|folder| source(cursor, folder)).collect();
    effect
}

fn drop_folder(cursor: &mut MailCursor, id: &str, effect: &mut TreeEffect) {
    let Some(at) = cursor.folders.iter().position(|folder| folder.id == id) else { return };
    let folder = cursor.folders.remove(at);
    // The messages of a deleted folder may be deleted with it, which no other folder reports. If an initial sync has read none of them,
    // nothing has to be corrected.
    let is_reported = !cursor.is_first || folder.at.is_some() || folder.oldest.is_some();
    cursor.is_incomplete |= is_reported && folder.total != Some(0);
    effect.gone.push(deleted_source(id));
}

/// Updates the folder from the entry. Returns whether anything changed.
fn update(folder: &mut FolderPosition, entry: &FolderEntry) -> bool {
    let before = folder.clone();
    if let Some(name) = &entry.display_name {
        folder.name.clone_from(name);
    }
    folder.parent = entry.parent_folder_id.clone().or(folder.parent.take());
    folder.total = entry.total_item_count.or(folder.total);
    folder.unread = entry.unread_item_count.or(folder.unread);
    *folder != before
}

/// Stores the roles in the cursor, and returns the folders whose role changed.
pub fn take_roles(cursor: &mut MailCursor, roles: &HashMap<String, FolderRole>) -> Vec<Source> {
    let mut changed = Vec::new();
    for folder in &mut cursor.folders {
        let role = roles.get(&folder.id).copied();
        if folder.role != role {
            folder.role = role;
            changed.push(folder.id.clone());
        }
    }
    let changed = changed.iter().filter_map(|id| cursor.folder(id));
    changed.map(|folder| source(cursor, folder)).collect()
}

/// The folder and its ancestors, starting with itself, without the root of the mailbox.
fn way_up<'c>(cursor: &'c MailCursor, folder: &'c FolderPosition) -> Vec<&'c FolderPosition> {
    let mut way = vec![folder];
    while let Some(parent) =
        way.last().and_then(|last| last.parent.as_deref()).and_then(|id| cursor.folder(id))
    {
        if way.len() >= MAX_DEPTH {
            break;
        }
        way.push(parent);
    }
    way
}

/// Returns all folders.
pub fn sources(cursor: &MailCursor) -> Vec<Source> {
    cursor.folders.iter().map(|folder| source(cursor, folder)).collect()
}

fn source(cursor: &MailCursor, folder: &FolderPosition) -> Source {
    let way = way_up(cursor, folder);
    let is_system = folder.role.is_some();
    let body = Folder {
        name: folder.name.clone(),
        path: way.iter().rev().map(|one| one.name.clone()).collect(),
        parent_id: way.get(1).map(|parent| parent.id.clone()),
        role: folder.role,
        total_count: folder.total,
        unread_count: folder.unread,
        subscribed: true,
        selectable: true,
        rights: FolderRights {
            read: true,
            add: folder.role != Some(FolderRole::Outbox),
            remove: true,
            set_flags: true,
            rename: false,
            delete: false,
        },
        system: is_system,
        ..Folder::default()
    };
    let body = JsonText::of(&body).unwrap_or_default();
    let item = Item {
        external_id: folder.id.clone(),
        kind: Some("email_folder".to_owned()),
        body,
        ..Item::default()
    };
    Source { external_id: folder.id.clone(), items: vec![item], ..Source::default() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn entries(list: serde_json::Value) -> Vec<FolderEntry> {
        serde_json::from_value(list).unwrap()
    }

    fn read_folder(source: &Source) -> Folder {
        source.items[0].body.read().unwrap()
    }

    #[test]
    fn a_tree_has_paths_and_roles() {
        let mut cursor = MailCursor::default();
        let list = entries(json!([
            { "id": "in", "displayName": "Posteingang", "parentFolderId": "root", "totalItemCount": 7, "unreadItemCount": 2 },
            { "id": "sub", "displayName": "2026/03", "parentFolderId": "in" },
            { "id": "all", "displayName": "Unread", "@odata.type": "#microsoft.graph.mailSearchFolder" },
        ]));
        let effect = take(&mut cursor, &list, false);
        assert!(effect.has_new && effect.gone.is_empty() && effect.changed.len() == 2);
        let roles = HashMap::from([("in".to_owned(), FolderRole::Inbox)]);
        let changed = take_roles(&mut cursor, &roles);
        let inbox = read_folder(&changed[0]);
        assert_eq!(
            (changed.len(), inbox.role, inbox.parent_id.as_deref()),
            (1, Some(FolderRole::Inbox), None)
        );
        assert_eq!((inbox.total_count, inbox.unread_count, inbox.system), (Some(7), Some(2), true));
        let sub = read_folder(&sources(&cursor)[1]);
        assert_eq!(
            (sub.path, sub.parent_id.as_deref()),
            (vec!["Posteingang".into(), "2026/03".into()], Some("in"))
        );
        assert!(take_roles(&mut cursor, &roles).is_empty());
    }

    /// A page of the delta may contain only the changed members.
    #[test]
    fn a_change_of_a_folder_is_taken_by_members() {
        let mut cursor = MailCursor::default();
        let list = json!([
            { "id": "a", "displayName": "A", "parentFolderId": "root", "totalItemCount": 0 },
            { "id": "b", "displayName": "B", "parentFolderId": "a", "totalItemCount": 3 },
        ]);
        take(&mut cursor, &entries(list.clone()), true);
        assert!(take(&mut cursor, &entries(list), false).changed.is_empty());
        let effect = take(&mut cursor, &entries(json!([{ "id": "a", "displayName": "C" }])), false);
        let paths: Vec<String> = effect.changed.iter().map(|one| read_folder(one).path.join("/")).collect();
        assert_eq!(paths, ["C", "C/B"]);
        let removed = json!([{ "id": "a", "@removed": { "reason": "deleted" } }]);
        let effect = take(&mut cursor, &entries(removed), false);
        assert_eq!((effect.gone.len(), cursor.folders.len(), cursor.is_incomplete), (1, 1, false));
        // No folder reports the messages that were in it.
        let effect = take(&mut cursor, &[], true);
        assert_eq!((effect.gone.len(), cursor.folders.len(), cursor.is_incomplete), (1, 0, true));
        // During an initial sync that applies only to messages that were already reported.
        for (oldest, expected) in [(None, false), (Some(7), true)] {
            let folder = FolderPosition { oldest, ..FolderPosition::new("a") };
            let mut cursor = MailCursor { is_first: true, folders: vec![folder], ..MailCursor::default() };
            take(&mut cursor, &[], true);
            assert_eq!(cursor.is_incomplete, expected, "{oldest:?}");
        }
    }
}
