//! `/v1/contacts/merge-suggestions`

use model::contacts::{MergeSuggestion, MergeSuggestionQuery};

use crate::api::error::ApiError;
use crate::api::operation::Priority::Mvp;
use crate::api::operation::Routes;
use crate::app::App;
use crate::error::{Code, refuse};

pub fn routes() -> Routes<App> {
    Routes::new("Contacts")
        .post("/v1/contacts/merge-suggestions/query", "contacts.read", Mvp, query)
        .summary("Find contacts that seem to be the same")
        .description("Only suggestions: nothing is changed.")
        .body::<MergeSuggestionQuery>()
        .lists::<MergeSuggestion>()
        .not_built()
}

async fn query() -> ApiError {
    ApiError(refuse(Code::NotImplemented, "this operation is not built yet; /docs tells which are"))
}
