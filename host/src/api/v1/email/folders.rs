//! `/v1/email/folders`

use axum::extract::State;
use model::email::folders::Folder;
use model::resource::Resource;

use crate::answer::Answer;
use crate::api::asker::Params;
use crate::api::error::ApiError;
use crate::api::operation::Priority::Mvp;
use crate::api::operation::Routes;
use crate::api::page::{self, Binding};
use crate::app::App;
use crate::resources::mail::folders;
use crate::resources::{Asker, Kind};

pub fn routes() -> Routes<App> {
    Routes::new("Email")
        .get("/v1/email/folders", "email.read", Mvp, list)
        .summary("List folders")
        .description("With their roles, and how many messages the provider counts in them.")
        .param(
            "connection_id",
            "string",
            "Only folders of this connection; without it, of all that the key may use",
        )
        .param("include", "string", "`providerData` adds what the model has no field for")
        .lists::<Resource<Folder>>()
}

async fn list(State(app): State<App>, asker: Asker, params: Params) -> Result<Answer, ApiError> {
    listed(&app, &asker, &params, Kind::EmailFolder).await
}

/// A page of folders or labels.
pub async fn listed(app: &App, asker: &Asker, params: &Params, kind: Kind) -> Result<Answer, ApiError> {
    let limit = page::limit(params.get("limit"))?;
    let connection_id = params.get("connection_id");
    let binding = Binding::new(&asker.tenant, kind.as_str(), &connection_id);
    let after: String = binding.place(&app.keyring, params.get("cursor"))?.unwrap_or_default();
    let mut items = folders::list(app, asker, kind, connection_id, (&after, limit + 1)).await?;
    let more = (items.len() as i64) > limit;
    items.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    let next = items.last().filter(|_| more).map(|i| binding.cursor(&app.keyring, &i.id));
    let raw = params.with_provider_data();
    let texts = items.iter().map(|i| folders::printed(i, raw)).collect::<Result<Vec<_>, _>>()?;
    Ok(Answer::ok(page::page(&texts, next.as_deref())))
}
