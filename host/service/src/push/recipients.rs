//! The applications whose watches a provider's request applies to, if each application has an operator's account that posts for it
//! (`email_setting` of the manifest's `[push.jwt]`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base::error::Result;
use serde_json::Value;
use storage::oauth_clients;

use crate::app::App;

/// The applications whose watches a request applies to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recipients {
    All,
    /// The applications with these ids.
    Of(BTreeSet<String>),
}

impl Recipients {
    /// Whether the request applies to watches of this application.
    pub fn include(&self, application_id: &str) -> bool {
        match self {
            Recipients::All => true,
            Recipients::Of(ids) => ids.contains(application_id),
        }
    }
}

/// Returns the applications for which the operator set this address in their registration, byte for byte; none if there is no such
/// application. A changed value takes effect a second later.
pub async fn find(app: &App, provider: &str, setting: &str, email: &str) -> Result<Option<Recipients>> {
    let posters = posters(app, provider, setting).await?;
    Ok(posters.get(email).cloned().map(Recipients::Of))
}

/// Returns ids of applications by the address of the account that posts for them. All are read at once, so that tokens of many accounts
/// cause no further reads.
async fn posters(
    app: &App,
    provider: &str,
    setting: &str,
) -> Result<Arc<BTreeMap<String, BTreeSet<String>>>> {
    let (name, now) = (format!("{provider} {setting}"), app.now());
    if let Some(known) = app.posters.get(&name, now) {
        return Ok(known);
    }
    let mut posters: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (application_id, value) in oauth_clients::settings_named(app.db.reader(), provider, setting).await? {
        if let Value::String(email) = value {
            posters.entry(email).or_default().insert(application_id);
        }
    }
    let posters = Arc::new(posters);
    app.posters.put(name, Arc::clone(&posters), now);
    Ok(posters)
}
