//! The store of the fake Graph: accounts, and the data of each surface for each account.

use std::collections::{BTreeMap, BTreeSet};

use crate::clock::Clock;
use crate::flights::Flights;
use crate::graph::calendar::CalendarBook;
use crate::graph::contacts::ContactStore;
use crate::graph::errors::GraphError;
use crate::graph::facts;
use crate::graph::mail::MailStore;
use crate::graph::oauth::EntraAuthority;
use crate::graph::subscriptions::Subscriptions;
use crate::graph::surface_limits::SurfaceLimits;
use crate::graph::todo::TodoStore;
use crate::graph::traps::GRAPH_TRAPS;
use crate::traps::Traps;

/// The tenant of all personal accounts.
pub const PERSONAL_TENANT: &str = "9188040d-6c67-4c5b-b112-36a304b66dad";
/// The tenant of the work accounts.
pub const WORK_TENANT: &str = "5a9d3c1e-0000-4000-8000-0000000000aa";

/// Everything that the fake stores.
pub struct GraphState {
    pub clock: Clock,
    /// By address.
    pub accounts: BTreeMap<String, GraphAccount>,
    pub authority: EntraAuthority,
    pub subscriptions: Subscriptions,
    pub traps: Traps,
    /// Outlook limits the calls of a mailbox that are under way at once.
    pub flights: Flights,
    pub surface_limits: SurfaceLimits,
    /// By the account's address, as the three below.
    pub mail: BTreeMap<String, MailStore>,
    pub calendars: BTreeMap<String, CalendarBook>,
    pub contacts: BTreeMap<String, ContactStore>,
    pub todo: BTreeMap<String, TodoStore>,
    /// The origin of links in answers.
    pub link_origin: String,
    /// The origin of upload sessions.
    pub upload_origin: String,
    /// The number of the latest change.
    sequence: u64,
}

/// The kind of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccountKind {
    /// Work or school.
    Work,
    Personal,
}

/// A person's account.
#[derive(Clone, Debug)]
pub struct GraphAccount {
    /// The address, which is the user principal name too.
    pub email: String,
    /// `mail` of `/me`; null in some accounts.
    pub mail: Option<String>,
    pub name: String,
    /// A GUID for work, 16 hexadecimal digits for personal accounts.
    pub id: String,
    pub kind: AccountKind,
    /// The mailbox's zone, by its Windows name.
    pub time_zone: String,
    /// `proxyAddresses` of a work account beside the main address.
    pub aliases: Vec<String>,
    /// Surfaces that the account lacks: `mail`, `calendar`, `contacts`, `todo`.
    pub absent: BTreeSet<String>,
}

impl GraphAccount {
    pub fn is_personal(&self) -> bool {
        self.kind == AccountKind::Personal
    }

    pub fn tenant(&self) -> &'static str {
        match self.kind {
            AccountKind::Work => WORK_TENANT,
            AccountKind::Personal => PERSONAL_TENANT,
        }
    }
}

impl GraphState {
    pub fn new(clock: Clock) -> GraphState {
        let limit = Some(facts::number("limits", "concurrent_requests"));
        GraphState {
            clock,
            accounts: BTreeMap::new(),
            authority: EntraAuthority::default(),
            subscriptions: Subscriptions::default(),
            traps: Traps::new(GRAPH_TRAPS),
            flights: Flights::limited_to(limit),
            surface_limits: SurfaceLimits::default(),
            mail: BTreeMap::new(),
            calendars: BTreeMap::new(),
            contacts: BTreeMap::new(),
            todo: BTreeMap::new(),
            link_origin: "https://graph.microsoft.com".to_owned(),
            upload_origin: "https://outlook.office.com".to_owned(),
            sequence: 0,
        }
    }

    /// The number of the latest change.
    pub fn latest(&self) -> u64 {
        self.sequence
    }

    /// The number of a new change.
    pub fn next_change(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }

    /// Adds an account with an empty mailbox, a default calendar and no contacts or tasks. `time_zone` is a Windows name.
    pub fn add_account(&mut self, email: &str, name: &str, time_zone: &str, kind: AccountKind) {
        let number = self.accounts.len() + 1;
        let id = match kind {
            AccountKind::Work => format!("6ea91a8d-e32e-41a1-b7bd-{number:012x}"),
            AccountKind::Personal => format!("{:016x}", 0x0003_7ffe_0000_0000_usize + number),
        };
        let account = GraphAccount {
            email: email.to_owned(),
            mail: Some(email.to_owned()),
            name: name.to_owned(),
            id,
            kind,
            time_zone: time_zone.to_owned(),
            aliases: Vec::new(),
            absent: BTreeSet::new(),
        };
        let is_personal = account.is_personal();
        self.accounts.insert(email.to_owned(), account);
        self.mail.insert(email.to_owned(), MailStore::new(email, is_personal));
        self.calendars.insert(email.to_owned(), CalendarBook::new(email, name, time_zone, is_personal));
        self.contacts.insert(email.to_owned(), ContactStore::default());
        self.todo.insert(email.to_owned(), TodoStore::default());
    }

    /// The account with this address.
    ///
    /// # Errors
    /// There is none: 404.
    pub fn account(&self, email: &str) -> Result<&GraphAccount, GraphError> {
        let missing = || {
            GraphError::new(404, "Request_ResourceNotFound", &format!("Resource '{email}' does not exist."))
        };
        self.accounts.get(email).ok_or_else(missing)
    }

    /// The account with this address, to be changed by a test.
    ///
    /// # Panics
    /// There is none.
    pub fn account_mut(&mut self, email: &str) -> &mut GraphAccount {
        self.accounts.get_mut(email).unwrap_or_else(|| panic!("no account {email}"))
    }

    /// Queues the notifications of a change of an item of this user.
    pub fn note_change(&mut self, user: &str, change: &ItemChange<'_>) {
        let Some(account) = self.accounts.get(user) else { return };
        self.subscriptions.note(account, change);
    }
}

/// A change of an item that subscriptions may ask for.
#[derive(Clone, Copy, Debug)]
pub struct ItemChange<'c> {
    /// `created`, `updated` or `deleted`.
    pub kind: &'c str,
    /// The resources under which subscriptions are told of it, as they stand behind `/me/`: `messages`, `mailFolders/{id}/messages`.
    pub collections: &'c [String],
    /// As in `#Microsoft.Graph.Message`.
    pub data_type: &'c str,
    /// The item's key in its store.
    pub key: &'c str,
    /// The item's place now, see `ids::mutable`.
    pub place: u64,
}
