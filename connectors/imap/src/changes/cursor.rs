//! How far `changes` has come. The host keeps it as text and gives it back; nothing else remembers anything.

use std::collections::BTreeMap;

use connector_sdk::{Failure, Outcome, code};
use serde::{Deserialize, Serialize};

use crate::folders::Counts;
use crate::imap::all_mail::AllMail;
use crate::imap::session::Session;
use crate::imap::uids::UidSet;
use crate::message::{MailboxRef, is_deleted};
use crate::plan::Chunk;

/// Cursors of other versions are expired.
const VERSION: u32 = 1;

/// The position at which `changes` continues.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ChangesCursor {
    #[serde(rename = "v")]
    version: u32,
    #[serde(rename = "f")]
    pub folders: Vec<FolderState>,
    /// The rest of the initial sync; none after it.
    #[serde(rename = "p", default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Vec<Chunk>>,
    /// Messages to report as deleted.
    #[serde(rename = "g", default, skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<GoneMessages>,
    /// External ids of folders to report as deleted, once their messages are.
    #[serde(rename = "d", default, skip_serializing_if = "Vec::is_empty")]
    pub gone_folders: Vec<String>,
    /// Pages since the mailboxes were last compared.
    #[serde(rename = "n", default)]
    pub pages: u32,
    /// Gmail's mailbox of all mail, in which the messages of its labels are reported; none: each mailbox has its own.
    #[serde(rename = "a", default, skip_serializing_if = "Option::is_none")]
    pub all_mail: Option<AllMail>,
    /// The number of the next folder.
    #[serde(rename = "o", default)]
    pub next_number: u32,
}

/// The last known state of a folder.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FolderState {
    /// The folder's number in the plan.
    #[serde(rename = "o")]
    pub number: u32,
    /// External id.
    #[serde(rename = "i")]
    pub id: String,
    #[serde(rename = "n")]
    pub name: String,
    /// Hash of the folder's own data as last reported.
    #[serde(rename = "h", default)]
    pub told: String,
    #[serde(rename = "v", default)]
    pub uid_validity: u32,
    /// The counts of STATUS when the messages were last compared; none: not yet.
    #[serde(rename = "s", default)]
    pub status: Option<StatusSeen>,
    /// The modification sequence up to which changes are known; none: the mailbox has none.
    #[serde(rename = "m", default, skip_serializing_if = "Option::is_none")]
    pub modseq: Option<u64>,
    /// Messages that were reported or will be.
    #[serde(rename = "k", default)]
    pub uids: UidSet,
    /// Messages that another program marked as deleted: to the host they are gone (RFC 8621 section 4.1.1).
    #[serde(rename = "x", default, skip_serializing_if = "HiddenMessages::is_empty")]
    pub hidden: HiddenMessages,
    /// Flags and who has them, where the server does not say what changed.
    #[serde(rename = "l", default, skip_serializing_if = "BTreeMap::is_empty")]
    pub flags: BTreeMap<String, UidSet>,
    /// New messages to report.
    #[serde(rename = "w", default, skip_serializing_if = "UidSet::is_empty")]
    pub fresh: UidSet,
    /// Messages whose flags are to be reported.
    #[serde(rename = "c", default, skip_serializing_if = "UidSet::is_empty")]
    pub changed: UidSet,
}

/// Messages with `\Deleted`, which are there until they are expunged.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HiddenMessages {
    #[serde(rename = "a", default)]
    pub all: UidSet,
    /// The unread ones among them, without `\Seen`.
    #[serde(rename = "u", default, skip_serializing_if = "UidSet::is_empty")]
    pub unseen: UidSet,
}

impl HiddenMessages {
    fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Takes in a message with these flags. True: it is one of them.
    pub fn take(&mut self, uid: u32, flags: &[String]) -> bool {
        if !is_deleted(flags) {
            return false;
        }
        self.all.insert(uid);
        if !flags.iter().any(|flag| flag.eq_ignore_ascii_case("\\Seen")) {
            self.unseen.insert(uid);
        }
        true
    }

    /// Without these messages.
    pub fn minus(&self, uids: &UidSet) -> HiddenMessages {
        HiddenMessages { all: self.all.minus(uids), unseen: self.unseen.minus(uids) }
    }

