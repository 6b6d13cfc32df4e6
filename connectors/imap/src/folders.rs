//! The mailboxes of the account: one LIST with their counts, and what each is for.

use std::collections::{HashMap, HashSet};

use connector_sdk::{Failure, Level, Outcome};
use model::email::folders::{Folder, FolderRights, FolderRole};
use model::wire::{Item, JsonText, Source};
use serde_json::json;

use crate::ids;
use crate::imap::command::Command;
use crate::imap::names;
use crate::imap::response::{Response, Status};
use crate::imap::session::{Session, refused};
use crate::imap::value::Value;

/// Mailboxes that are looked at.
const MAX_FOLDERS: usize = 2_000;

/// A mailbox as LIST and STATUS tell of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mailbox {
    /// Decoded.
    pub name: String,
    pub delimiter: Option<char>,
    /// Lower case, with the backslash.
    attributes: Vec<String>,
    pub role: Option<FolderRole>,
    /// MAILBOXID (RFC 8474).
    mailbox_id: Option<String>,
    /// None: STATUS said nothing of it.
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

impl Mailbox {
    /// External id.
    pub fn id(&self) -> String {
        ids::folder_id(&self.name, self.mailbox_id.as_deref())
    }

    /// Messages can be in it.
    pub fn is_selectable(&self) -> bool {
        !self.has("\\noselect") && !self.has("\\nonexistent")
    }

    /// Its messages are told. Gmail shows messages under labels; in these folders it shows them once more.
    pub fn is_read(&self, is_gmail: bool) -> bool {
        let doubles = [FolderRole::All, FolderRole::Flagged, FolderRole::Important];
        self.is_selectable() && !(is_gmail && self.role.is_some_and(|role| doubles.contains(&role)))
    }

