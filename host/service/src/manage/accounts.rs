//! Accounts as those who run an application see them: lists with those in trouble first, and all that is known of one of them. No content.

use std::collections::HashMap;

use base::error::Result;
use base::tenant::Tenant;
use runtime::Surface;
use serde::{Deserialize, Serialize};
use storage::connections::{self as table, AddressSearch, Connection};
use storage::job_admin;
use storage::jobs::Job;
use storage::sync_states::{self, SurfaceItemError, SurfaceProgress, SyncState};
use storage::watches::{self, Watch};

use crate::app::App;
use crate::app::live_channels::Channel;
use crate::connections::credentials;
use crate::connections::oauth::{self, scopes};
use crate::connections::watch_reach;
use crate::sync::schedule;

/// States of connections in the order of lists: those that need attention stand first.
pub const STATES: [&str; 4] = ["reauth_required", "degraded", "pending", "active"];
/// Longest beginning of an address that is looked for, in characters.
const MAX_ADDRESS: usize = 320;
/// Quarantined items and jobs of an account that are shown.
pub const MAX_SHOWN: usize = 50;

/// The accounts that a list has; an empty field leaves it open.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AccountFilter {
    pub status: String,
    pub provider: String,
    /// How the address begins, in lower case.
    pub address: String,
}

impl AccountFilter {
    /// The filter that an operator typed. A state that there is not is none; an address is cut.
    pub fn new(status: &str, provider: &str, address: &str) -> AccountFilter {
        let status = STATES.into_iter().find(|known| *known == status).unwrap_or_default();
        AccountFilter {
            status: status.to_owned(),
            provider: provider.trim().chars().take(40).collect(),
            address: address.trim().to_lowercase().chars().take(MAX_ADDRESS).collect(),
        }
    }

    /// Whether it leaves everything open.
    pub fn is_open(&self) -> bool {
        *self == AccountFilter::default()
    }
}

/// The place of an account in a list.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct AccountPosition {
    /// Empty: the list is in the order of addresses, or this is its beginning.
    status: String,
    email: String,
    id: String,
}

impl AccountPosition {
    /// The place of a listed account.
    pub fn from_connection(filter: &AccountFilter, connection: &Connection) -> AccountPosition {
        let id = connection.id.clone();
        match filter.address.is_empty() {
            true => AccountPosition { status: connection.status.clone(), id, ..AccountPosition::default() },
            false => {
                let email = connection.email.clone().unwrap_or_default();
                AccountPosition { email, id, ..AccountPosition::default() }
            }
        }
    }
}

/// An account of a list.
pub struct ListedAccount {
    pub connection: Connection,
    /// The surfaces of which something was asked for.
    pub surfaces: Vec<SurfaceProgress>,
}

impl ListedAccount {
    /// A surface that cannot be read.
    pub fn failing_surface(&self) -> Option<&str> {
        self.surfaces.iter().find(|surface| surface.is_failing).map(|surface| surface.surface.as_str())
    }

    /// When all of its surfaces were in step last, ms.
    pub fn last_success_at(&self) -> Option<i64> {
        self.surfaces.iter().filter_map(|surface| surface.last_success_at).min()
    }
}

/// At most `limit` accounts after a place: by state, those in trouble first; where an address is looked for, by address.
///
/// # Errors
/// Those of the database.
pub async fn list(
    app: &App,
    tenant: &Tenant,
    filter: &AccountFilter,
    after: &AccountPosition,
    limit: i64,
) -> Result<Vec<ListedAccount>> {
    let found = match filter.address.is_empty() {
        true => by_state(app, tenant, filter, after, limit).await?,
        false => {
            let search = AddressSearch {
                prefix: &filter.address,
                status: &filter.status,
                provider: &filter.provider,
                after_email: &after.email,
                after_id: &after.id,
            };
            table::list_of_address(app.db.reader(), tenant, &search, limit).await?
        }
    };
    let ids: Vec<&str> = found.iter().map(|connection| connection.id.as_str()).collect();
    let mut surfaces: HashMap<String, Vec<SurfaceProgress>> = HashMap::new();
    if !ids.is_empty() {
        for progress in sync_states::of_connections(app.db.reader(), &ids).await? {
            surfaces.entry(progress.connection_id.clone()).or_default().push(progress);
        }
    }
    let listed = |connection: Connection| {
        let surfaces = surfaces.remove(&connection.id).unwrap_or_default();
        ListedAccount { connection, surfaces }
    };
    Ok(found.into_iter().map(listed).collect())
}

