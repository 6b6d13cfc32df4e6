//! The mailboxes of the account and their roles.

use io_imap::types::status::StatusDataItem;
use model::email::folders::{Folder, FolderRights, FolderRole};
use model::wire::{Item, JsonText, Source};
use serde_json::json;

use crate::ids;
use crate::imap::all_mail::AllMail;
use crate::imap::capabilities::Capabilities;

/// A mailbox as LIST and STATUS report it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mailbox {
    /// The decoded name.
    pub name: String,
    pub delimiter: Option<char>,
    /// The attributes in lower case, with the backslash.
    pub attributes: Vec<String>,
    pub role: Option<FolderRole>,
    /// MAILBOXID (RFC 8474).
    pub mailbox_id: Option<String>,
    /// The counts; none if STATUS did not report the mailbox.
    pub status: Option<Counts>,
}

/// STATUS (RFC 9051 section 6.3.11).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    pub messages: u32,
    pub unseen: Option<u32>,
    pub uid_next: u32,
    pub uid_validity: u32,
    pub highest_modseq: Option<u64>,
}

impl Counts {
    /// Reads the counts; none if the mailbox has none.
    pub fn read(items: &[StatusDataItem]) -> Option<Self> {
        let mut counts = Counts::default();
        for item in items {
            match item {
                StatusDataItem::Messages(count) => counts.messages = *count,
                StatusDataItem::Unseen(count) => counts.unseen = Some(*count),
                StatusDataItem::UidNext(uid) => counts.uid_next = uid.get(),
                StatusDataItem::UidValidity(number) => counts.uid_validity = number.get(),
                // 0 means that the mailbox has no modification sequences (RFC 7162 section 3.1.2.2).
                StatusDataItem::HighestModSeq(number) => {
                    counts.highest_modseq = Some(*number).filter(|n| *n > 0)
                }
                _ => {}
            }
        }
        (counts.uid_validity > 0).then_some(counts)
    }
}

impl Mailbox {
    /// Reads a mailbox of a LIST response; none if its name cannot be sent back to the server, or if there is no data.
    pub fn listed(
        name: String,
        delimiter: Option<char>,
        attributes: impl Iterator<Item = String>,
    ) -> Option<Self> {
        let is_good = !name.is_empty() && name.len() <= 1000 && !name.contains(['\r', '\n', '\0']);
        let attributes = attributes.take(50).map(|name| name.to_lowercase()).collect();
        is_good.then(|| Mailbox { name, delimiter, attributes, ..Mailbox::default() })
    }

    /// The external id.
    pub fn id(&self) -> String {
        ids::folder_id(&self.name, self.mailbox_id.as_deref())
    }

    /// Whether the mailbox can contain messages.
    pub fn is_selectable(&self) -> bool {
        !self.has_attribute("\\noselect") && !self.has_attribute("\\nonexistent")
    }

    /// Whether messages of this mailbox are read. With labels, each message is in one of three mailboxes, and the others show it again. If
    /// the account hides All Mail from IMAP (`has_all_mail` is false), the mailboxes of labels are read, each with its own copy.
    pub fn is_read(&self, has_labels: bool, has_all_mail: bool) -> bool {
        let is_one_of = |roles: [FolderRole; 3]| self.role.is_some_and(|role| roles.contains(&role));
        self.is_selectable()
            && match (has_labels, has_all_mail) {
                (false, _) => true,
                (true, true) => is_one_of([FolderRole::All, FolderRole::Junk, FolderRole::Trash]),
                (true, false) => !is_one_of([FolderRole::All, FolderRole::Flagged, FolderRole::Important]),
            }
    }

    fn has_attribute(&self, attribute: &str) -> bool {
        self.attributes.iter().any(|known| known == attribute)
    }

    fn path(&self) -> Vec<String> {
        match self.delimiter {
            Some(delimiter) => self.name.split(delimiter).map(str::to_owned).collect(),
            None => vec![self.name.clone()],
        }
    }

    fn parent(&self) -> Option<&str> {
        self.name.rsplit_once(self.delimiter?).map(|(parent, _)| parent)
    }
}

/// All mailboxes, the inbox first.
#[derive(Clone, Debug, Default)]
pub struct Mailboxes {
    pub all: Vec<Mailbox>,
}

impl Mailboxes {
    /// The mailbox with this role.
    pub fn by_role(&self, role: FolderRole) -> Option<&Mailbox> {
        self.all.iter().find(|mailbox| mailbox.role == Some(role))
    }

    /// The mailbox with this external id.
    pub fn by_id(&self, id: &str) -> Option<&Mailbox> {
        self.all.iter().find(|mailbox| mailbox.id() == id)
    }

    /// The mailbox with this key in message ids (`ids::folder_key`).
    pub fn by_key(&self, key: &str) -> Option<&Mailbox> {
        self.all.iter().find(|mailbox| ids::folder_key(&mailbox.id()) == key)
    }

    /// The source of a mailbox. The server's counts include messages marked as deleted, of which there are `hidden`, `hidden_unseen` of
    /// them unread.
    pub fn source(&self, mailbox: &Mailbox, hidden: u64, hidden_unseen: u64) -> Source {
        let id = mailbox.id();
        let parent = mailbox.parent().and_then(|name| self.all.iter().find(|other| other.name == name));
        let mut folder = folder(mailbox, parent.map(Mailbox::id));
        let less = |count: i64, hidden: u64| count.saturating_sub_unsigned(hidden).max(0);
        folder.total_count = folder.total_count.map(|count| less(count, hidden));
        folder.unread_count = folder.unread_count.map(|count| less(count, hidden_unseen));
        let body = JsonText::of(&folder).unwrap_or_default();
        let item = Item {
            external_id: id.clone(),
            kind: Some("email_folder".into()),
            body,
            hint: Some(json!({ "f": mailbox.name })),
            ..Item::default()
        };
        Source { external_id: id, items: vec![item], ..Source::default() }
    }
}

