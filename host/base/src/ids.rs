//! Canonical ids: a prefix that names the kind (`Kind::prefix`), and a ULID. Opaque to clients, at most 64 characters of `[A-Za-z0-9_]`,
//! never reused.

use crate::clock::{Clock, Entropy};

/// The kind of record that an id names, and so its prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Organization,
    Application,
    ApiKey,
    Connection,
    OAuthClient,
    Webhook,
    TokenGrant,
    TokenRevocation,
    Message,
    Thread,
    Attachment,
    Draft,
    Tracking,
    Folder,
    Label,
    Calendar,
    Event,
    ContactBook,
    Contact,
    ContactGroup,
    TaskList,
    Task,
    ChecklistItem,
    TaskLink,
    EventType,
    Schedule,
    Meeting,
    Booking,
    Notification,
    Delivery,
    Replay,
    Watch,
    Request,
    Operator,
    OperatorSession,
    OperatorLink,
    AuditEntry,
}

impl Kind {
    /// The letters before the underscore.
    pub const fn prefix(self) -> &'static str {
        match self {
            Kind::Organization => "org",
            Kind::Application => "app",
            Kind::ApiKey => "key",
            Kind::Connection => "conn",
            Kind::OAuthClient => "oac",
            Kind::Webhook => "wh",
            Kind::TokenGrant => "grt",
            Kind::TokenRevocation => "rvk",
            Kind::Message => "msg",
            Kind::Thread => "thr",
            Kind::Attachment => "att",
            Kind::Draft => "dft",
            Kind::Tracking => "trk",
            Kind::Folder => "fld",
            Kind::Label => "lbl",
            Kind::Calendar => "cal",
            Kind::Event => "evt",
            Kind::ContactBook => "cbk",
            Kind::Contact => "con",
            Kind::ContactGroup => "cgr",
            Kind::TaskList => "tl",
            Kind::Task => "tsk",
            Kind::ChecklistItem => "chk",
            Kind::TaskLink => "tln",
            Kind::EventType => "et",
            Kind::Schedule => "sch",
            Kind::Meeting => "mtg",
            Kind::Booking => "bk",
            Kind::Notification => "ev",
            Kind::Delivery => "whd",
            Kind::Replay => "rpl",
            Kind::Watch => "wat",
            Kind::Request => "req",
            Kind::Operator => "opr",
            Kind::OperatorSession => "ops",
            Kind::OperatorLink => "opl",
            Kind::AuditEntry => "aud",
        }
    }
}

/// Creates an id: sortable by creation time, with 80 random bits.
pub fn new(kind: Kind, clock: &Clock, entropy: &Entropy) -> String {
    let random = u128::from_be_bytes(entropy.bytes::<16>()) & ((1 << 80) - 1);
    let ms = u64::try_from(clock.now_ms()).unwrap_or(0);
    format!("{}_{}", kind.prefix(), ulid::Ulid::from_parts(ms, random))
}

/// Returns the smallest id of the time `ms` (since 1970): all earlier ids sort before it, all later ones after it.
pub fn first_at(kind: Kind, ms: i64) -> String {
    format!("{}_{}", kind.prefix(), ulid::Ulid::from_parts(u64::try_from(ms).unwrap_or(0), 0))
}

/// Whether the text has the form of an id. Other texts are not looked up.
pub fn is_plausible(id: &str) -> bool {
    !id.is_empty() && id.len() <= 64 && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_id_of_a_time_is_between_those_before_and_after() {
        let entropy = Entropy::seeded(7);
        let made_at = |ms: i64| {
            let clock = Clock::fixed("2026-03-01T08:00:00Z".parse().expect("an instant"));
            clock.advance_ms(ms);
            (clock.now_ms(), new(Kind::AuditEntry, &clock, &entropy))
        };
        let (before, (at, id)) = (made_at(0).1, made_at(1));
        let first = first_at(Kind::AuditEntry, at);
        assert!(before < first && first < id && is_plausible(&first), "{before} {first} {id}");
        assert!(first_at(Kind::AuditEntry, -1) < before, "there was nothing before 1970");
    }
}
