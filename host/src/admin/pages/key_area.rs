//! The keys that a page is about: those of an application, or those of the administration of the installation.

use std::sync::Arc;

use base::error::{Result, not_found};
use base::tenant::Tenant;
use service::manage::acting::{self, Target};
use service::manage::keys::admin_keys;
use storage::api_keys::ApiKey;

use crate::admin::view::MenuEntry;
use crate::admin::visit::{PanelPlace, Visit};

/// Whether the page is about the keys of the administration.
pub fn is_of_admin(visit: &Visit) -> bool {
    matches!(visit.place, PanelPlace::System)
}

/// The tenant of the keys. None: there is no key of the administration yet.
pub async fn known_tenant(visit: &Visit) -> Result<Option<Tenant>> {
    match is_of_admin(visit) {
        true => admin_keys::tenant(&visit.app).await,
        false => Ok(Some(visit.tenant()?.clone())),
    }
}

/// The tenant of a key that is there.
///
/// # Errors
/// `not_found` where there is no key of the administration yet.
pub async fn tenant(visit: &Visit) -> Result<Tenant> {
    known_tenant(visit).await?.ok_or_else(|| not_found("API key"))
}

/// The path of the list below `/admin/`.
pub fn list_path(visit: &Visit) -> String {
    match &visit.place {
        PanelPlace::Application(application) => format!("apps/{}/keys", application.tenant.application_id),
        _ => "system/keys".to_owned(),
    }
}

/// The heading of the list.
pub fn title(visit: &Visit) -> &'static str {
    match is_of_admin(visit) {
        true => visit.texts.admin_keys.title,
        false => visit.texts.keys.title,
    }
}

/// The entry of the menu.
pub fn entry(visit: &Visit) -> MenuEntry {
    if is_of_admin(visit) { MenuEntry::SystemKeys } else { MenuEntry::Keys }
}

/// The key that stands for the reader among these keys.
///
/// # Errors
/// `not_found` and `reauthentication_required` for the keys of the administration.
pub fn asker(visit: &Visit, tenant: &Tenant) -> Result<Arc<ApiKey>> {
    match is_of_admin(visit) {
        true => Ok(Arc::new(admin_keys::asker(&visit.app, visit.actor()?, tenant)?)),
        false => Ok(acting::key(visit.actor()?, tenant)),
    }
}

/// A key as the audit log names it. The keys of the administration are in the log of the installation.
pub fn target(visit: &Visit, key: &ApiKey) -> Target {
    match is_of_admin(visit) {
        true => Target::installation(key.id.as_str()),
        false => Target::application(&key.tenant, key.id.as_str()),
    }
}
