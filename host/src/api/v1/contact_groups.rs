//! `/v1/contact-groups`

use axum::extract::State;
use model::contacts::ContactGroup;
use model::resource::{New, Patch, Resource};
use service::app::App;
use service::app::resource_kind::ResourceKind;
use service::connections::request_context::RequestContext;
use service::resources::contacts::find::{self, ContactQuery};

use crate::api::operation::Priority::{Additive, Phase2};
use crate::api::operation::Routes;
use crate::api::pagination;
use crate::api::request::extractors::{Extract, Params};
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
        .param("connection_id", "string", "Only groups of this connection; without it, of all that the key may use")
        .param("book_id", "string", "Only groups of this book")
        .param("q", "string", "Words in the name")
        .param("updated_after", "string", "Only groups changed at or after this instant")
        .param("include", "string", "`providerData` adds what the model has no field for")
        .lists::<Resource<ContactGroup>>()
        .post("/v1/contact-groups", "contacts.write", Phase2, create_in_book::<ContactGroup>)
        .summary("Create a contact group")
        .description("`bookId` says where; without it, in the default book of `connectionId`. Members are contacts of the same book.")
        .body::<New<ContactGroup>>()
        .returns::<Resource<ContactGroup>>()
        .get("/v1/contact-groups/{groupId}", "contacts.read", Additive, get_in_book::<ContactGroup>)
        .summary("Read a contact group")
        .param("include", "string", "`providerData` adds what the model has no field for")
        .returns::<Resource<ContactGroup>>()
        .patch("/v1/contact-groups/{groupId}", "contacts.write", Phase2, update_in_book::<ContactGroup>)
        .summary("Change a contact group")
        .description("`contactIds` replaces the members; of a group with more than 500 the members are changed by their `groupIds`.")
        .body::<Patch<ContactGroup>>()
        .returns::<Resource<ContactGroup>>()
        .delete("/v1/contact-groups/{groupId}", "contacts.write", Phase2, delete_in_book::<ContactGroup>)
        .summary("Delete a contact group; its contacts stay")
}

async fn list(State(app): State<App>, Extract(asker): Extract<RequestContext>, params: Params) -> ApiResult {
    let limit = pagination::limit(params.get("limit"))?;
    let query = ContactQuery {
        connection_id: params.text("connection_id", 64)?,
        book_id: params.text("book_id", 64)?,
        q: params.text("q", 256)?,
        updated_after: params.instant("updated_after")?,
        with_provider_data: params.with_provider_data(),
        ..ContactQuery::default()
    };
    let binding = Binding::new(&asker.tenant, "contact_groups.list", &query);
    let after = binding.place(&app.keyring, params.get("cursor"))?;
    find::freshen(&app, &asker, &query).await?;
    let print = find::list(&app, &asker, GROUP, &query, after, limit);
    listed(&app, &asker, &params, &binding, limit, print).await
}
