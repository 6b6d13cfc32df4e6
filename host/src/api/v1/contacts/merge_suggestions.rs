//! `/v1/contacts/merge-suggestions`

use axum::extract::State;
use http::HeaderMap;
use merging::Position;
use model::contacts::{MergeSuggestion, MergeSuggestionQuery};
use serde::{Deserialize, Serialize};
use service::app::App;
use service::app::stored_response::StoredResponse;
use service::connections::request_context::RequestContext;
use service::resources::contacts::duplicates;

use crate::api::operation::Priority::Mvp;
use crate::api::operation::Routes;
use crate::api::pagination;
use crate::api::request::extractors::Extract;
use crate::api::request::json::{self, Body};
use crate::api::response::reply::{ApiResponse, ApiResult};
use crate::web::cursor::Binding;

pub fn routes() -> Routes<App> {
    Routes::new("Contacts")
        .post("/v1/contacts/merge-suggestions/query", "contacts.read", Mvp, query)
        .summary("Find contacts that seem to be the same")
        .description("The suggestions change nothing. An equal email address, phone number or profile gives a score of at least 0.9, an equal name at an equal organization 0.7 to 0.85, an equal name alone at most 0.6. Role addresses (`info@`), numbers on more than three contacts, and values shared by contacts whose names contradict each other (a household, an office) do not count. The suggestions are sorted by score, the highest first, then by id. `limit` and `cursor` are fields of the body.")
        .body::<MergeSuggestionQuery>()
        .lists::<MergeSuggestion>()
}

/// A position in the list: after this score and id.
#[derive(Serialize, Deserialize)]
struct SuggestionPosition {
    #[serde(rename = "s")]
    score: u16,
    #[serde(rename = "i")]
    id: String,
}

async fn query(
    State(app): State<App>,
    Extract(asker): Extract<RequestContext>,
    headers: HeaderMap,
    Body(body): Body,
) -> ApiResult {
    let (query, unknown) = json::typed::<MergeSuggestionQuery>(body)?;
    let warnings = json::unknown_fields(&headers, &unknown)?;
    duplicates::valid(&query)?;
    let limit = pagination::limit(query.limit.map(|n| n.to_string()).as_deref())?;
    let filters = (&query.connection_id, &query.book_ids, &query.contact_ids, query.min_score);
    let binding = Binding::new(&asker.tenant, "contacts.merge_suggestions", &filters);
    let after: Option<SuggestionPosition> = binding.place(&app.keyring, query.cursor.as_deref())?;
    let after = after.map(|p| Position::at(p.score, p.id));
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let (found, next) = duplicates::page(&app, &asker, &query, after, limit).await?;
    let next = next.map(|p| binding.cursor(&app.keyring, &SuggestionPosition { score: p.score.0, id: p.id }));
    Ok(ApiResponse(StoredResponse::ok(pagination::page(&found, next.as_deref())).warned(&warnings)))
}
