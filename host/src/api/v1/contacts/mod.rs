//! `/v1/contacts`

pub mod merge_suggestions;
pub mod sync;

use axum::extract::State;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use http::{HeaderMap, header};
use model::contacts::{Contact, ContactPicture};
use model::resource::{New, Patch, Resource};
use service::app::App;
use service::app::resource_kind::ResourceKind;
use service::app::stored_response::StoredResponse;
use service::connections::request_context::RequestContext;
use service::resources::contacts::find::{self, ContactQuery};
use service::resources::contacts::photo;

use crate::api::operation::Priority::{Additive, Mvp};
use crate::api::operation::Routes;
use crate::api::pagination;
use crate::api::request::extractors::{Extract, Params, Path};
use crate::api::response::reply::{ApiResponse, ApiResult};
use crate::api::shared::collection_items::{
    create_in_book, delete_in_book, get_in_book, listed, update_in_book,
};
use crate::web::cursor::Binding;

const CONTACT: ResourceKind = ResourceKind::Contact;

pub fn routes() -> Routes<App> {
    Routes::new("Contacts")
        .get("/v1/contacts", "contacts.read", Mvp, list)
        .summary("Search and list contacts, by name")
        .description("By `displayName` without regard to case, then by id.")
        .param("connection_id", "string", "Only contacts of this connection; without it, of all that the key may use")
        .param("book_id", "string", "Only contacts of this book")
        .param("group_id", "string", "Only members of this group")
        .param("q", "string", "Words in names, organizations, addresses, numbers, handles or notes; case and accents do not matter")
        .param("email", "string", "Only contacts with this e-mail address")
        .param("phone", "string", "Only contacts with this telephone number, in any spelling")
        .param("updated_after", "string", "Only contacts changed at or after this instant")
        .param("include", "string", "`providerData` adds what the model has no field for")
        .lists::<Resource<Contact>>()
        .post("/v1/contacts", "contacts.write", Mvp, create_in_book::<Contact>)
        .summary("Create a contact")
        .description("At least one of a name, an e-mail address, a phone number and an organization. `bookId` says where; without it, in the default book of `connectionId`.")
        .param("strict", "boolean", "400 for a field that the provider cannot keep, instead of a warning")
        .body::<New<Contact>>()
        .returns::<Resource<Contact>>()
        .get("/v1/contacts/{contactId}", "contacts.read", Mvp, get_in_book::<Contact>)
        .summary("Read a contact")
        .param("include", "string", "`providerData` adds what the model has no field for")
        .returns::<Resource<Contact>>()
        .patch("/v1/contacts/{contactId}", "contacts.write", Mvp, update_in_book::<Contact>)
        .summary("Change a contact")
        .description("A JSON merge patch. What another client wrote into the record and the patch does not name stays as it is.")
        .param("strict", "boolean", "400 for a field that the provider cannot keep, instead of a warning")
        .body::<Patch<Contact>>()
        .returns::<Resource<Contact>>()
        .delete("/v1/contacts/{contactId}", "contacts.write", Mvp, delete_in_book::<Contact>)
        .summary("Delete a contact")
        .get("/v1/contacts/{contactId}/photo", "contacts.read", Additive, get_photo)
        .summary("Read the picture that a contact's record holds")
        .description("JSON with the picture in base64, or its bytes with `Accept: application/octet-stream` or `format=raw`. A picture elsewhere is at `photo.url`.")
        .param("format", "string", "`raw`: the bytes")
        .returns::<ContactPicture>()
        .return_type("application/octet-stream")
}

async fn list(State(app): State<App>, Extract(asker): Extract<RequestContext>, params: Params) -> ApiResult {
    let limit = pagination::limit(params.get("limit"))?;
    let query = ContactQuery {
        connection_id: params.text("connection_id", 64)?,
        book_id: params.text("book_id", 64)?,
        group_id: params.text("group_id", 64)?,
        q: params.text("q", 256)?,
        email: params.text("email", 320)?,
        phone: params.text("phone", 128)?,
        updated_after: params.instant("updated_after")?,
        with_provider_data: params.with_provider_data(),
    };
    let binding = Binding::new(&asker.tenant, "contacts.list", &query);
    let after = binding.place(&app.keyring, params.get("cursor"))?;
    find::freshen(&app, &asker, &query).await?;
    let print = find::list(&app, &asker, CONTACT, &query, after, limit);
    listed(&app, &asker, &params, &binding, limit, print).await
}

async fn get_photo(
    State(app): State<App>,
    Extract(asker): Extract<RequestContext>,
    headers: HeaderMap,
    params: Params,
    Path(id): Path<String>,
) -> ApiResult {
    let format = params.word("format", &["raw", "json"])?;
    let accepts = headers.get(header::ACCEPT).and_then(|v| v.to_str().ok()).unwrap_or_default();
    let found = photo::get(&app, &asker, &id).await?;
    if format.as_deref() == Some("raw") || (format.is_none() && accepts.contains("application/octet-stream"))
    {
        // What somebody else wrote is never shown as a page of ours.
        return Ok(ApiResponse(
            StoredResponse::ok(found.bytes)
                .header("content-type", found.content_type)
                .header("x-content-type-options", "nosniff")
                .header("content-security-policy", "sandbox"),
        ));
    }
    let picture = ContactPicture {
        content_type: found.content_type,
        size: i64::try_from(found.bytes.len()).unwrap_or(i64::MAX),
        etag: found.etag,
        content_base64: BASE64_STANDARD.encode(&found.bytes),
    };
    Ok(ApiResponse(StoredResponse::ok(serde_json::to_string(&picture)?)))
}