/// The same, a statement for each state until there are enough.
async fn by_state(
    app: &App,
    tenant: &Tenant,
    filter: &AccountFilter,
    after: &AccountPosition,
    limit: i64,
) -> Result<Vec<Connection>> {
    let first = STATES.iter().position(|status| *status == after.status).unwrap_or(0);
    let mut found: Vec<Connection> = Vec::new();
    for status in
        STATES.iter().skip(first).filter(|status| filter.status.is_empty() || filter.status == **status)
    {
        let rest = limit - i64::try_from(found.len()).unwrap_or(limit);
        if rest <= 0 {
            break;
        }
        let after_id = if *status == after.status { after.id.as_str() } else { "" };
        let reader = app.db.reader();
        found.extend(table::list_of_status(reader, tenant, status, &filter.provider, after_id, rest).await?);
    }
    Ok(found)
}

/// Whether the provider tells of changes of a surface by itself, or why it does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PushStanding {
    /// It tells of them.
    Active,
    /// It is being asked to, or was and does not at the moment.
    Waiting,
    /// The surface is not followed.
    NotFollowed,
    /// The connector, or the account's server, has no push.
    NotOffered,
    /// The connector is not installed.
    NoConnector,
    /// This service has no public https address that the provider could post to.
    NoPublicAddress,
    /// The application's registration of the provider lacks this setting.
    MissingSetting(String),
}

/// An error that was stored with a surface, a job or a connection.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct StoredFailure {
    pub code: String,
    pub message: String,
}

impl StoredFailure {
    /// Reads a column with `{code, message, …}`; none of a text that is no such JSON.
    pub fn read(column: Option<&str>) -> Option<StoredFailure> {
        serde_json::from_str(column?).ok()
    }
}

/// How far a surface of an account is in step.
pub struct SurfaceStanding {
    pub surface: String,
    /// The worst state of its collections: `idle`, `initial`, `syncing`, `caught_up`, `throttled`, `blocked` or `error`.
    pub status: String,
    pub is_followed: bool,
    /// The earliest of the last successes of its collections, ms.
    pub last_success_at: Option<i64>,
    /// When the next of its collections is read, ms.
    pub next_pull_at: Option<i64>,
    pub failure: Option<StoredFailure>,
    pub push: PushStanding,
}

/// All that is known of an account.
pub struct AccountDetail {
    pub connection: Connection,
    /// It was connected by OAuth.
    pub is_oauth: bool,
    pub failure: Option<StoredFailure>,
    pub surfaces: Vec<SurfaceStanding>,
    /// Items that could not be read: one more than `MAX_SHOWN` where there are more.
    pub quarantined: Vec<SurfaceItemError>,
    /// Jobs: one more than `MAX_SHOWN` where there are more.
    pub jobs: Vec<Job>,
    /// The address at which an administrator lets the application in, for an account whose provider wants that.
    pub admin_consent_url: Option<String>,
}

/// An account with its surfaces, quarantined items and jobs.
///
/// # Errors
/// `not_found`, and those of the database.
pub async fn detail(app: &App, tenant: &Tenant, id: &str) -> Result<AccountDetail> {
    let connection = crate::connections::find(app, tenant, id).await?;
    let (reader, limit) = (app.db.reader(), i64::try_from(MAX_SHOWN).unwrap_or(i64::MAX) + 1);
    let states = sync_states::of_connection(reader, id).await?;
    let rows = watches::of_connection(reader, id).await?;
    let mut surfaces = Vec::with_capacity(connection.surfaces.len());
    for surface in &connection.surfaces {
        let own: Vec<&SyncState> = states.iter().filter(|state| state.surface == *surface).collect();
        let is_followed = own.iter().any(|state| state.followed);
        let push = push(app, &connection, surface, is_followed, &rows).await?;
        surfaces.push(standing(surface, &own, push));
    }
    Ok(AccountDetail {
        is_oauth: credentials::stored(app, &connection)?.is_oauth(),
        failure: StoredFailure::read(connection.last_refresh_error.as_deref()),
        surfaces,
        quarantined: sync_states::item_errors_of_connection(reader, id, limit).await?,
        jobs: job_admin::of_connection(reader, id, limit).await?,
        admin_consent_url: match connection.status_reason.as_deref() {
            Some("admin_blocked") => {
                admin_consent_url(app, tenant, &connection.provider, &connection.requested_scopes).await
            }
            _ => None,
        },
        connection,
    })
}

