//! `/v1/contacts`

pub mod merge_suggestions;
pub mod sync;

use axum::extract::State;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use http::{HeaderMap, header};
use model::bounds;
use model::contacts::{Contact, ContactPicture};
use model::formats::{self, InstantOrDate};
use model::resource::{New, Patch, Resource};
use schemars::JsonSchema;
use serde::Deserialize;
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
use crate::api::request::query::{IncludeList, IncludeQuery, StrictQuery};
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
        .description("The contacts are sorted by `displayName` without regard to case, then by id.")
        .query::<ContactListQuery>()
        .lists::<Resource<Contact>>()
        .post("/v1/contacts", "contacts.write", Mvp, create_in_book::<Contact>)
        .summary("Create a contact")
        .description("A contact needs at least one of a name, an email address, a phone number and an organization. It is created in the book `bookId`; without `bookId`, in the default book of `connectionId`.")
        .query::<StrictQuery>()
        .body::<New<Contact>>()
        .returns::<Resource<Contact>>()
        .get("/v1/contacts/{contactId}", "contacts.read", Mvp, get_in_book::<Contact>)
        .summary("Read a contact")
        .query::<IncludeQuery>()
        .returns::<Resource<Contact>>()
        .patch("/v1/contacts/{contactId}", "contacts.write", Mvp, update_in_book::<Contact>)
        .summary("Change a contact")
        .description("The body is a JSON merge patch (RFC 7396). Fields that it does not name stay as they are, with everything that other programs wrote into the record.")
        .query::<StrictQuery>()
        .body::<Patch<Contact>>()
        .returns::<Resource<Contact>>()
        .delete("/v1/contacts/{contactId}", "contacts.write", Mvp, delete_in_book::<Contact>)
        .summary("Delete a contact")
        .get("/v1/contacts/{contactId}/photo", "contacts.read", Additive, get_photo)
        .summary("Read the picture that a contact's record holds")
        .description("The answer is JSON with the picture in base64, or the bytes of the picture with `Accept: application/octet-stream` or `format=raw`. A picture that the record only links to is at `photo.url`; it answers 404 here.")
        .query::<PhotoQuery>()
        .returns::<ContactPicture>()
        .return_type("application/octet-stream")
}

/// The query string of a list of contacts.
#[derive(Debug, Deserialize, JsonSchema)]
struct ContactListQuery {
    /// Returns only contacts of this connection. Without it, contacts of all connections that the key may use are returned.
    #[schemars(with = "Option<formats::Id>", length(max = bounds::MAX_ID))]
    connection_id: Option<String>,
    /// Returns only contacts of this contact book.
    #[schemars(with = "Option<formats::Id>", length(max = bounds::MAX_ID))]
    book_id: Option<String>,
    /// Returns only members of this contact group.
    #[schemars(with = "Option<formats::Id>", length(max = bounds::MAX_ID))]
    group_id: Option<String>,
    /// Words, separated by spaces, that all occur in names, organizations, addresses, numbers, handles or notes. Case and accents do not
    /// matter.
    #[schemars(length(max = bounds::list::MAX_QUERY))]
    q: Option<String>,
    /// Returns only contacts with this email address. Case does not matter.
    #[schemars(length(max = bounds::list::MAX_ADDRESS))]
    email: Option<String>,
    /// Returns only contacts with this phone number, in any spelling.
    #[schemars(length(max = bounds::list::MAX_PHONE))]
    phone: Option<String>,
    /// Returns only contacts that changed at this time or later. A date stands for its midnight in UTC.
    updated_after: Option<InstantOrDate>,
    /// Parts that the answer has beside the usual ones: `providerData` adds the provider's fields that the model has no field for. Other
    /// words are ignored.
    #[serde(default)]
    include: IncludeList,
}

/// The query string of a read of a contact's picture.
#[derive(Debug, Deserialize, JsonSchema)]
struct PhotoQuery {
    /// The form of the answer. Without it, the header `Accept` decides.
    #[serde(default)]
    #[schemars(with = "PhotoFormat")]
    format: Option<PhotoFormat>,
}

/// The form in which a picture is returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
enum PhotoFormat {
    /// The bytes of the picture.
    Raw,
    /// JSON with the picture in base64.
    Json,
}

async fn list(State(app): State<App>, Extract(asker): Extract<RequestContext>, params: Params) -> ApiResult {
    let limit = pagination::limit(params.get("limit"))?;
    let given: ContactListQuery = params.read()?;
    let query = ContactQuery {
        connection_id: given.connection_id,
        book_id: given.book_id,
        group_id: given.group_id,
        q: given.q,
        email: given.email,
        phone: given.phone,
        updated_after: given.updated_after.map(InstantOrDate::as_millis),
        with_provider_data: given.include.has_provider_data(),
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
    let PhotoQuery { format } = params.read()?;
    let accepts = headers.get(header::ACCEPT).and_then(|v| v.to_str().ok()).unwrap_or_default();
    let found = photo::get(&app, &asker, &id).await?;
    let wants_bytes = match format {
        Some(format) => format == PhotoFormat::Raw,
        None => accepts.contains("application/octet-stream"),
    };
    if wants_bytes {
        // A browser must not show a file of another author as a page of this service.
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
