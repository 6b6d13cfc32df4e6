//! `/v1/email/capabilities/{connectionId}`, and the same answer under the connection itself: what an account can do, asked
//! before it is tried.

use axum::extract::{Path, State};
use model::capabilities::Capabilities;

use crate::answer::Answer;
use crate::api::error::ApiError;
use crate::api::operation::Priority::{Additive, Mvp};
use crate::api::operation::Routes;
use crate::app::App;
use crate::connections::{self, capabilities};
use crate::resources::Asker;

pub fn routes() -> Routes<App> {
    Routes::new("Email")
        .get("/v1/email/capabilities/{connectionId}", "email.read", Mvp, get)
        .summary("What a mailbox connection can do")
        .description("Also tells of its calendars, contacts and tasks. Everything that it cannot do stands in `missing`, with the reason.")
        .returns::<Capabilities>()
        .tag("Connections")
        .get("/v1/connections/{connectionId}/capabilities", "connections.read", Additive, get)
        .summary("What a connection can do, on every surface")
        .returns::<Capabilities>()
}

async fn get(State(app): State<App>, asker: Asker, Path(id): Path<String>) -> Result<Answer, ApiError> {
    if !asker.may_use(&id) {
        return Err(ApiError(crate::error::not_found("connection")));
    }
    let connection = connections::find(&app, &asker.tenant, &id).await?;
    let capabilities = capabilities::of(&app, &connection, &asker).await?;
    Ok(Answer::ok(serde_json::to_string(&capabilities)?))
}