fn folder(mailbox: &Mailbox, parent_id: Option<String>) -> Folder {
    let selectable = mailbox.is_selectable();
    let is_inbox = mailbox.role == Some(FolderRole::Inbox);
    let path = mailbox.path();
    let order = mailbox.role.and_then(|role| ROLES.iter().position(|(known, _)| *known == role));
    Folder {
        name: path.last().cloned().unwrap_or_default(),
        path,
        parent_id,
        role: mailbox.role,
        total_count: mailbox.status.map(|counts| i64::from(counts.messages)),
        unread_count: mailbox.status.and_then(|counts| counts.unseen).map(i64::from),
        sort_order: order.map_or(100, |order| i64::try_from(order).unwrap_or(100)),
        subscribed: mailbox.has_attribute("\\subscribed"),
        selectable,
        rights: FolderRights {
            read: selectable,
            add: selectable,
            remove: selectable,
            set_flags: selectable,
            rename: !is_inbox,
            delete: !is_inbox,
        },
        system: is_inbox,
    }
}

/// Gmail's system labels that are folders, and their roles.
const LABELS: [(&str, FolderRole); 5] = [
    ("\\Inbox", FolderRole::Inbox),
    ("\\Sent", FolderRole::Sent),
    ("\\Draft", FolderRole::Drafts),
    ("\\Starred", FolderRole::Flagged),
    ("\\Important", FolderRole::Important),
];

/// Gmail's All Mail mailbox; none if the server has no labels, or the account hides that mailbox from IMAP.
pub fn find_all_mail(capabilities: &Capabilities, mailboxes: &[Mailbox]) -> Option<AllMail> {
    let with_role =
        |role| mailboxes.iter().find(|mailbox| mailbox.role == Some(role) && mailbox.is_selectable());
    let all = with_role(FolderRole::All).filter(|_| capabilities.has_labels())?;
    let name = |role| with_role(role).map(|mailbox| mailbox.name.clone());
    let system =
        LABELS.iter().filter_map(|(label, role)| Some(((*label).to_owned(), with_role(*role)?.id())));
    Some(AllMail {
        name: all.name.clone(),
        trash: name(FolderRole::Trash),
        junk: name(FolderRole::Junk),
        system: system.collect(),
    })
}

/// The roles in display order, with the lower-case folder names of servers without special uses (RFC 6154).
const ROLES: [(FolderRole, &[&str]); 9] = [
    (FolderRole::Inbox, &[]),
    (FolderRole::Drafts, &["drafts", "draft", "entwürfe", "brouillons", "borradores", "bozze"]),
    (
        FolderRole::Sent,
        &["sent", "sent items", "sent messages", "sent mail", "gesendet", "gesendete elemente"],
    ),
    (FolderRole::Archive, &["archive", "archives", "archiv"]),
    (FolderRole::Junk, &["junk", "spam", "junk e-mail", "junk email", "bulk mail"]),
    (
        FolderRole::Trash,
        &["trash", "deleted items", "deleted messages", "bin", "papierkorb", "gelöschte elemente"],
    ),
    (FolderRole::All, &[]),
    (FolderRole::Flagged, &[]),
    (FolderRole::Important, &[]),
];

/// The roles by the attributes of RFC 6154 and RFC 8457.
const ATTRIBUTES: [(&str, FolderRole); 8] = [
    ("\\drafts", FolderRole::Drafts),
    ("\\sent", FolderRole::Sent),
    ("\\archive", FolderRole::Archive),
    ("\\junk", FolderRole::Junk),
    ("\\trash", FolderRole::Trash),
    ("\\all", FolderRole::All),
    ("\\flagged", FolderRole::Flagged),
    ("\\important", FolderRole::Important),
];

/// Assigns each role to at most one mailbox: the first with the attribute, else one with a well-known name. With Gmail's labels
/// (`has_labels`) a name only identifies an archive: a mailbox named like another role is a label of the user, and the messages of that
/// role are in Gmail's own folder, which the account hides from IMAP.
pub fn assign_roles(all: &mut [Mailbox], has_labels: bool) {
    if let Some(inbox) = all.iter_mut().find(|mailbox| mailbox.name == "INBOX") {
        inbox.role = Some(FolderRole::Inbox);
    }
    for (attribute, role) in ATTRIBUTES {
        let mut named = all.iter_mut().filter(|mailbox| mailbox.role.is_none() && mailbox.is_selectable());
        if let Some(mailbox) = named.find(|mailbox| mailbox.has_attribute(attribute)) {
            mailbox.role = Some(role);
        }
    }
    for (role, known) in ROLES {
        let has_own_folder = has_labels && role != FolderRole::Archive;
        if has_own_folder || all.iter().any(|mailbox| mailbox.role == Some(role)) {
            continue;
        }
        // At the top level, or directly below the inbox, where some servers have all folders.
        let candidate = |mailbox: &Mailbox, name: &str| {
            let is_near = mailbox.parent().is_none_or(|parent| parent == "INBOX");
            let last = mailbox.path().pop().unwrap_or_default().to_lowercase();
            mailbox.role.is_none() && mailbox.is_selectable() && is_near && last == name
        };
        let found = known.iter().find_map(|name| all.iter().position(|mailbox| candidate(mailbox, name)));
        if let Some(mailbox) = found.and_then(|at| all.get_mut(at)) {
            mailbox.role = Some(role);
        }
    }
}
