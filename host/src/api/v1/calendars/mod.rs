//! `/v1/calendars`

pub mod availability;
pub mod events;
pub mod freebusy;
pub mod sync;

use axum::extract::State;
use http::HeaderMap;
use model::calendar::Calendar;
use model::resource::{New, Patch, Resource};

use crate::answer::{Answer, Attempt};
use crate::api::asker::{Params, Path};
use crate::api::error::ApiError;
use crate::api::etag;
use crate::api::json::{self, Body};
use crate::api::operation::Priority::{Additive, Mvp};
use crate::api::operation::Routes;
use crate::api::page::{self, Binding};
use crate::app::App;
use crate::resources::{Asker, calendars, render};

pub fn routes() -> Routes<App> {
    Routes::new("Calendars")
        .get("/v1/calendars", "calendar.read", Mvp, list)
        .summary("List calendars")
        .param(
            "connection_id",
            "string",
            "Only calendars of this connection; without it, of all that the key may use",
        )
        .param("include", "string", "`providerData` adds what the model has no field for")
        .lists::<Resource<Calendar>>()
        .post("/v1/calendars", "calendar.write", Mvp, create)
        .summary("Create a calendar")
        .body::<New<Calendar>>()
        .returns::<Resource<Calendar>>()
        .get("/v1/calendars/{calendarId}", "calendar.read", Mvp, get)
        .summary("Read a calendar")
        .param("include", "string", "`providerData` adds what the model has no field for")
        .returns::<Resource<Calendar>>()
        .patch("/v1/calendars/{calendarId}", "calendar.write", Additive, update)
        .summary("Change a calendar")
        .body::<Patch<Calendar>>()
        .returns::<Resource<Calendar>>()
        .delete("/v1/calendars/{calendarId}", "calendar.write", Additive, delete)
        .summary("Delete a calendar and everything in it")
}

async fn list(State(app): State<App>, asker: Asker, params: Params) -> Result<Answer, ApiError> {
    let limit = page::limit(params.get("limit"))?;
    let connection_id = params.get("connection_id");
    let binding = Binding::new(&asker.tenant, "calendars.list", &connection_id);
    let after: String = binding.place(&app.keyring, params.get("cursor"))?.unwrap_or_default();
    let mut items = calendars::list(&app, &asker, connection_id, &after, limit + 1).await?;
    let more = (items.len() as i64) > limit;
    items.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    let next = items.last().filter(|_| more).map(|i| binding.cursor(&app.keyring, &i.id));
    let raw = params.with_provider_data();
    let texts: Vec<String> = items.iter().map(|i| render::item(i, &[], raw)).collect();
    Ok(Answer::ok(page::page(&texts, next.as_deref())))
}

async fn create(
    State(app): State<App>,
    asker: Asker,
    attempt: Attempt,
    headers: HeaderMap,
    Body(body): Body,
) -> Result<Answer, ApiError> {
    Ok(calendars::create(&app, &asker, body, json::is_strict(&headers), &attempt).await?)
}

async fn get(
    State(app): State<App>,
    asker: Asker,
    params: Params,
    Path(id): Path<String>,
) -> Result<Answer, ApiError> {
    let item = calendars::get(&app, &asker, &id).await?;
    Ok(Answer::ok(render::item(&item, &[], params.with_provider_data())).etag(&item.etag))
}

async fn update(
    State(app): State<App>,
    asker: Asker,
    attempt: Attempt,
    headers: HeaderMap,
    Path(id): Path<String>,
    Body(mut body): Body,
) -> Result<Answer, ApiError> {
    let expected = etag::expected(&headers, Some(&mut body))?;
    Ok(calendars::update(&app, &asker, &id, (body, expected), json::is_strict(&headers), &attempt).await?)
}

async fn delete(
    State(app): State<App>,
    asker: Asker,
    attempt: Attempt,
    headers: HeaderMap,
    Path(id): Path<String>,
    Body(mut body): Body,
) -> Result<Answer, ApiError> {
    let expected = etag::expected(&headers, Some(&mut body))?;
    Ok(calendars::delete(&app, &asker, &id, expected, &attempt).await?)
}