fn standing(surface: &str, own: &[&SyncState], push: PushStanding) -> SurfaceStanding {
    let rank = |state: &SyncState| match state.status.as_str() {
        "error" => 5,
        "blocked" => 4,
        "throttled" => 3,
        "initial" => 2,
        "syncing" => 1,
        _ => 0,
    };
    let worst = own.iter().max_by_key(|state| rank(state));
    SurfaceStanding {
        surface: surface.to_owned(),
        status: worst.map_or("idle", |state| state.status.as_str()).to_owned(),
        is_followed: own.iter().any(|state| state.followed),
        last_success_at: own.iter().filter_map(|state| state.last_success_at).min(),
        next_pull_at: own.iter().filter_map(|state| state.next_pull_at).min(),
        failure: worst.and_then(|state| StoredFailure::read(state.last_error.as_deref())),
        push,
    }
}

async fn push(
    app: &App,
    connection: &Connection,
    surface: &str,
    is_followed: bool,
    rows: &[Watch],
) -> Result<PushStanding> {
    let provider = &connection.provider;
    if app.runtime.find(provider).is_none() {
        return Ok(PushStanding::NoConnector);
    }
    if surface == Surface::Email.as_str() && app.runtime.can_listen(provider) {
        let channel = schedule::watched(app, &connection.id).await?.map(|watched| watched.channel);
        return Ok(match channel {
            Some(Channel::Open) => PushStanding::Active,
            Some(Channel::Closed) => PushStanding::Waiting,
            Some(Channel::None) => PushStanding::NotOffered,
            None => PushStanding::NotFollowed,
        });
    }
    if watch_reach::push_of(app, provider, surface).is_none() {
        return Ok(PushStanding::NotOffered);
    }
    if !is_followed {
        return Ok(PushStanding::NotFollowed);
    }
    if !watch_reach::can_watch(app, provider, surface) {
        return Ok(PushStanding::NoPublicAddress);
    }
    if let Some(setting) = watch_reach::missing_setting(app, connection, surface).await? {
        return Ok(PushStanding::MissingSetting(setting));
    }
    let is_active = |watch: &Watch| watch.surface == surface && watch.is_active(app.now());
    Ok(if rows.iter().any(is_active) { PushStanding::Active } else { PushStanding::Waiting })
}

/// The https address at which an administrator lets the application in; none where the provider tells none, or cannot be asked. `requested`
/// are the scopes of the account that needs it; empty: all scopes of the registration.
pub async fn admin_consent_url(
    app: &App,
    tenant: &Tenant,
    provider: &str,
    requested: &[String],
) -> Option<String> {
    let registered = oauth::registered(app, tenant, provider).await.ok()?;
    let callback_uri = registered.callback_uri(app);
    let found = registered.resolve(app).await.ok()?;
    let map = &found.registration.scopes;
    let all: Vec<String> = match requested.is_empty() {
        true => map.keys().cloned().collect(),
        false => requested.to_vec(),
    };
    let scopes = scopes::to_request(&found.connector.manifest.auth, map, &all);
    let url = found.admin_consent_url(&callback_uri, &scopes)?;
    (url.scheme() == "https").then(|| url.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_takes_what_it_knows_and_cuts_the_rest() {
        let filter = AccountFilter::new("lost", " google ", " ADA@\u{c4}");
        assert_eq!(filter.status, "");
        assert_eq!((filter.provider.as_str(), filter.address.as_str()), ("google", "ada@\u{e4}"));
        assert_eq!(AccountFilter::new("degraded", "", "").status, "degraded");
        let long = AccountFilter::new("", &"p".repeat(1_000), &"a".repeat(100_000));
        assert_eq!((long.provider.len(), long.address.len()), (40, 320));
        assert!(AccountFilter::new("", " ", "").is_open());
    }

    #[test]
    fn a_surface_stands_as_its_worst_collection() {
        let state = |status: &str, at| SyncState {
            status: status.to_owned(),
            last_success_at: at,
            last_error: Some(r#"{"code":"provider_error","message":"no"}"#.to_owned()),
            ..SyncState::default()
        };
        let (good, bad) = (state("caught_up", Some(2)), state("blocked", Some(1)));
        let found = standing("calendar", &[&good, &bad], PushStanding::Waiting);
        assert_eq!((found.status.as_str(), found.last_success_at), ("blocked", Some(1)));
        assert_eq!(found.failure.map(|failure| failure.message).as_deref(), Some("no"));
        assert_eq!(standing("tasks", &[], PushStanding::NotFollowed).status, "idle");
        assert!(StoredFailure::read(Some("no JSON")).is_none());
    }
}
