//! `lifecycle.check`: reads the account's identity and servers. The connector reports them; the host decides which origins may get the
//! credentials.

use std::sync::Arc;

use base::error::{Code, Error, Refusal, Result};
use base::tenant::Tenant;
use model::wire::{Account, Connection as WireConnection};
use runtime::{BadOrigin, LoadedConnector, Manifest, Surface, Verb, check_origins};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::app::App;
use crate::connections::credentials::{GivenCredentials, StaticCredentials};
use crate::connections::operator_values::OperatorValues;
use crate::connections::settings::{FORMERLY, discovered, remember};
use crate::connections::{account, call, refusal};

/// Most calls of the connector in one check: a provider may redirect from one of its hosts to the next, and each has to be allowed before
/// it is read.
const ROUNDS: usize = 4;

/// An account that was found.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckedAccount {
    pub account: Account,
    /// The given settings, the connector's own, and the origins that were accepted.
    pub settings: Map<String, Value>,
}

/// Asks the provider for the account of these credentials. `settings` are the user's, or those of the connection so far.
pub async fn run(
    app: &App,
    tenant: &Tenant,
    connector: &LoadedConnector,
    id: &str,
    settings: &Map<String, Value>,
    given: &GivenCredentials,
) -> Result<CheckedAccount> {
    let manifest = &*connector.manifest;
    let mut settings = settings.clone();
    // The discovered origins must belong to the servers that are used.
    OperatorValues::load(app, tenant, &manifest.name).await?.put_into(&mut settings);
    if !connector.surfaces.contains(&Surface::Lifecycle) {
        let external_account_id = given.username.clone().unwrap_or_else(|| id.to_owned());
        let account = Account { external_account_id, surfaces: surfaces(connector), ..Account::default() };
        return Ok(CheckedAccount { account, settings });
    }
    let mut allowed = discovered(manifest, &settings);
    for _ in 0..ROUNDS {
        remember(&mut settings, &allowed);
        let wire = WireConnection {
            settings: settings.clone(),
            addresses: Vec::new(),
            username: given.username.clone(),
        };
        let target = crate::connections::call_target::CallTarget {
            provider: &manifest.name,
            tenant,
            connection_id: id,
            wire,
            credentials: Arc::new(StaticCredentials::new(given)?),
            renewed: None,
        };
        let answer = ask(app, &target).await?;
        let found = check_origins(manifest, &settings, &answer.discovered_origins)
            .map_err(|bad| elsewhere(manifest, &bad))?;
        if found.iter().all(|origin| allowed.contains(origin)) {
            let mut account = account::bounded(answer)?;
            settings.remove(FORMERLY);
            account::merge(manifest, &mut settings, std::mem::take(&mut account.settings));
            remember(&mut settings, &found);
            return Ok(CheckedAccount { account, settings });
        }
        let new = found.into_iter().filter(|origin| !allowed.contains(origin)).collect::<Vec<_>>();
        allowed.extend(new);
    }
    let message = format!(
        "the provider sends from one address to the next, {ROUNDS} times over: {}",
        allowed.join(", ")
    );
    Err(Refusal::new(Code::ProviderRejected, message).param("settings").into())
}

/// Returns the names of the connector's kinds of data: its surfaces except `lifecycle` and `watch`.
pub fn surfaces(connector: &LoadedConnector) -> Vec<String> {
    let names = connector.surfaces.iter().filter(|s| s.has_data()).map(|s| s.as_str().to_owned());
    names.collect()
}

/// Calls `lifecycle.check`. The calls of the interface `watch` are in `connections::watch_calls`.
async fn ask(app: &App, target: &crate::connections::call_target::CallTarget<'_>) -> Result<Account> {
    let op = call::Op { surface: Surface::Lifecycle, verb: Verb::Check, name: "check" };
    let checked: Result<call::Reply<Account>, _> =
        call::run(app, target, op, &json!({}), call::CallOptions::default()).await;
    checked.map(|reply| reply.body).map_err(|e| refusal::of_check(target.provider, &e))
}

/// Returns the error for an account on an origin that the user's settings do not allow the credentials to go to.
fn elsewhere(manifest: &Manifest, bad: &BadOrigin) -> Error {
    let setting =
        manifest.hosts_from_settings.first().map_or("settings".to_owned(), |name| format!("settings.{name}"));
    let message = format!(
        "the provider keeps this account at {:?}, which {}: the credentials are not sent there; if it is right, connect with it as {setting}",
        bad.origin, bad.why
    );
    Refusal::new(Code::ProviderRejected, message).param(&setting).into()
}
