//! The Microsoft connector, with the fake of `tests/fakes` as Entra and Graph, 80 ms away. Baselines are a bare client that makes the same
//! calls in the same run.

pub mod at_once;
pub mod calls;
mod content;
pub mod event_sync;
pub mod mail_sync;
pub mod nothing_new;
pub mod size;

use crate::bench::providers::ProviderProfile;

/// A search for messages in Graph's language, percent-encoded: every message of these cases is unread.
const UNREAD: &str = "isread%3Afalse";

static MICROSOFT: ProviderProfile = ProviderProfile {
    connector: "microsoft",
    title: "Microsoft",
    program: "fake-graph",
    accounts: "accounts",
    scopes: &[
        "Calendars.ReadWrite",
        "Mail.ReadWrite",
        "Contacts.ReadWrite",
        "Tasks.ReadWrite",
        "MailboxSettings.Read",
        "User.Read",
    ],
    endpoints: &[
        ["--authorize-url", "/common/oauth2/v2.0/authorize"],
        ["--token-url", "/common/oauth2/v2.0/token"],
        ["--userinfo-url", "/v1.0/me?$select=id,mail,userPrincipalName,displayName"],
    ],
    origins: &[&["https://graph.microsoft.com"], &["https://outlook.office.com"]],
    rates: &["mailbox"],
};
