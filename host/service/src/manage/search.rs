//! Finds what an id or an email address stands for: the one place that finds a tenant by an id. What an actor may not see is not found.

use base::error::Result;
use base::ids;
use base::tenant::Tenant;
use storage::{
    api_keys, connections, jobs, log, operator_organization, organizations, request_log, webhooks,
};

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
    Webhook { tenant: Tenant, id: String },
    Event { tenant: Tenant, id: String },
    Request { tenant: Tenant, id: String },
    Operator { id: String },
    Job { id: String },
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
    if text.contains(':') {
        return job(app, actor, text).await;
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
            // Keys of the administration have pages of their own.
            let own = operator_organization::id(reader).await?;
            let found = found.filter(|key| own.as_ref() != Some(&key.tenant.organization_id));
            let seen = found.filter(|key| actor.may(Act::SeeApplication, &key.tenant.organization_id));
            Ok(seen.map(|key| SearchHit::ApiKey { tenant: key.tenant, id: key.id }))
        }
        "conn" => {
            let found = connections::tenant_of(reader, text).await?;
            let seen = found.filter(|tenant| actor.may(Act::SeeApplication, &tenant.organization_id));
            Ok(seen.map(|tenant| SearchHit::Account { tenant, id: text.to_owned() }))
        }
        "wh" => {
            let found = webhooks::tenant_of(reader, text).await?;
            let seen = found.filter(|tenant| actor.may(Act::SeeApplication, &tenant.organization_id));
            Ok(seen.map(|tenant| SearchHit::Webhook { tenant, id: text.to_owned() }))
        }
        "ev" => {
            let found = log::tenant_of(reader, text).await?;
            let seen = found.filter(|tenant| actor.may(Act::SeeApplication, &tenant.organization_id));
            Ok(seen.map(|tenant| SearchHit::Event { tenant, id: text.to_owned() }))
        }
        "req" => {
            let found = request_log::tenant_of(reader, text).await?;
            let seen = found.filter(|tenant| actor.may(Act::SeeApplication, &tenant.organization_id));
            Ok(seen.map(|tenant| SearchHit::Request { tenant, id: text.to_owned() }))
        }
        "opr" if actor.may(Act::ManageOperators, "") => {
            let found = directory::find(app, text).await?;
            Ok(found.map(|operator| SearchHit::Operator { id: operator.id }))
        }
        _ => Ok(None),
    }
}

/// The job in the background with this id: its kind and what it works on.
async fn job(app: &App, actor: &Actor, id: &str) -> Result<Option<SearchHit>> {
    if !actor.may(Act::ManageJobs, "") || !id.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Ok(None);
    }
    let found = jobs::find(app.db.reader(), id).await?;
    Ok(found.map(|job| SearchHit::Job { id: job.id }))
}

async fn operator_of_address(app: &App, actor: &Actor, email: &str) -> Result<Option<SearchHit>> {
    if !actor.may(Act::ManageOperators, "") {
        return Ok(None);
    }
    let found = directory::find_by_email(app, email).await?;
    Ok(found.map(|operator| SearchHit::Operator { id: operator.id }))
}
