//! The Google connector, with the fake of `tests/fakes` as Google, 80 ms away. Baselines are a bare client that makes the same calls in
//! the same run, or figures that Google's limits allow.

pub mod at_once;
pub mod calls;
mod content;
pub mod event_sync;
pub mod mail_quota;
pub mod mail_sync;
pub mod nothing_new;
pub mod size;
pub mod throttled;

use crate::bench::providers::ProviderProfile;

/// Units a minute of a mailbox without a quota.
const NO_LIMIT: u32 = u32::MAX;

static GOOGLE: ProviderProfile = ProviderProfile {
    connector: "google",
    title: "Google",
    program: "fake-google",
    accounts: "users",
    scopes: &[
        "https://www.googleapis.com/auth/calendar",
        "https://www.googleapis.com/auth/gmail.modify",
        "https://www.googleapis.com/auth/contacts",
        "https://www.googleapis.com/auth/contacts.other.readonly",
        "https://www.googleapis.com/auth/tasks",
    ],
    endpoints: &[
        ["--authorize-url", "/o/oauth2/v2/auth"],
        ["--token-url", "/token"],
        ["--userinfo-url", "/v1/userinfo"],
        ["--revoke-url", "/revoke"],
    ],
    origins: &[&[
        "https://www.googleapis.com",
        "https://openidconnect.googleapis.com",
        "https://gmail.googleapis.com",
        "https://people.googleapis.com",
        "https://tasks.googleapis.com",
    ]],
    rates: &["gmail", "calendar", "people", "tasks"],
};
