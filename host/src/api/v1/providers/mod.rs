//! `/v1/providers`: the connectors of the installation, and what is needed to connect an account with each.

pub mod notifications;

use axum::extract::State;
use model::provider::Provider;
use service::app::App;
use service::app::stored_response::StoredResponse;
use service::connections::request_context::RequestContext;
use service::manage::{account_providers, provider_view};

use crate::api::operation::Priority::Additive;
use crate::api::operation::{ANY_KEY, Routes};
use crate::api::pagination;
use crate::api::request::extractors::{Extract, Params, Path};
use crate::api::response::reply::{ApiResponse, ApiResult};
use crate::web::cursor::Binding;

pub fn routes() -> Routes<App> {
    Routes::new("Providers")
        .get("/v1/providers", ANY_KEY, Additive, list)
        .summary("List providers")
        .description("The connectors of this installation, sorted by name, as their manifests describe them. Any key may read them: they hold nothing of an application, apart from `oauthRegistered`.")
        .lists::<Provider>()
        .get("/v1/providers/{provider}", ANY_KEY, Additive, get)
        .summary("Read a provider")
        .description("What you need to connect an account: the ways to authenticate, the scopes, and JSON Schemas of `settings` and `credentials`. What a connected account can do is at `GET /v1/connections/{connectionId}/capabilities`. With `serve --sandbox`, the provider `sandbox` has test accounts.")
        .returns::<Provider>()
}

async fn list(State(app): State<App>, Extract(asker): Extract<RequestContext>, params: Params) -> ApiResult {
    let limit = usize::try_from(pagination::limit(params.get("limit"))?).unwrap_or(usize::MAX);
    let binding = Binding::new(&asker.tenant, "providers.list", &());
    let after: String = binding.place(&app.keyring, params.get("cursor"))?.unwrap_or_default();
    let mut found = account_providers::list(&app, &asker.tenant).await?;
    found.retain(|provider| provider.name() > after.as_str());
    found.sort_by(|a, b| a.name().cmp(b.name()));
    let has_more = found.len() > limit;
    found.truncate(limit);
    let mut items = Vec::with_capacity(found.len());
    for provider in &found {
        items.push(serde_json::to_string(&provider_view::view(provider))?);
    }
    let cursor = |last: usize| binding.cursor(&app.keyring, &found.get(last).map(|last| last.name()));
    Ok(ApiResponse(StoredResponse::ok(pagination::cut(&items, has_more, cursor))))
}

async fn get(
    State(app): State<App>,
    Extract(asker): Extract<RequestContext>,
    Path(name): Path<String>,
) -> ApiResult {
    let provider = account_providers::find(&app, &asker.tenant, &name).await?;
    let body = serde_json::to_string(&provider_view::view(&provider))?;
    Ok(ApiResponse(StoredResponse::ok(body)))
}
