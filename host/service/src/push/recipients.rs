//! The applications whose watches a request of a provider counts for, where each application has an account of the operator's that posts
//! for it (`email_setting` of the manifest's `[push.jwt]`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base::error::Result;
use serde_json::Value;
use storage::oauth_clients;

use crate::app::App;

/// The applications whose watches count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recipients {
    All,
    /// The ones with these ids.
    Of(BTreeSet<String>),
}

impl Recipients {
    /// Whether watches of this application count.
    pub fn include(&self, application_id: &str) -> bool {
        match self {
            Recipients::All => true,
            Recipients::Of(ids) => ids.contains(application_id),
        }
    }
}

/// The applications of which the operator named this address in a setting of their registration, byte for byte; none: of no application.
/// A value that changes holds a second later.
pub async fn find(app: &App, provider: &str, setting: &str, email: &str) -> Result<Option<Recipients>> {
    let posters = posters(app, provider, setting).await?;
    Ok(posters.get(email).cloned().map(Recipients::Of))
}

/// Ids of applications by the address of the account that posts for them. All are read at once: tokens of many accounts make no more reads.
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
