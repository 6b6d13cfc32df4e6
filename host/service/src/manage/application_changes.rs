//! Applications as a whole: name, handle, redirect URIs and request log are made and changed in one write.

use std::collections::BTreeMap;

use base::error::{Code, Error, Result, invalid, not_found};
use base::ids::Kind;
use base::tenant::Tenant;
use model::bounds::access::MAX_REDIRECTS;
use serde_json::{Value, json};
use storage::api_keys::Application;
use storage::request_log::{self, RequestLogMode};
use storage::scheduling::applications as handles;
use storage::{Tx, oauth_clients, organizations};

use crate::app::App;
use crate::app::stored_response::{IdempotentAttempt, StoredResponse};
use crate::bookings::handle;
use crate::manage::applications::{handle_taken, name_taken};
use crate::manage::content_etag::content_etag;
use crate::manage::organizations::checked_name;
use crate::manage::redirect_uri;
use crate::manage::redirects::{self, RedirectChange};
use crate::writes::etag::ExpectedEtag;

/// A change of an application. What is none stays as it is.
#[derive(Clone, Debug)]
pub struct ApplicationUpdate {
    pub name: Option<String>,
    /// An inner none takes the handle away.
    pub handle: Option<Option<String>>,
    /// All addresses, in place of those that are registered.
    pub redirect_uris: Option<Vec<String>>,
    pub request_log: Option<RequestLogMode>,
    /// The version that the change is based on.
    pub expected: ExpectedEtag,
    /// Warnings about the request, which the answer repeats.
    pub warnings: Vec<Value>,
}

/// An application with the addresses to which its users return.
#[derive(Clone, Debug)]
pub struct ApplicationView {
    pub application: Application,
    pub redirect_uris: Vec<String>,
}

impl ApplicationView {
    /// The version of the application.
    pub fn etag(&self) -> String {
        content_etag(&self.to_json())
    }

    /// The application as the API shows it.
    pub fn json(&self) -> Value {
        let mut shown = self.to_json();
        shown["etag"] = json!(self.etag());
        shown
    }

    fn to_json(&self) -> Value {
        json!({
            "id": self.application.tenant.application_id,
            "organizationId": self.application.tenant.organization_id,
            "name": self.application.name,
            "handle": self.application.handle,
            "test": self.application.is_test,
            "redirectUris": self.redirect_uris,
            "requestLog": self.application.request_log.as_str(),
        })
    }

    fn answer(&self, status: u16, warnings: &[Value]) -> StoredResponse {
        StoredResponse::json(status, self.json().to_string()).warned(warnings).etag(&self.etag())
    }
}

/// At most `limit` applications: of an organization sorted by name after a name, or without one of all organizations after an id.
///
/// # Errors
/// Errors of the database.
pub async fn list(
    app: &App,
    organization_id: Option<&str>,
    after: &str,
    limit: i64,
) -> Result<Vec<ApplicationView>> {
    let reader = app.db.reader();
    let found = match organization_id {
        Some(id) => organizations::applications(reader, id, after, limit).await?,
        None => organizations::all_applications(reader, after, limit).await?,
    };
    let ids: Vec<String> = found.iter().map(|found| found.tenant.application_id.clone()).collect();
    let mut uris: BTreeMap<String, Vec<String>> = oauth_clients::redirects_of(reader, &ids).await?;
    let view = |application: Application| {
        let redirect_uris = uris.remove(&application.tenant.application_id).unwrap_or_default();
        ApplicationView { application, redirect_uris }
    };
    Ok(found.into_iter().map(view).collect())
}

/// The application with this id.
///
/// # Errors
/// `not_found`, and errors of the database.
pub async fn find(app: &App, id: &str) -> Result<ApplicationView> {
    let found = organizations::find_application(app.db.reader(), id).await?;
    let application = found.ok_or_else(|| not_found("application"))?;
    let redirect_uris = oauth_clients::redirects(app.db.reader(), &application.tenant).await?;
    Ok(ApplicationView { application, redirect_uris })
}

/// An application to create.
#[derive(Clone, Debug)]
pub struct NewApplication {
    pub organization_id: String,
    pub name: String,
    /// It is for tests: its keys reach the sandbox alone.
    pub is_test: bool,
}

/// Makes an application with what `settings` has. The answer's JSON is that of `ApplicationView::json`.
///
/// # Errors
/// `not_found` without the organization; `already_exists` of `name` or `handle`; `invalid_parameter` of a field; `invalid_url` of
/// `redirectUris[i]`.
pub async fn create(
    app: &App,
    new: NewApplication,
    settings: ApplicationUpdate,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let name = checked_name("name", &new.name)?;
    let settings = ApplicationUpdate { name: None, ..normalize_update(settings)? };
    let (organization_id, is_test) = (new.organization_id, new.is_test);
    let tenant = Tenant { organization_id, application_id: app.new_id(Kind::Application) };
    let (keyed, attempt, now) = (app.clone(), attempt.about(&tenant.application_id), app.now());
    app.db
        .write(move |tx| {
            Box::pin(async move {
                let owner = organizations::find(&mut *tx, &tenant.organization_id).await?;
                if owner.is_none() {
                    return Err(not_found("organization"));
                }
                if !organizations::insert_application(tx, &tenant, &name, now).await? {
                    return Err(name_taken(&name));
                }
                if is_test {
                    organizations::mark_test_application(tx, &tenant).await?;
                }
                let made = load(tx, &tenant).await?;
                apply(tx, &made, &settings, now).await?;
                let answer = load(tx, &tenant).await?.answer(201, &settings.warnings);
                attempt.store(tx, &keyed.keyring, &answer, now).await?;
                Ok::<_, Error>(answer)
            })
        })
        .await
}