    /// Adds newly known UIDs.
    pub fn add(&mut self, more: &HiddenMessages) {
        self.all.add(&more.all);
        self.unseen.add(&more.unseen);
    }
}

/// Counts of a folder in a row, for a short cursor: messages, unseen, UIDNEXT, UIDVALIDITY, HIGHESTMODSEQ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusSeen(u32, Option<u32>, u32, u32, Option<u64>);

impl From<Counts> for StatusSeen {
    fn from(c: Counts) -> Self {
        StatusSeen(c.messages, c.unseen, c.uid_next, c.uid_validity, c.highest_modseq)
    }
}

/// Most UIDs that are reported as deleted though they were never seen: more of them are gaps of the mailbox's own.
const MAX_PASSED: u64 = 5_000;

impl StatusSeen {
    /// UIDs that were given out since, up to `next`: a change of ours gives a message a UID of which the cursor does not know, and that
    /// another client may have removed again before it was seen here. Empty where there are too many.
    fn passed(&self, next: u32) -> UidSet {
        let passed = UidSet::range(self.2, next.saturating_sub(1));
        if passed.len() <= MAX_PASSED { passed } else { UidSet::new() }
    }
}

/// Messages of a folder that are gone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GoneMessages {
    #[serde(rename = "i")]
    pub folder: String,
    #[serde(rename = "v")]
    pub uid_validity: u32,
    #[serde(rename = "u")]
    pub uids: UidSet,
}

impl FolderState {
    /// Returns the place of its messages.
    pub fn place(&self, session: &Session) -> MailboxRef {
        MailboxRef::for_session(session, &self.name, &self.id, self.uid_validity)
    }

    /// UIDs that were given out and taken away again since the counts were last looked at, once `uids` are those that are there now.
    pub fn passed(&self, counts: &Counts) -> UidSet {
        let status = self.status.filter(|_| self.uid_validity == counts.uid_validity);
        status.map_or_else(UidSet::new, |status| status.passed(counts.uid_next).minus(&self.uids))
    }

    /// Everything that was known of its messages is no longer so.
    pub fn forget_messages(&mut self) -> GoneMessages {
        let uids = std::mem::take(&mut self.uids);
        let gone = GoneMessages { folder: self.id.clone(), uid_validity: self.uid_validity, uids };
        (self.status, self.modseq, self.uid_validity) = (None, None, 0);
        (self.fresh, self.changed) = (UidSet::new(), UidSet::new());
        self.hidden = HiddenMessages::default();
        self.flags.clear();
        gone
    }
}

impl ChangesCursor {
    /// The cursor of an account of which nothing is known.
    pub fn new() -> Self {
        ChangesCursor { version: VERSION, ..ChangesCursor::default() }
    }

    /// The cursor that was written as this text. Fails with "cursor-expired" for all else.
    pub fn read(text: &str) -> Outcome<Self> {
        let expired = || Failure::new(code::CURSOR_EXPIRED, "the cursor cannot be continued");
        let cursor: ChangesCursor = serde_json::from_str(text).map_err(|_| expired())?;
        if cursor.version == VERSION { Ok(cursor) } else { Err(expired()) }
    }

    /// The cursor as JSON.
    pub fn to_text(&self) -> Outcome<String> {
        serde_json::to_string(self)
            .map_err(|_| Failure::new(code::INTERNAL, "the state of the mailbox cannot be written down"))
    }

    /// A folder by its number.
    pub fn folder(&self, number: u32) -> Option<&FolderState> {
        self.folders.iter().find(|known| known.number == number)
    }

    /// A folder that was not known.
    pub fn add(&mut self, id: String, name: String) -> &mut FolderState {
        let known = FolderState { number: self.next_number, id, name, ..FolderState::default() };
        self.next_number += 1;
        self.folders.push(known);
        let last = self.folders.len() - 1;
        &mut self.folders[last]
    }

    /// Whether known changes are still to be reported.
    pub fn has_pending(&self) -> bool {
        let has = |known: &FolderState| !known.fresh.is_empty() || !known.changed.is_empty();
        !self.gone.is_empty() || !self.gone_folders.is_empty() || self.folders.iter().any(has)
    }
}
