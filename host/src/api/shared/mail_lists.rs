//! Common parts of mail lists: query parameters, and pages of messages, folders and labels.

use model::bounds;
use model::formats::{self, InstantOrDate};
use schemars::JsonSchema;
use serde::Deserialize;
use service::app::App;
use service::app::resource_kind::ResourceKind;
use service::app::stored_response::StoredResponse;
use service::connections::request_context::RequestContext;
use service::resources::mail::filter::{MailQuery, MessageFields};
use service::resources::mail::folders;

use crate::api::pagination;
use crate::api::request::extractors::Params;
use crate::api::request::query::{ConnectionIncludeQuery, IncludeList};
use crate::api::response::reply::{self, ApiResponse, ApiResult};
use crate::web::cursor::Binding;

/// The filters of a list of messages or drafts. A message is listed if it matches all of them.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct MessageFilterQuery {
    /// Returns only messages of this connection. Without it: of all connections that the key may use.
    #[schemars(with = "Option<formats::Id>", length(max = bounds::MAX_ID))]
    connection_id: Option<String>,
    /// Returns only messages in this folder.
    #[schemars(with = "Option<formats::Id>", length(max = bounds::MAX_ID))]
    folder_id: Option<String>,
    /// Returns only messages with this label.
    #[schemars(with = "Option<formats::Id>", length(max = bounds::MAX_ID))]
    label_id: Option<String>,
    /// Returns only messages of this thread.
    #[schemars(with = "Option<formats::Id>", length(max = bounds::MAX_ID))]
    thread_id: Option<String>,
    /// Returns only messages that contain these words. With `connection_id`, the provider searches the mailbox, with the texts of messages.
    /// Over several mailboxes, subjects, people, snippets and names of files are searched.
    #[schemars(length(max = bounds::list::MAX_QUERY))]
    q: Option<String>,
    /// Returns only messages with this text in the address or name of an author.
    #[schemars(length(max = bounds::list::MAX_ADDRESS))]
    from: Option<String>,
    /// Returns only messages with this text in an address or name in To.
    #[schemars(length(max = bounds::list::MAX_ADDRESS))]
    to: Option<String>,
    /// Returns only messages with this text in an address or name in Cc.
    #[schemars(length(max = bounds::list::MAX_ADDRESS))]
    cc: Option<String>,
    /// Returns only messages with this text in an address or name in Bcc.
    #[schemars(length(max = bounds::list::MAX_ADDRESS))]
    bcc: Option<String>,
    /// Returns only messages with this text in an address or name in From, To, Cc or Bcc.
    #[schemars(length(max = bounds::list::MAX_ADDRESS))]
    any_email: Option<String>,
    /// Returns only messages with this text in the subject. Case and accents do not matter.
    #[schemars(length(max = bounds::list::MAX_QUERY))]
    subject: Option<String>,
    /// Returns only unread messages, or, with `false`, only read ones.
    unread: Option<bool>,
    /// Returns only starred messages, or, with `false`, only messages without a star.
    starred: Option<bool>,
    /// Returns only messages with attachments, or, with `false`, only messages without any.
    has_attachment: Option<bool>,
    /// Returns only messages that were received at or after this time.
    received_after: Option<InstantOrDate>,
    /// Returns only messages that were received before this time.
    received_before: Option<InstantOrDate>,
    /// Returns only messages that match a query in the provider's own search language (`operations.nativeSearch` of the capabilities). It
    /// needs `connection_id`.
    #[schemars(length(max = bounds::list::MAX_NATIVE_QUERY))]
    native_query: Option<String>,
}

impl MessageFilterQuery {
    /// The filters, with default options.
    pub fn into_mail_query(self) -> MailQuery {
        MailQuery {
            connection_id: self.connection_id,
            folder_id: self.folder_id,
            label_id: self.label_id,
            thread_id: self.thread_id,
            q: self.q,
            native_query: self.native_query,
            from: self.from,
            to: self.to,
            cc: self.cc,
            bcc: self.bcc,
            any_email: self.any_email,
            subject: self.subject,
            unread: self.unread,
            starred: self.starred,
            has_attachment: self.has_attachment,
            received_after: self.received_after.map(InstantOrDate::as_millis),
            received_before: self.received_before.map(InstantOrDate::as_millis),
            ..MailQuery::default()
        }
    }
}

/// The parts of messages that an answer has.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct MessageViewQuery {
    /// The fields of each message: `summary` leaves out `body` and `headers`, `headers` leaves out `body`, `full` has all. If absent,
    /// `summary` for a list and `full` for a single message.
    fields: Option<FieldSelection>,
    /// The remote images in `body.safeHtml`: `block` (the default) removes them, `allow` leaves them in.
    images: Option<RemoteImages>,
    /// The additional parts of the answer: `providerData` adds the provider's fields that the model has no field for. Other words are
    /// ignored.
    #[serde(default)]
    include: IncludeList,
}

impl MessageViewQuery {
    /// The requested fields, or those that the operation returns otherwise.
    pub fn fields(&self, otherwise: MessageFields) -> MessageFields {
        match self.fields {
            None => otherwise,
            Some(FieldSelection::Summary) => MessageFields::Summary,
            Some(FieldSelection::Headers) => MessageFields::Headers,
            Some(FieldSelection::Full) => MessageFields::Full,
        }
    }

    /// Whether remote images stay in `safeHtml`.
    pub fn with_images(&self) -> bool {
        self.images == Some(RemoteImages::Allow)
    }

    /// Whether the provider's own fields are returned.
    pub fn with_provider_data(&self) -> bool {
        self.include.has_provider_data()
    }
}

/// The words of `fields`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
enum FieldSelection {
    Summary,
    Headers,
    Full,
}

/// The words of `images`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
enum RemoteImages {
    Allow,
    Block,
}

/// A page of folders or labels.
pub async fn places(app: &App, asker: &RequestContext, params: &Params, kind: ResourceKind) -> ApiResult {
    let limit = pagination::limit(params.get("limit"))?;
    let query: ConnectionIncludeQuery = params.read()?;
    let connection_id = query.connection_id.as_deref();
    let binding = Binding::new(&asker.tenant, kind.as_str(), &connection_id);
    let after: String = binding.place(&app.keyring, params.get("cursor"))?.unwrap_or_default();
    let mut items = folders::list(app, asker, kind, connection_id, &after, limit + 1).await?;
    let more = (items.len() as i64) > limit;
    items.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    let texts = folders::render_folders(app, &items, query.include.has_provider_data()).await?;
    let cursor = |last: usize| binding.cursor(&app.keyring, &items.get(last).map(|i| &i.id));
    Ok(ApiResponse(reply::over_connections(StoredResponse::ok(pagination::cut(&texts, more, cursor)), asker)))
}