    fn has(&self, attribute: &str) -> bool {
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

    /// The mailbox that message ids name by this key (`ids::folder_key`).
    pub fn by_key(&self, key: &str) -> Option<&Mailbox> {
        self.all.iter().find(|mailbox| ids::folder_key(&mailbox.id()) == key)
    }

    /// The mailbox as the host is told of it.
    pub fn source(&self, mailbox: &Mailbox) -> Source {
        let id = mailbox.id();
        let parent = mailbox.parent().and_then(|name| self.all.iter().find(|other| other.name == name));
        let body = JsonText::of(&folder(mailbox, parent.map(Mailbox::id))).unwrap_or_default();
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
        subscribed: mailbox.has("\\subscribed"),
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

/// Roles in the order that people list them, with the names that folders of servers without special uses (RFC 6154) have, lower case.
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

/// Attributes of RFC 6154 and RFC 8457.
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

/// The commands that ask for all mailboxes, and what reads their answers. They can go out with others.
pub struct Listing {
    pub commands: Vec<Command>,
    /// Where among them the list is.
    list_at: usize,
    found: Vec<Mailbox>,
    subscribed: HashSet<String>,
    /// By name: a status may come before the line that it belongs to.
    counts: HashMap<String, Counts>,
    mailbox_ids: HashMap<String, String>,
    /// Counts come with the list.
    has_status: bool,
    /// What STATUS is asked for. The id is asked for by itself: Cyrus 3.6 gives bytes of whatever is in memory for it when it stands
    /// among other items.
    items: Vec<&'static str>,
}

impl Listing {
    /// The commands for this server. Nothing is selected when they are sent.
    pub fn new(session: &mut Session) -> Outcome<Self> {
        let capabilities = session.capabilities.clone();
        let mut items = vec!["MESSAGES UNSEEN UIDNEXT UIDVALIDITY"];
        if capabilities.has_condstore() {
            items = vec!["MESSAGES UNSEEN UIDNEXT UIDVALIDITY HIGHESTMODSEQ"];
        }
        if capabilities.has("OBJECTID") {
            items.push("MAILBOXID");
        }
        let has_status = capabilities.has_in_rev2("LIST-STATUS");
        let special = if capabilities.has_in_rev2("SPECIAL-USE") { " SPECIAL-USE" } else { "" };
        let with_status = |items: &&str| {
            Command::new(format!(r#"LIST "" "*" RETURN (SUBSCRIBED{special} STATUS ({items}))"#))
        };
        // A server may count a mailbox that is selected as it was when it last told of it.
        let mut commands: Vec<Command> = session.unselect()?.into_iter().collect();
        let list_at = commands.len();
        match has_status {
            true => commands.extend(items.iter().map(with_status)),
            false => commands.extend([Command::new(r#"LIST "" "*""#), Command::new(r#"LSUB "" "*""#)]),
        }
        Ok(Listing {
            commands,
            list_at,
            found: Vec::new(),
            subscribed: HashSet::new(),
            counts: HashMap::new(),
            mailbox_ids: HashMap::new(),
            has_status,
            items,
        })
    }

    /// Why there is no list, by what the commands ended with.
    pub fn refusal(&self, statuses: &[Status]) -> Option<Failure> {
        let status = statuses.get(self.list_at).filter(|status| !status.is_ok())?;
        Some(refused(status, "listing the mailboxes"))
    }

    /// Takes in a response, whatever it is.
    pub fn take(&mut self, response: &Response<'_>) {
        if let Some(values) = response.data("LIST") {
            self.found.extend(mailbox(&values).filter(|_| self.found.len() < 2 * MAX_FOLDERS));
        } else if let Some(values) = response.data("LSUB") {
            self.subscribed.extend(mailbox(&values).map(|mailbox| mailbox.name));
        } else if let Some(values) = response.data("STATUS") {
            self.take_status(&values);
        }
    }

    fn take_status(&mut self, values: &[Value<'_>]) {
        let Some(name) = values.first().and_then(Value::bytes).map(|name| inbox(names::decode(name))) else {
            return;
        };
        let mut counts = Counts::default();
        let mut is_counted = false;
        for pair in values.get(1).map(Value::list).unwrap_or_default().chunks_exact(2) {
            let [item, value] = pair else { continue };
            let number = value.number();
            let small = number.and_then(|number| u32::try_from(number).ok());
            let item = item.text().unwrap_or_default().to_ascii_uppercase();
            match item.as_str() {
                "MESSAGES" => counts.messages = small.unwrap_or(0),
                "UNSEEN" => counts.unseen = small,
                "UIDNEXT" => counts.uid_next = small.unwrap_or(0),
                "UIDVALIDITY" => {
                    counts.uid_validity = small.unwrap_or(0);
                    is_counted = true;
                }
                // 0: the mailbox has none (RFC 7162 section 3.1.2.2).
                "HIGHESTMODSEQ" => counts.highest_modseq = number.filter(|number| *number > 0),
                "MAILBOXID" => {
                    let id = value.list().first().and_then(Value::text).filter(|id| is_object_id(id));
                    self.mailbox_ids.extend(id.map(|id| (name.clone(), id.into_owned())));
                }
                _ => {}
            }
        }
        if is_counted && self.counts.len() < MAX_FOLDERS {
            self.counts.insert(name, counts);
        }
    }

    /// The mailboxes, once all commands are done. Asks for the counts where they did not come with the list.
    pub fn finish(mut self, session: &mut Session) -> Outcome<Mailboxes> {
        let mut seen = HashSet::new();
        let mut all: Vec<Mailbox> = std::mem::take(&mut self.found);
        all.retain(|mailbox| seen.insert(mailbox.name.clone()));
        all.truncate(MAX_FOLDERS);
        if !self.has_status {
            self.ask_status(session, &all)?;
        }
        for mailbox in &mut all {
            mailbox.status = self.counts.get(&mailbox.name).copied();
            mailbox.mailbox_id = self.mailbox_ids.remove(&mailbox.name);
            if self.subscribed.contains(&mailbox.name) {
                mailbox.attributes.push("\\subscribed".into());
            }
        }
        assign_roles(&mut all);
        all.sort_by_key(|mailbox| mailbox.role != Some(FolderRole::Inbox));
        Ok(Mailboxes { all })
    }

    fn ask_status(&mut self, session: &mut Session, all: &[Mailbox]) -> Outcome<()> {
        let selectable = all.iter().filter(|mailbox| mailbox.is_selectable());
        let pairs = selectable.flat_map(|mailbox| self.items.iter().map(move |items| (mailbox, *items)));
        let status = |(mailbox, items): (&Mailbox, &str)| {
            Command::new("STATUS").mailbox(&mailbox.name).text(format!(" ({items})"))
        };
        let commands: Vec<Command> = pairs.map(status).collect();
        let statuses = session.run(&commands, |_, response| self.take(response))?;
        let refused = statuses.iter().filter(|status| !status.is_ok()).count();
        if refused > 0 {
            session.cx.log(Level::Info, "mailboxes without a status", &[("count", refused.to_string())]);
        }
        Ok(())
    }
}

/// RFC 8474 section 7, `objectid`.
fn is_object_id(id: &str) -> bool {
    let is_good = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    !id.is_empty() && id.len() <= 255 && id.bytes().all(is_good)
}

/// All mailboxes of the account.
pub fn list(session: &mut Session) -> Outcome<Mailboxes> {
    let mut listing = Listing::new(session)?;
    let commands = listing.commands.clone();
    let statuses = session.run(&commands, |_, response| listing.take(response))?;
    match listing.refusal(&statuses) {
        Some(failure) => Err(failure),
        None => listing.finish(session),
    }
}

/// INBOX is one name in any case (RFC 9051 section 5.1).
fn inbox(name: String) -> String {
    if name.eq_ignore_ascii_case("INBOX") { "INBOX".to_owned() } else { name }
}

/// `(\HasNoChildren) "/" name`.
fn mailbox(values: &[Value<'_>]) -> Option<Mailbox> {
    let attributes = values.first()?.list().iter().take(50);
    let name = inbox(names::decode(values.get(2)?.bytes()?));
    // What cannot be written into a command again, or tells nothing, is of no use.
    let is_good = !name.is_empty() && name.len() <= 1000 && !name.contains(['\r', '\n', '\0']);
    is_good.then(|| Mailbox {
        delimiter: values.get(1).and_then(Value::text).and_then(|text| text.chars().next()),
        attributes: attributes.filter_map(|value| Some(value.text()?.to_lowercase())).collect(),
        name,
        ..Mailbox::default()
    })
}

/// At most one mailbox has each role: the first that the server gives it to, else one with a well-known name.
fn assign_roles(all: &mut [Mailbox]) {
    if let Some(inbox) = all.iter_mut().find(|mailbox| mailbox.name == "INBOX") {
        inbox.role = Some(FolderRole::Inbox);
    }
    for (attribute, role) in ATTRIBUTES {
        let mut named = all.iter_mut().filter(|mailbox| mailbox.role.is_none() && mailbox.is_selectable());
        if let Some(mailbox) = named.find(|mailbox| mailbox.has(attribute)) {
            mailbox.role = Some(role);
        }
    }
    for (role, known) in ROLES {
        if all.iter().any(|mailbox| mailbox.role == Some(role)) {
            continue;
        }
        // At the top, or right below the inbox, where some servers keep everything.
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
