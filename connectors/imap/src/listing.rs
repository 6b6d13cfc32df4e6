//! One LIST of all mailboxes with their counts.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use connector_sdk::{Failure, Level, Outcome};
use io_imap::types::response::Data;
use model::email::folders::FolderRole;

use crate::folders::{Counts, Mailbox, Mailboxes, assign_roles, find_all_mail};
use crate::imap::beyond;
use crate::imap::command::Command;
use crate::imap::commands;
use crate::imap::names;
use crate::imap::response::{Response, Status};
use crate::imap::session::{Session, refused};
use crate::imap::value::Value;

/// Mailboxes that are looked at.
const MAX_FOLDERS: usize = 2_000;

/// The commands that ask for all mailboxes, and what reads their answers. They can go out with others.
pub struct Listing {
    pub commands: Vec<Command>,
    /// The index of the list among them.
    list_at: usize,
    found: Vec<Mailbox>,
    subscribed: HashSet<String>,
    /// By name: a status may come before the line that it belongs to.
    counts: HashMap<String, Counts>,
    mailbox_ids: HashMap<String, String>,
    /// Counts come with the list.
    has_status: bool,
    has_modseq: bool,
    /// Mailboxes have ids (RFC 8474). They are asked for by themselves: Cyrus 3.6 returns arbitrary bytes of its memory for an id that
    /// stands among other items.
    has_ids: bool,
}

impl Listing {
    /// The commands for this server. Nothing is selected when they are sent.
    pub fn new(session: &mut Session) -> Outcome<Self> {
        let capabilities = &session.capabilities;
        let (has_modseq, has_ids) = (capabilities.has_condstore(), capabilities.has("OBJECTID"));
        let has_status = capabilities.has_in_rev2("LIST-STATUS");
        let special_use = capabilities.has_in_rev2("SPECIAL-USE");
        // A server may count a selected mailbox as of its last report.
        let mut all: Vec<Command> = session.unselect()?.into_iter().collect();
        let list_at = all.len();
        match has_status {
            true => {
                all.push(beyond::list_returning(special_use, beyond::counts(has_modseq)));
                all.extend(has_ids.then(|| beyond::list_returning(special_use, beyond::MAILBOX_ID)));
            }
            false => all.extend([commands::list(false), commands::list(true)]),
        }
        Ok(Listing {
            commands: all,
            list_at,
            found: Vec::new(),
            subscribed: HashSet::new(),
            counts: HashMap::new(),
            mailbox_ids: HashMap::new(),
            has_status,
            has_modseq,
            has_ids,
        })
    }

    /// Why there is no list, by what the commands ended with.
    pub fn refusal(&self, statuses: &[Status]) -> Option<Failure> {
        let status = statuses.get(self.list_at).filter(|status| !status.is_ok())?;
        Some(refused(status, "listing the mailboxes"))
    }

    /// Takes in a response of any kind.
    pub fn take(&mut self, response: &Response<'_>) {
        match response {
            Response::Data(Data::List { items, delimiter, mailbox }) => {
                let attributes = items.iter().map(ToString::to_string);
                self.listed(Mailbox::listed(
                    names::mailbox_name(mailbox),
                    delimiter.map(|c| c.inner()),
                    attributes,
                ));
            }
            Response::Data(Data::Lsub { mailbox, .. }) => {
                self.subscribed.insert(names::mailbox_name(mailbox));
            }
            Response::Data(Data::Status { mailbox, items }) if self.counts.len() < MAX_FOLDERS => {
                self.counts.extend(Counts::read(items).map(|counts| (names::mailbox_name(mailbox), counts)));
            }
            _ => self.take_other(response),
        }
    }

    /// Lines that the crate does not take.
    fn take_other(&mut self, response: &Response<'_>) {
        if let Some(values) = response.other("LIST") {
            self.listed(listed(&values));
        } else if let Some(values) = response.other("LSUB") {
            self.subscribed.extend(listed(&values).map(|mailbox| mailbox.name));
        } else if let Some(values) = response.other("STATUS") {
            self.mailbox_ids.extend(mailbox_id(&values).filter(|_| self.mailbox_ids.len() < MAX_FOLDERS));
        }
    }

    fn listed(&mut self, mailbox: Option<Mailbox>) {
        self.found.extend(mailbox.filter(|_| self.found.len() < 2 * MAX_FOLDERS));
    }

    /// The mailboxes, once all commands are done. Asks for what did not come with the list.
    pub fn finish(mut self, session: &mut Session) -> Outcome<Mailboxes> {
        let mut seen = HashSet::new();
        let mut all: Vec<Mailbox> = std::mem::take(&mut self.found);
        all.retain(|mailbox| seen.insert(mailbox.name.clone()));
        all.truncate(MAX_FOLDERS);
        self.ask_status(session, &all)?;
        for mailbox in &mut all {
            mailbox.status = self.counts.get(&mailbox.name).copied();
            mailbox.mailbox_id = self.mailbox_ids.remove(&mailbox.name);
            if self.subscribed.contains(&mailbox.name) {
                mailbox.attributes.push("\\subscribed".into());
            }
        }
        let has_labels = session.capabilities.has_labels();
        assign_roles(&mut all, has_labels);
        session.all_mail = find_all_mail(&session.capabilities, &all).map(Rc::new);
        session.knows_all_mail = has_labels;
        all.sort_by_key(|mailbox| mailbox.role != Some(FolderRole::Inbox));
        Ok(Mailboxes { all })
    }

    fn ask_status(&mut self, session: &mut Session, all: &[Mailbox]) -> Outcome<()> {
        let mut missing = Vec::new();
        for mailbox in all.iter().filter(|mailbox| mailbox.is_selectable()) {
            if !self.has_status {
                missing.push(commands::counts(&mailbox.name, self.has_modseq));
            }
            if self.has_ids && !self.mailbox_ids.contains_key(&mailbox.name) {
                missing.push(beyond::status_mailbox_id(&mailbox.name));
            }
        }
        let statuses = session.run(&missing, |_, response| self.take(response))?;
        let refused = statuses.iter().filter(|status| !status.is_ok()).count();
        if refused > 0 {
            session.cx.log(Level::Info, "mailboxes without a status", &[("count", refused.to_string())]);
        }
        Ok(())
    }
}

/// `name (MAILBOXID (id))`.
fn mailbox_id(values: &[Value<'_>]) -> Option<(String, String)> {
    let name = values.first()?.bytes().map(names::decode)?;
    match values.get(1)?.list() {
        [item, value] if item.is(beyond::MAILBOX_ID) => {
            let id = value.list().first().and_then(Value::text).filter(|id| is_object_id(id))?;
            Some((inbox(name), id.into_owned()))
        }
        _ => None,
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
fn listed(values: &[Value<'_>]) -> Option<Mailbox> {
    let attributes = values.first()?.list().iter().filter_map(|value| Some(value.text()?.into_owned()));
    let delimiter = values.get(1).and_then(Value::text).and_then(|text| text.chars().next());
    Mailbox::listed(inbox(names::decode(values.get(2)?.bytes()?)), delimiter, attributes)
}
