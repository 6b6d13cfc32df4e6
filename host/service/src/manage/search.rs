//! Finds what an id or an email address stands for: the one place that finds a tenant by an id. What an actor may not see is not found.

use base::error::Result;
use base::ids;
use base::tenant::Tenant;
use storage::{api_keys, connections, organizations};

use crate::app::App;
use crate::manage::actor::{Act, Actor};
use crate::manage::operators::directory;

/// Longest text that is looked for, in bytes.
const MAX_TEXT: usize = 320;

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SearchHit {
    Organization { id: String },
    Application { id: String },
    ApiKey { tenant: Tenant, id: String },
    Account { tenant: Tenant, id: String },
    Operator { id: String },
}

/// The one thing that has this id or address, as far as the actor may see it.
pub async fn find(app: &App, actor: &Actor, text: &str) -> Result<Option<SearchHit>> {
    let text = text.trim();
    if text.is_empty() || text.len() > MAX_TEXT {
        return Ok(None);
    }
    if text.contains('@') {
        return operator_of_address(app, actor, text).await;
    }
    if !ids::is_plausible(text) {
        return Ok(None);
    }
    let reader = app.db.reader();
    match text.split('_').next().unwrap_or_default() {
        "org" => {
            let found = organizations::find(reader, text).await?;
            let seen = found.filter(|organization| actor.sees(&organization.id));
            Ok(seen.map(|organization| SearchHit::Organization { id: organization.id }))
        }
        "app" => {
            let found = organizations::find_application(reader, text).await?;
            let seen = found.filter(|found| actor.may(Act::SeeApplication, &found.tenant.organization_id));
            Ok(seen.map(|found| SearchHit::Application { id: found.tenant.application_id }))
        }
        "key" => {
            let found = api_keys::find_any(reader, text).await?.filter(|key| !key.is_token());
            let seen = found.filter(|key| actor.may(Act::SeeApplication, &key.tenant.organization_id));
            Ok(seen.map(|key| SearchHit::ApiKey { tenant: key.tenant, id: key.id }))
        }
        "conn" => {
            let found = connections::tenant_of(reader, text).await?;
            let seen = found.filter(|tenant| actor.may(Act::SeeApplication, &tenant.organization_id));
            Ok(seen.map(|tenant| SearchHit::Account { tenant, id: text.to_owned() }))
        }
        "opr" if actor.may(Act::ManageOperators, "") => {
            let found = directory::find(app, text).await?;
            Ok(found.map(|operator| SearchHit::Operator { id: operator.id }))
        }
        _ => Ok(None),
    }
}

async fn operator_of_address(app: &App, actor: &Actor, email: &str) -> Result<Option<SearchHit>> {
    if !actor.may(Act::ManageOperators, "") {
        return Ok(None);
    }
    let found = directory::find_by_email(app, email).await?;
    Ok(found.map(|operator| SearchHit::Operator { id: operator.id }))
}
