//! `/v1/contact-groups`

use axum::extract::State;
use model::bounds;
use model::contacts::ContactGroup;
use model::formats::{self, InstantOrDate};
use model::resource::{New, Patch, Resource};
use schemars::JsonSchema;
use serde::Deserialize;
use service::app::App;
use service::app::resource_kind::ResourceKind;
use service::connections::request_context::RequestContext;
use service::resources::contacts::find::{self, ContactQuery};

use crate::api::operation::Priority::{Additive, Phase2};
use crate::api::operation::Routes;
use crate::api::pagination;
use crate::api::request::extractors::{Extract, Params};
use crate::api::request::query::{IncludeList, IncludeQuery, StrictQuery};
use crate::api::response::reply::ApiResult;
use crate::api::shared::collection_items::{
    create_in_book, delete_in_book, get_in_book, listed, update_in_book,
};
use crate::web::cursor::Binding;

const GROUP: ResourceKind = ResourceKind::ContactGroup;

pub fn routes() -> Routes<App> {
    Routes::new("Contact groups")
        .get("/v1/contact-groups", "contacts.read", Additive, list)
        .summary("List contact groups, by name")
        .query::<GroupListQuery>()
        .lists::<Resource<ContactGroup>>()
        .post("/v1/contact-groups", "contacts.write", Phase2, create_in_book::<ContactGroup>)
        .summary("Create a contact group")
        .description("The group is created in the book `bookId`; without `bookId`, in the default book of `connectionId`. Its members are contacts of the same book.")
        .query::<StrictQuery>()
        .body::<New<ContactGroup>>()
        .returns::<Resource<ContactGroup>>()
        .get("/v1/contact-groups/{groupId}", "contacts.read", Additive, get_in_book::<ContactGroup>)
        .summary("Read a contact group")
        .query::<IncludeQuery>()
        .returns::<Resource<ContactGroup>>()
        .patch("/v1/contact-groups/{groupId}", "contacts.write", Phase2, update_in_book::<ContactGroup>)
        .summary("Change a contact group")
        .description("`contactIds` replaces the members. To change the members of a group with more than 500, change the `groupIds` of the contacts.")
        .query::<StrictQuery>()
        .body::<Patch<ContactGroup>>()
        .returns::<Resource<ContactGroup>>()
        .delete("/v1/contact-groups/{groupId}", "contacts.write", Phase2, delete_in_book::<ContactGroup>)
        .summary("Delete a contact group; its contacts stay")
}

/// The query string of a list of contact groups.
#[derive(Debug, Deserialize, JsonSchema)]
struct GroupListQuery {
    /// Returns only groups of this connection. Without it, groups of all connections that the key may use are returned.
    #[schemars(with = "Option<formats::Id>", length(max = bounds::MAX_ID))]
    connection_id: Option<String>,
    /// Returns only groups of this contact book.
    #[schemars(with = "Option<formats::Id>", length(max = bounds::MAX_ID))]
    book_id: Option<String>,
    /// Words, separated by spaces, that all occur in the name. Case and accents do not matter.
    #[schemars(length(max = bounds::list::MAX_QUERY))]
    q: Option<String>,
    /// Returns only groups that changed at this time or later. A date stands for its midnight in UTC.
    updated_after: Option<InstantOrDate>,
    /// Parts that the answer has beside the usual ones: `providerData` adds the provider's fields that the model has no field for. Other
    /// words are ignored.
    #[serde(default)]
    include: IncludeList,
}

async fn list(State(app): State<App>, Extract(asker): Extract<RequestContext>, params: Params) -> ApiResult {
    let limit = pagination::limit(params.get("limit"))?;
    let given: GroupListQuery = params.read()?;
    let query = ContactQuery {
        connection_id: given.connection_id,
        book_id: given.book_id,
        q: given.q,
        updated_after: given.updated_after.map(InstantOrDate::as_millis),
        with_provider_data: given.include.has_provider_data(),
        ..ContactQuery::default()
    };
    let binding = Binding::new(&asker.tenant, "contact_groups.list", &query);
    let after = binding.place(&app.keyring, params.get("cursor"))?;
    find::freshen(&app, &asker, &query).await?;
    let print = find::list(&app, &asker, GROUP, &query, after, limit);
    listed(&app, &asker, &params, &binding, limit, print).await
}
