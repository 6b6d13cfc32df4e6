//! Maps Gmail's labels to folders, labels and flags: the state of a message by its labels, and the labels that a change adds and removes.
//!
//! Five system labels are folders; a message with none of them is in a sixth folder of ours, the archive. Some system labels are flags. All
//! others are labels: those of the user, and system labels such as `CATEGORY_SOCIAL`.

use std::hash::{DefaultHasher, Hash, Hasher};

use connector_sdk::{Failure, Outcome, code};
use model::email::Importance;
use model::email::folders::{Folder, FolderRights, FolderRole, Label, LabelColor, LabelVisibility};
use model::wire::email::MessageUpdate;
use model::wire::{Item, ItemError, JsonText, Source, Warning};
use serde::Serialize;

use crate::calendar::patch::field_warning;
use crate::mail::native::{LabelEntry, LabelList};

pub const INBOX: &str = "INBOX";
pub const SENT: &str = "SENT";
pub const DRAFT: &str = "DRAFT";
pub const SPAM: &str = "SPAM";
pub const TRASH: &str = "TRASH";
/// The folder of messages that are in none of Gmail's folders. It is not a label of Gmail.
pub const ARCHIVE: &str = "ARCHIVE";

pub const UNREAD: &str = "UNREAD";
pub const STARRED: &str = "STARRED";
pub const IMPORTANT: &str = "IMPORTANT";
/// The label of Google Chat messages, which are not mail.
const CHAT: &str = "CHAT";
/// The label of messages that Gmail will send later; they are not mail yet.
const SCHEDULED: &str = "SCHEDULED";

/// The folders in display order: id, name and role.
const FOLDERS: [(&str, &str, FolderRole); 6] = [
    (INBOX, "Inbox", FolderRole::Inbox),
    (DRAFT, "Drafts", FolderRole::Drafts),
    (SENT, "Sent", FolderRole::Sent),
    (ARCHIVE, "Archive", FolderRole::Archive),
    (SPAM, "Spam", FolderRole::Junk),
    (TRASH, "Trash", FolderRole::Trash),
];
/// The labels that are folders in Gmail.
pub const GMAIL_FOLDERS: [&str; 5] = [INBOX, SENT, DRAFT, SPAM, TRASH];
/// Folders that a message can be put into and taken out of.
const MOVABLE: [&str; 3] = [INBOX, SPAM, TRASH];
/// Folders that exclude all other folders of a message.
const APART: [&str; 2] = [TRASH, SPAM];
/// Labels that are flags or states, and not shown to users as labels.
const MARKS: [&str; 5] = [UNREAD, STARRED, IMPORTANT, CHAT, SCHEDULED];

/// The maximum number of labels that one change can add, and that it can remove.
const MAX_CHANGED_LABELS: usize = 100;
/// The maximum number of labels of an account, which is Gmail's limit.
const MAX_LABELS: usize = 10_000;

const FOLDER_KIND: &str = "email_folder";
const LABEL_KIND: &str = "email_label";

/// The state of a message by its labels. Its JSON is the body of a partial item.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LabelState {
    pub unread: bool,
    pub starred: bool,
    pub draft: bool,
    pub importance: Importance,
    pub folder_ids: Vec<String>,
    pub label_ids: Vec<String>,
}

impl LabelState {
    /// Returns the state for these labels; none for chats and scheduled messages, which are left out.
    pub fn from_labels(labels: &[String]) -> Option<LabelState> {
        let has = |label: &str| labels.iter().any(|id| id == label);
        if has(CHAT) || has(SCHEDULED) {
            return None;
        }
        let mut label_ids: Vec<String> = labels.iter().filter(|id| is_label(id)).cloned().collect();
        label_ids.sort_unstable();
        label_ids.dedup();
        Some(LabelState {
            unread: has(UNREAD),
            starred: has(STARRED),
            draft: has(DRAFT),
            importance: if has(IMPORTANT) { Importance::High } else { Importance::Normal },
            folder_ids: folders_of(labels),
            label_ids,
        })
    }
}

