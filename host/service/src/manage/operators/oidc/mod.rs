//! Sign-in of operators by OpenID Connect: the authorization code flow with PKCE at the one provider that the settings name. The provider's own
//! name for a person (`sub`) identifies them; an email address does not, because it can change hands.

pub mod authorization;
pub mod claims;
pub mod discovery;
pub mod identities;
pub mod tokens;

use crate::app::App;
use crate::app::config::OidcSettings;
use crate::app::oidc_client::OidcClient;

/// The path to which the provider sends browsers back.
pub const RETURN_PATH: &str = "/admin/oidc/return";

/// Tolerated difference between the provider's clock and this one, ms.
pub const LEEWAY_MS: i64 = 60_000;

/// The provider of the settings, with the way to it.
#[derive(Clone, Copy)]
pub struct OidcProvider<'a> {
    pub settings: &'a OidcSettings,
    pub client: &'a OidcClient,
}

/// The provider of the settings; none: people sign in by passwords alone.
pub fn provider(app: &App) -> Option<OidcProvider<'_>> {
    Some(OidcProvider { settings: app.config.admin_oidc.as_ref()?, client: app.oidc.as_ref()? })
}

/// The address to which the provider sends browsers back.
pub fn return_url(app: &App) -> String {
    format!("{}{RETURN_PATH}", app.config.admin_address())
}

/// Why an authorization came to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OidcFault {
    /// The provider did not answer, or not in time, or not as a provider does; or too many ask it at this moment.
    Unavailable,
    /// The return is not one of this browser and session, was used, or came too late.
    State,
    /// The person declined.
    Declined,
    /// The provider refused the request: the client is not registered as the settings say.
    Refused,
    /// The ID token is not good.
    Token,
    /// No operator who may sign in has this identity.
    Unknown,
    /// The provider does not vouch for the address of the invitation.
    OtherAddress,
    /// The link works no more.
    Gone,
    /// An operator has the address of the invitation already.
    KnownAddress,
    /// Another operator has the identity, or this one has another identity.
    Taken,
    /// It is not the identity of who is signed in.
    OtherPerson,
    /// The provider did not say that the person has just proved who they are.
    NotFresh,
    /// Too many tries: the next one may come after so many seconds.
    Wait(u64),
}
