//! `/apps/{a}/settings`: the switch of the request log, and the time in which it keeps bodies in full.

use base::error::Result;
use http::StatusCode;
use service::manage::acting::{self, Target};
use service::manage::request_log::{self, FULL_MINUTES};
use storage::request_log::RequestLogMode;

use crate::admin::claim::once;
use crate::admin::pages::request_log_form::{MINUTES, MODE};
use crate::admin::pages::settings;
use crate::admin::parts::field::FormFaults;
use crate::admin::view::{FlashCode, View};
use crate::admin::visit::Visit;

/// Sets what the request log keeps.
pub async fn set_mode(visit: &Visit) -> Result<View> {
    let Some(mode) = RequestLogMode::parse(visit.fields.first(MODE)) else {
        return refused(visit, MODE, visit.texts.requests.bad_mode).await;
    };
    let (app, actor, tenant) = (visit.app.clone(), visit.actor()?.clone(), visit.tenant()?.clone());
    once(visit, |claimed| async move {
        let target = Target::application(&tenant, tenant.application_id.as_str())
            .details(serde_json::json!({ "requestLog": mode.as_str() }));
        let attempt = acting::attempt(&app, &actor, "request_log_changed", &target, Some(&claimed));
        request_log::set_mode(&app, &tenant, mode, &attempt).await
    })
    .await?;
    Ok(View::done(settings::path(visit)?, FlashCode::ApplicationSaved))
}

/// Begins or ends the time in which bodies are kept in full. Only somebody who proved a short time ago who they are begins it.
pub async fn set_full_bodies(visit: &Visit) -> Result<View> {
    let minutes = visit.fields.first(MINUTES).parse::<i64>().ok();
    let Some(minutes) = minutes.filter(|minutes| *minutes == 0 || FULL_MINUTES.contains(minutes)) else {
        return refused(visit, MINUTES, visit.texts.requests.bad_minutes).await;
    };
    let (t, application) = (visit.texts.requests, visit.application()?);
    if minutes > 0 {
        visit.actor()?.check_fresh(visit.app.now())?;
        if application.request_log == RequestLogMode::Off || visit.app.config.request_log_days == 0 {
            return refused(visit, MODE, t.full_off).await;
        }
    }
    let (app, actor, tenant) = (visit.app.clone(), visit.actor()?.clone(), visit.tenant()?.clone());
    once(visit, |claimed| async move {
        let target = Target::application(&tenant, tenant.application_id.as_str())
            .details(serde_json::json!({ "minutes": minutes }));
        let attempt = acting::attempt(&app, &actor, "request_bodies_recorded", &target, Some(&claimed));
        request_log::set_full_bodies(&app, &tenant, minutes, &attempt).await
    })
    .await?;
    Ok(View::done(settings::path(visit)?, FlashCode::ApplicationSaved))
}

/// The settings with what is wrong with a form.
async fn refused(visit: &Visit, field: &'static str, text: &'static str) -> Result<View> {
    let faults = FormFaults::of(field, text);
    Ok(settings::with_faults(visit, &faults).await?.with_status(StatusCode::BAD_REQUEST).into())
}