/// Returns the folders for these labels. A message in the trash or in spam is in no other folder, although Gmail can report the labels of
/// both while it moves a message.
fn folders_of(labels: &[String]) -> Vec<String> {
    let has = |label: &str| labels.iter().any(|id| id == label);
    if let Some(apart) = APART.into_iter().find(|folder| has(folder)) {
        return vec![apart.to_owned()];
    }
    let found: Vec<String> =
        [INBOX, SENT, DRAFT].into_iter().filter(|folder| has(folder)).map(str::to_owned).collect();
    if found.is_empty() { vec![ARCHIVE.to_owned()] } else { found }
}

/// Whether this label is shown to users: it is neither a folder nor a flag.
pub fn is_label(id: &str) -> bool {
    !id.is_empty() && id != ARCHIVE && !GMAIL_FOLDERS.contains(&id) && !MARKS.contains(&id)
}

/// Whether this is the id of a folder, the archive among them.
pub fn is_folder(id: &str) -> bool {
    FOLDERS.iter().any(|(folder, _, _)| *folder == id)
}

/// Returns the folders, which are the same in each account.
pub fn folder_sources() -> Vec<Source> {
    let source = |(order, (id, name, role)): (i64, &(&str, &str, FolderRole))| {
        let is_movable = MOVABLE.contains(id) || *id == ARCHIVE;
        let folder = Folder {
            name: (*name).to_owned(),
            path: vec![(*name).to_owned()],
            role: Some(*role),
            sort_order: order,
            subscribed: true,
            selectable: true,
            rights: FolderRights {
                read: true,
                add: is_movable,
                remove: is_movable,
                set_flags: true,
                rename: false,
                delete: false,
            },
            system: true,
            ..Folder::default()
        };
        source_of(id, FOLDER_KIND, &folder)
    };
    (0_i64..).zip(&FOLDERS).map(source).collect()
}

/// The labels of an account.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LabelSet {
    pub sources: Vec<Source>,
}

impl LabelSet {
    /// Reads the labels of Gmail's answer. A malformed label becomes a source with an error.
    pub fn from_list(list: &LabelList) -> LabelSet {
        let entries = list.labels.iter().take(MAX_LABELS);
        let sources = entries.filter_map(|record| match serde_json::from_str::<LabelEntry>(record.get()) {
            Ok(entry) if is_label(&entry.id) => Some(source_of(&entry.id, LABEL_KIND, &label_of(&entry))),
            Ok(_) => None,
            Err(_) => unreadable_label(record.get()),
        });
        LabelSet { sources: sources.collect() }
    }

    /// The ids of all labels.
    pub fn ids(&self) -> Vec<String> {
        self.sources.iter().map(|source| source.external_id.clone()).collect()
    }

    /// A hash of all reported data of the labels.
    pub fn digest(&self) -> String {
        let mut hasher = DefaultHasher::new();
        for source in &self.sources {
            source.external_id.hash(&mut hasher);
            let body = source.items.first().map(|item| item.body.as_str()).unwrap_or_default();
            body.hash(&mut hasher);
        }
        format!("{:016x}", hasher.finish())
    }
}

fn label_of(entry: &LabelEntry) -> Label {
    let is_hidden = entry.label_list_visibility.as_deref() == Some("labelHide");
    Label {
        name: mail::foreign::one_line(&entry.name),
        color: entry.color.as_ref().map(|color| LabelColor {
            background: color.background_color.clone(),
            text: color.text_color.clone(),
        }),
        system: entry.kind.as_deref() == Some("system"),
        visibility: if is_hidden { LabelVisibility::Hide } else { LabelVisibility::Show },
        ..Label::default()
    }
}

/// The source for a malformed label; none if it has no id either.
fn unreadable_label(record: &str) -> Option<Source> {
    #[derive(serde::Deserialize)]
    struct LabelId {
        id: String,
    }
    let id = serde_json::from_str::<LabelId>(record).ok()?.id;
    let message = "the provider's description of this label cannot be read".to_owned();
    let error = ItemError { code: "unreadable".to_owned(), message };
    is_label(&id).then(|| Source { external_id: id, error: Some(error), ..Source::default() })
}

fn source_of(id: &str, kind: &str, resource: &impl Serialize) -> Source {
    let body = JsonText::of(resource).unwrap_or_default();
    let item = Item { external_id: id.to_owned(), kind: Some(kind.to_owned()), body, ..Item::default() };
    Source { external_id: id.to_owned(), items: vec![item], ..Source::default() }
}

