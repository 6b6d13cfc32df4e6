//! Cases that each provider with a fake of `tests/fakes` has: its profile, the fake, a server of ours with an account connected, and a bare
//! client as the baseline.

pub mod at_once;
pub mod bare_client;
pub mod comparison;
pub mod fake;
pub mod host;
pub mod mail_sync;
pub mod nothing_new;
pub mod pressure;
pub mod size;
pub mod throttled;

use std::time::Duration;

/// The delay of a request to the provider and its answer, in total.
pub const AWAY: Duration = Duration::from_millis(80);
/// The maximum ratio to a bare client.
pub const MAX_RATIO: f64 = 1.2;
/// A sync that takes longer has failed.
pub const SYNC_LIMIT: Duration = Duration::from_secs(120);

/// A provider, its fake, and its registration with a server.
pub struct ProviderProfile {
    pub connector: &'static str,
    pub title: &'static str,
    /// The binary of the fake.
    pub program: &'static str,
    /// The route of `/__control` that adds an account.
    pub accounts: &'static str,
    /// Scopes of the bare client.
    pub scopes: &'static [&'static str],
    /// The endpoints of the authorization server: options of `apps provider set`, and paths of the fake.
    pub endpoints: &'static [[&'static str; 2]],
    /// The origins that the connector calls, by the origin of the fake that stands for them. The first is the API's.
    pub origins: &'static [&'static [&'static str]],
    /// The rates of the connector's manifest.
    pub rates: &'static [&'static str],
}