/// Changes an application as a whole, unless it is another one by now than the change is based on.
///
/// # Errors
/// `not_found`; `stale_etag`; and as `create`.
pub async fn update(
    app: &App,
    tenant: &Tenant,
    change: ApplicationUpdate,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let change = normalize_update(change)?;
    let (of, keyed, attempt, now) = (tenant.clone(), app.clone(), attempt.clone(), app.now());
    let written: Result<(StoredResponse, Application)> = app
        .db
        .write(move |tx| {
            Box::pin(async move {
                organizations::lock_application(tx, &of.application_id).await?;
                let present = load(tx, &of).await?;
                change.expected.check(&present.etag())?;
                apply(tx, &present, &change, now).await?;
                let changed = load(tx, &of).await?;
                let answer = changed.answer(200, &change.warnings);
                let is_same = changed.etag() == present.etag();
                let attempt = if is_same { attempt.without_entry() } else { attempt };
                attempt.store(tx, &keyed.keyring, &answer, now).await?;
                Ok((answer, changed.application))
            })
        })
        .await;
    let (answer, changed) = written?;
    let id = &tenant.application_id;
    app.request_log.set_mode(id, changed.request_log, changed.full_bodies_until);
    Ok(answer)
}

/// The change with its texts as they are stored.
fn normalize_update(change: ApplicationUpdate) -> Result<ApplicationUpdate> {
    let name = change.name.as_deref().map(|name| checked_name("name", name)).transpose()?;
    if let Some(Some(handle)) = &change.handle {
        handle::parse(handle).map_err(|message| invalid(Code::InvalidParameter, "handle", message))?;
    }
    let uris = change.redirect_uris.as_deref().unwrap_or_default();
    if uris.len() > MAX_REDIRECTS {
        let message = format!("an application has at most {MAX_REDIRECTS} redirect URIs");
        return Err(invalid(Code::InvalidParameter, "redirectUris", message));
    }
    for (i, uri) in uris.iter().enumerate() {
        let parsed = redirect_uri::parse(uri);
        parsed.map_err(|message| invalid(Code::InvalidUrl, format!("redirectUris[{i}]"), message))?;
    }
    Ok(ApplicationUpdate { name, ..change })
}

async fn load(tx: &mut Tx, tenant: &Tenant) -> Result<ApplicationView> {
    let found = organizations::find_application(&mut *tx, &tenant.application_id).await?;
    let application = found.ok_or_else(|| not_found("application"))?;
    let redirect_uris = oauth_clients::redirects(&mut *tx, &application.tenant).await?;
    Ok(ApplicationView { application, redirect_uris })
}

/// Writes what a change, which was checked, has.
async fn apply(tx: &mut Tx, present: &ApplicationView, change: &ApplicationUpdate, now: i64) -> Result<()> {
    let tenant = &present.application.tenant;
    if let Some(name) = &change.name
        && !organizations::rename_application(tx, tenant, name).await?
    {
        return Err(name_taken(name));
    }
    if let Some(handle) = &change.handle
        && !handles::set_handle(tx, &tenant.application_id, handle.as_deref()).await?
    {
        return Err(handle_taken());
    }
    if let Some(uris) = &change.redirect_uris {
        redirects::change_in(tx, tenant, &difference(&present.redirect_uris, uris), now).await?;
    }
    if let Some(mode) = change.request_log {
        // A window of full bodies ends with the log, as in the panel.
        let window = present.application.full_bodies_until.filter(|_| mode != RequestLogMode::Off);
        request_log::set_mode(tx, tenant, mode, window).await?;
    }
    Ok(())
}

/// The change that leaves `wanted` registered where `present` is.
fn difference(present: &[String], wanted: &[String]) -> RedirectChange {
    RedirectChange {
        add: wanted.iter().filter(|uri| !present.contains(uri)).cloned().collect(),
        remove: present.iter().filter(|uri| !wanted.contains(uri)).cloned().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::difference;

    #[test]
    fn a_list_of_addresses_replaces_the_one_before() {
        let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let change = difference(&texts(&["a", "b"]), &texts(&["b", "c", "c"]));
        assert_eq!((change.add, change.remove), (texts(&["c", "c"]), texts(&["a"])));
        let change = difference(&texts(&["a"]), &[]);
        assert_eq!((change.add, change.remove), (texts(&[]), texts(&["a"])));
    }
}
