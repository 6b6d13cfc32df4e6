//! The photo in a contact's record.

use base::error::{Code, Result, not_found, refuse};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use model::contacts::Contact;
use model::wire::SourceRef;
use model::wire::contacts::Picture;
use runtime::Surface;

use crate::app::App;
use crate::app::resource_kind::ResourceKind;
use crate::connections::provider_call::fetch;
use crate::connections::request_context::RequestContext;
use crate::resources::collections::open_to_read;

/// A picture's type and bytes, and the etag of the photo.
pub struct PhotoBytes {
    pub content_type: String,
    pub bytes: Vec<u8>,
    pub etag: Option<String>,
}

/// Reads the photo from the provider: photos are not stored here.
pub async fn get(app: &App, asker: &RequestContext, contact_id: &str) -> Result<PhotoBytes> {
    let item = asker.item(app, ResourceKind::Contact, contact_id).await?;
    let opened = open_to_read(app, asker, ResourceKind::ContactBook, &item.parent_id).await?;
    let (connection, book) = &*opened;
    let contact: Contact = serde_json::from_str(&item.body)?;
    let photo =
        contact.photo.filter(|p| p.url.is_none()).ok_or_else(|| not_found("picture in this contact"))?;
    let args =
        SourceRef { collection: book.external_id.clone(), source: item.source_id.clone(), time_zone: None };
    let picture: Picture = fetch(app, connection, asker, Surface::Contacts, "contacts.photo", &args).await?;
    let bytes = BASE64_STANDARD.decode(&picture.content_base64);
    let bytes = bytes.map_err(|_| {
        refuse(Code::ConnectorError, "the connector's picture of this contact is not base64 (RFC 4648)")
    })?;
    Ok(PhotoBytes { content_type: image_type(&picture.content_type), bytes, etag: photo.etag })
}

/// Returns the media type if browsers show it as a picture; the type comes from the record's author.
fn image_type(told: &str) -> String {
    const KNOWN: [&str; 7] =
        ["image/jpeg", "image/png", "image/gif", "image/webp", "image/bmp", "image/heic", "image/avif"];
    let told = told.to_ascii_lowercase();
    KNOWN.into_iter().find(|known| *known == told).unwrap_or("application/octet-stream").to_owned()
}