/// Labels to add to a message and to remove from it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LabelChange {
    pub add: Vec<String>,
    pub remove: Vec<String>,
    /// Warnings about fields that Gmail does not support.
    pub warnings: Vec<Warning>,
}

impl LabelChange {
    /// Whether there is nothing to change.
    pub fn is_empty(&self) -> bool {
        self.add.is_empty() && self.remove.is_empty()
    }

    fn set(&mut self, label: &str, is_wanted: bool) {
        let list = if is_wanted { &mut self.add } else { &mut self.remove };
        if !list.iter().any(|id| id == label) {
            list.push(label.to_owned());
        }
    }
}

/// Whether `label_change` needs the current labels of the message, because only Gmail itself moves messages to Sent and Drafts.
pub fn needs_labels(wanted: &MessageUpdate) -> bool {
    wanted.folders.iter().flatten().any(|folder| folder == SENT || folder == DRAFT)
}

/// Returns the labels to add and to remove for this change. With the current labels, `now`, the result has no labels that are already added
/// or removed. Fails with `unsupported` for folders that a message cannot be in, and with `not-found` for unknown ids.
pub fn label_change(now: Option<&[String]>, wanted: &MessageUpdate) -> Outcome<LabelChange> {
    let mut change = LabelChange::default();
    for (label, is_wanted) in [(UNREAD, wanted.unread), (STARRED, wanted.starred)] {
        if let Some(is_wanted) = is_wanted {
            change.set(label, is_wanted);
        }
    }
    if let Some(importance) = wanted.importance {
        change.set(IMPORTANT, importance == Importance::High);
        if importance == Importance::Low {
            change.warnings.push(field_warning("importance", "Gmail knows important messages and others"));
        }
    }
    let lost = [
        ("answered", wanted.answered.is_some()),
        ("forwarded", wanted.forwarded.is_some()),
        ("keywords", !wanted.add_keywords.is_empty() || !wanted.remove_keywords.is_empty()),
    ];
    for (field, _) in lost.into_iter().filter(|(_, is_given)| *is_given) {
        change.warnings.push(field_warning(field, "Gmail does not keep this"));
    }
    if let Some(folders) = &wanted.folders {
        move_to(&mut change, now.unwrap_or_default(), folders)?;
    }
    for (labels, is_wanted) in [(&wanted.add_labels, true), (&wanted.remove_labels, false)] {
        for label in labels {
            if !is_label(label) {
                return Err(Failure::not_found("there is no label with this id at the provider"));
            }
            change.set(label, is_wanted);
        }
    }
    // Gmail refuses a label that is both added and removed.
    change.remove.retain(|label| !change.add.contains(label));
    if let Some(now) = now {
        change.add.retain(|label| !now.contains(label));
        change.remove.retain(|label| now.contains(label));
    }
    if change.add.len().max(change.remove.len()) > MAX_CHANGED_LABELS {
        return Err(Failure::invalid("at most 100 labels of a message can be changed at once"));
    }
    Ok(change)
}

