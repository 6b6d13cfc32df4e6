//! `/v1/calendars`

pub mod availability;
pub mod events;
pub mod freebusy;
pub mod sync;

use model::calendar::Calendar;
use model::resource::{New, Patch, Resource};
use service::app::App;

use crate::api::operation::Priority::{Additive, Mvp};
use crate::api::operation::Routes;
use crate::api::request::query::{ConnectionIncludeQuery, IncludeQuery};
use crate::api::shared::collections::{create, delete, get, list, update};

pub fn routes() -> Routes<App> {
    Routes::new("Calendars")
        .get("/v1/calendars", "calendar.read", Mvp, list::<Calendar>)
        .summary("List calendars")
        .query::<ConnectionIncludeQuery>()
        .lists::<Resource<Calendar>>()
        .post("/v1/calendars", "calendar.write", Mvp, create::<Calendar>)
        .summary("Create a calendar")
        .body::<New<Calendar>>()
        .returns::<Resource<Calendar>>()
        .get("/v1/calendars/{calendarId}", "calendar.read", Mvp, get::<Calendar>)
        .summary("Read a calendar")
        .query::<IncludeQuery>()
        .returns::<Resource<Calendar>>()
        .patch("/v1/calendars/{calendarId}", "calendar.write", Additive, update::<Calendar>)
        .summary("Change a calendar")
        .body::<Patch<Calendar>>()
        .returns::<Resource<Calendar>>()
        .delete("/v1/calendars/{calendarId}", "calendar.write", Additive, delete::<Calendar>)
        .summary("Delete a calendar and everything in it")
}
