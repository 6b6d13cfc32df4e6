//! `/v1/contact-groups`

use axum::extract::State;
use http::HeaderMap;
use model::contacts::ContactGroup;
use model::resource::{New, Patch, Resource};

use crate::answer::{Answer, Attempt};
use crate::api::asker::{Params, Path};
use crate::api::contents::{listed, manner};
use crate::api::error::ApiError;
use crate::api::json::Body;
use crate::api::operation::Priority::{Additive, Phase2};
use crate::api::operation::Routes;
use crate::api::page::{self, Binding};
use crate::app::App;
use crate::resources::contacts::find::{self, Query};
use crate::resources::contacts::people::{book_of, book_with};
use crate::resources::{Asker, Kind, contents};

const GROUP: Kind = Kind::ContactGroup;

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
        .post("/v1/contact-groups", "contacts.write", Phase2, create)
        .summary("Create a contact group")
        .description("`bookId` says where; without it, in the default book of `connectionId`. Members are contacts of the same book.")
        .body::<New<ContactGroup>>()
        .returns::<Resource<ContactGroup>>()
        .get("/v1/contact-groups/{groupId}", "contacts.read", Additive, get)
        .summary("Read a contact group")
        .param("include", "string", "`providerData` adds what the model has no field for")
        .returns::<Resource<ContactGroup>>()
        .patch("/v1/contact-groups/{groupId}", "contacts.write", Phase2, update)
        .summary("Change a contact group")
        .description("`contactIds` replaces the members; of a group with more than 500 the members are changed by their `groupIds`.")
        .body::<Patch<ContactGroup>>()
        .returns::<Resource<ContactGroup>>()
        .delete("/v1/contact-groups/{groupId}", "contacts.write", Phase2, delete)
        .summary("Delete a contact group; its contacts stay")
}

async fn list(State(app): State<App>, asker: Asker, params: Params) -> Result<Answer, ApiError> {
    let limit = page::limit(params.get("limit"))?;
    let query = Query {
        connection_id: params.text("connection_id", 64)?,
        book_id: params.text("book_id", 64)?,
        q: params.text("q", 256)?,
        updated_after: params.instant("updated_after")?,
        with_provider_data: params.with_provider_data(),
        ..Query::default()
    };
    let binding = Binding::new(&asker.tenant, "contact_groups.list", &query);
    let after = binding.place(&app.keyring, params.get("cursor"))?;
    find::freshen(&app, &asker, &query).await?;
    let print = find::list(&app, &asker, GROUP, &query, (after, limit));
    listed(&app, &asker, (&binding, params.get("cursor"), limit, query.with_provider_data), print).await
}

async fn create(
    State(app): State<App>,
    asker: Asker,
    attempt: Attempt,
    headers: HeaderMap,
    params: Params,
    Body(mut body): Body,
) -> Result<Answer, ApiError> {
    let manner = manner(&headers, &params, &mut body)?;
    let mut opened = book_of(&app, &asker, &mut body).await?;
    opened.kind = GROUP;
    Ok(contents::create::<ContactGroup>(&app, &asker, &opened, body, manner, &attempt).await?)
}

async fn get(
    State(app): State<App>,
    asker: Asker,
    params: Params,
    Path(id): Path<String>,
) -> Result<Answer, ApiError> {
    find::freshen_one(&app, &asker, GROUP, &id).await?;
    Ok(contents::get(&app, &asker, (GROUP, &id), None, params.with_provider_data()).await?)
}

async fn update(
    State(app): State<App>,
    asker: Asker,
    attempt: Attempt,
    headers: HeaderMap,
    params: Params,
    Path(id): Path<String>,
    Body(mut body): Body,
) -> Result<Answer, ApiError> {
    let manner = manner(&headers, &params, &mut body)?;
    let opened = book_with(&app, &asker, GROUP, &id).await?;
    Ok(contents::update::<ContactGroup>(&app, &asker, (&opened, &id), body, manner, &attempt).await?)
}

async fn delete(
    State(app): State<App>,
    asker: Asker,
    attempt: Attempt,
    headers: HeaderMap,
    params: Params,
    Path(id): Path<String>,
    Body(mut body): Body,
) -> Result<Answer, ApiError> {
    let manner = manner(&headers, &params, &mut body)?;
    let opened = book_with(&app, &asker, GROUP, &id).await?;
    Ok(contents::delete(&app, &asker, (&opened, GROUP, &id), manner.expected, &attempt).await?)
}