/// Adds the labels that move a message with the labels `now` to these folders.
fn move_to(change: &mut LabelChange, now: &[String], folders: &[String]) -> Outcome<()> {
    let unsupported = |message: &str| Failure::new(code::UNSUPPORTED, message);
    let has = |folder: &str| folders.iter().any(|id| id == folder);
    if folders.is_empty() {
        return Err(Failure::invalid("name at least one folder for the message"));
    }
    if folders.iter().any(|folder| !is_folder(folder)) {
        return Err(Failure::not_found("there is no folder with this id at the provider"));
    }
    if let Some(apart) = APART.into_iter().find(|folder| has(folder))
        && folders.iter().any(|folder| folder != apart)
    {
        return Err(unsupported("a message in the trash or in spam is in no other folder"));
    }
    if has(ARCHIVE) && has(INBOX) {
        return Err(unsupported("a message in the archive is not in the inbox"));
    }
    let is_foreign = |folder: &&str| has(folder) && !now.iter().any(|label| label == folder);
    if [SENT, DRAFT].iter().any(is_foreign) {
        return Err(unsupported("Gmail alone puts messages into the folders of drafts and of sent messages"));
    }
    for folder in MOVABLE {
        change.set(folder, has(folder));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn labels(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn state(names: &[&str]) -> LabelState {
        LabelState::from_labels(&labels(names)).unwrap()
    }

    /// Applies a change to a list of labels.
    fn apply(change: &LabelChange, labels: &[String]) -> Vec<String> {
        let kept = labels.iter().filter(|label| !change.remove.contains(label));
        let added = change.add.iter().filter(|label| !labels.contains(label));
        kept.chain(added).cloned().collect()
    }

    fn to_folders(names: &[&str]) -> MessageUpdate {
        MessageUpdate { folders: Some(labels(names)), ..MessageUpdate::default() }
    }

    #[test]
    fn labels_say_where_a_message_is() {
        for (names, folders) in [
            (&["INBOX", "UNREAD", "Label_1"][..], &["INBOX"][..]),
            (&["SENT", "INBOX"], &["INBOX", "SENT"]),
            (&["DRAFT"], &["DRAFT"]),
            (&[], &["ARCHIVE"]),
            (&["Label_1", "CATEGORY_SOCIAL"], &["ARCHIVE"]),
            // A move to the trash is reported in two steps.
            (&["INBOX", "TRASH"], &["TRASH"]),
            (&["SENT", "SPAM"], &["SPAM"]),
        ] {
            assert_eq!(state(names).folder_ids, folders, "{names:?}");
        }
        let found =
            state(&["UNREAD", "STARRED", "IMPORTANT", "INBOX", "Label_2", "CATEGORY_SOCIAL", "Label_2"]);
        assert!(found.unread && found.starred && !found.draft && found.importance == Importance::High);
        assert_eq!(found.label_ids, ["CATEGORY_SOCIAL", "Label_2"]);
        for name in ["CHAT", "SCHEDULED"] {
            assert_eq!(LabelState::from_labels(&labels(&["UNREAD", name])), None);
        }
    }

    #[test]
    fn folders_have_roles() {
        let sources = folder_sources();
        let folders: Vec<Folder> =
            sources.iter().map(|source| source.items[0].body.read().unwrap()).collect();
        let roles: Vec<FolderRole> = folders.iter().filter_map(|folder| folder.role).collect();
        use FolderRole::{Archive, Drafts, Inbox, Junk, Sent, Trash};
        assert_eq!(roles, [Inbox, Drafts, Sent, Archive, Junk, Trash]);
        let fixed: Vec<&str> =
            folders.iter().filter(|folder| !folder.rights.add).map(|folder| folder.name.as_str()).collect();
        assert_eq!(fixed, ["Drafts", "Sent"]);
    }

    #[test]
    fn a_label_that_cannot_be_read_is_told_as_such() {
        let list = r##"{"labels":[{"id":"INBOX","name":"INBOX","type":"system"},{"id":"STARRED","type":"system"},
            {"id":"Label_1","name":"Work/Travel","type":"user","labelListVisibility":"labelHide",
             "color":{"backgroundColor":"#fb4c2f","textColor":"#ffffff"}},
            {"id":"CATEGORY_SOCIAL","name":"CATEGORY_SOCIAL","type":"system"},{"id":"Label_2","name":7},{"name":7}]}"##;
        let set = LabelSet::from_list(&serde_json::from_str(list).unwrap());
        assert_eq!(set.ids(), ["Label_1", "CATEGORY_SOCIAL", "Label_2"]);
        let label: Label = set.sources[0].items[0].body.read().unwrap();
        assert_eq!((label.name.as_str(), label.system), ("Work/Travel", false));
        assert_eq!(label.visibility, LabelVisibility::Hide);
        assert_eq!(label.color.unwrap().background.as_deref(), Some("#fb4c2f"));
        assert!(set.sources[2].error.is_some());
        assert_ne!(set.digest(), LabelSet::default().digest());
        assert_eq!(set.digest(), set.clone().digest());
    }

    #[test]
    fn a_move_needs_no_reading() {
        let change = |names: &[&str]| label_change(None, &to_folders(names)).unwrap();
        let archived = change(&["ARCHIVE"]);
        assert_eq!((archived.add.len(), archived.remove), (0, labels(&["INBOX", "SPAM", "TRASH"])));
        let trashed = change(&["TRASH"]);
        assert_eq!((trashed.add, trashed.remove), (labels(&["TRASH"]), labels(&["INBOX", "SPAM"])));
        assert!(!needs_labels(&to_folders(&["TRASH"])) && needs_labels(&to_folders(&["INBOX", "SENT"])));
    }

    #[test]
    fn a_folder_that_a_message_cannot_be_in_is_refused() {
        let refusal = |now: &[&str], names: &[&str]| {
            label_change(Some(&labels(now)), &to_folders(names)).unwrap_err().code
        };
        assert_eq!(refusal(&["INBOX"], &["INBOX", "SENT"]), code::UNSUPPORTED);
        assert_eq!(refusal(&["INBOX"], &["TRASH", "INBOX"]), code::UNSUPPORTED);
        assert_eq!(refusal(&["INBOX"], &["ARCHIVE", "INBOX"]), code::UNSUPPORTED);
        assert_eq!(refusal(&["INBOX"], &["Label_1"]), code::NOT_FOUND);
        assert_eq!(refusal(&["INBOX"], &[]), code::INVALID);
        let kept = label_change(Some(&labels(&["SENT", "INBOX"])), &to_folders(&["SENT"])).unwrap();
        assert_eq!((kept.add.len(), kept.remove), (0, labels(&["INBOX"])));
    }

    #[test]
    fn fields_that_gmail_does_not_have_are_warned_of() {
        let wanted = MessageUpdate {
            answered: Some(true),
            add_keywords: labels(&["$junk"]),
            importance: Some(Importance::Low),
            add_labels: labels(&["Label_1", "Label_2"]),
            remove_labels: labels(&["Label_1", "Label_3"]),
            ..MessageUpdate::default()
        };
        let change = label_change(None, &wanted).unwrap();
        let fields: Vec<_> = change.warnings.iter().filter_map(|warning| warning.target.as_deref()).collect();
        assert_eq!(fields, ["importance", "answered", "keywords"]);
        // A label that is both added and removed is added.
        assert_eq!(change.add, ["Label_1", "Label_2"]);
        assert_eq!(change.remove, ["IMPORTANT", "Label_3"]);
        let mark = MessageUpdate { add_labels: labels(&["UNREAD"]), ..MessageUpdate::default() };
        assert_eq!(label_change(None, &mark).unwrap_err().code, code::NOT_FOUND);
        let many: Vec<String> = (0..101).map(|number| format!("Label_{number}")).collect();
        let many = MessageUpdate { add_labels: many, ..MessageUpdate::default() };
        assert_eq!(label_change(None, &many).unwrap_err().code, code::INVALID);
    }

    /// Label sets that Gmail can have: any flags and labels, with valid folders.
    fn any_labels() -> impl Strategy<Value = Vec<String>> {
        let all = vec![
            "INBOX",
            "SENT",
            "DRAFT",
            "SPAM",
            "TRASH",
            "UNREAD",
            "STARRED",
            "IMPORTANT",
            "Label_1",
            "CATEGORY_SOCIAL",
        ];
        prop::sample::subsequence(all, 0..=10).prop_map(|names| labels(&names))
    }

    proptest! {
        /// A change to the state of another message makes the two equal, if Gmail allows the move.
        #[test]
        fn a_change_leads_to_what_was_wanted(now in any_labels(), other in any_labels()) {
            let fixed = |id: &String| id == SENT || id == DRAFT;
            let mut goal: Vec<String> = other.into_iter().filter(|id| !fixed(id)).collect();
            goal.extend(now.iter().filter(|id| fixed(id)).cloned());
            let wanted = LabelState::from_labels(&goal).unwrap();
            let before = LabelState::from_labels(&now).unwrap();
            let update = MessageUpdate {
                unread: Some(wanted.unread),
                starred: Some(wanted.starred),
                importance: Some(wanted.importance),
                folders: Some(wanted.folder_ids.clone()),
                add_labels: wanted.label_ids.clone(),
                remove_labels: before.label_ids.clone(),
                ..MessageUpdate::default()
            };
            let change = label_change(Some(&now), &update).unwrap();
            let after = apply(&change, &now);
            prop_assert_eq!(LabelState::from_labels(&after), Some(wanted));
            // The same without the current labels, if they are not needed.
            if !needs_labels(&update) {
                let blind = label_change(None, &update).unwrap();
                prop_assert_eq!(LabelState::from_labels(&apply(&blind, &now)), LabelState::from_labels(&after));
            }
        }
    }
}
