//! One row per operation: method, path, scope and release stage, with its documentation. The router, the scope check and the OpenAPI
//! document use it.

use axum::handler::Handler;
use axum::routing::{MethodFilter, MethodRouter, on};
use http::Method;
use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::api::request::body::{MAX_BODY, MAX_BODY_WITH_FILES};
use crate::api::request::query::{self, QueryField};

/// The scope of an operation that any valid key may call.
pub const ANY_KEY: &str = "";

/// Returns the schema of a type when the document is rendered.
pub type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// The release stage that the contract gives an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    Mvp,
    Common,
    Phase2,
    /// In the contract, without a label.
    Unlabelled,
    /// Not in the contract; fills one of its gaps.
    Additive,
}

impl Priority {
    /// The value of `x-service-priority`; none where the contract has no label.
    pub fn label(self) -> Option<&'static str> {
        match self {
            Priority::Mvp => Some("MVP"),
            Priority::Common => Some("Common"),
            Priority::Phase2 => Some("Phase2"),
            Priority::Unlabelled | Priority::Additive => None,
        }
    }
}

/// A documented request header of one operation.
#[derive(Clone, Copy, Debug)]
pub struct HeaderParameter {
    pub name: &'static str,
    pub description: &'static str,
}

/// The documentation of an operation.
#[derive(Clone, Debug, Default)]
pub struct Docs {
    pub summary: &'static str,
    /// Markdown, one paragraph; may be empty.
    pub description: &'static str,
    /// Headers of this operation alone. `Idempotency-Key` and `If-Match` are added for its kind.
    pub headers: Vec<HeaderParameter>,
    /// Objects whose properties are query parameters. `limit` and `cursor` are added for its kind.
    pub queries: Vec<SchemaOf>,
    /// The same parameters, to check the names of received ones.
    pub query_fields: Vec<fn() -> &'static [QueryField]>,
    pub request: Option<SchemaOf>,
    /// Whether the operation can be called without a body, although it creates something.
    pub is_body_optional: bool,
    /// Media types that the body may have instead of JSON.
    pub request_types: Vec<&'static str>,
    /// The schema of the response body; for a list, of an item of `data`.
    pub response: Option<SchemaOf>,
    /// Media types that the response may have instead of JSON.
    pub response_types: Vec<&'static str>,
    /// Whether the response is an endless stream of server-sent events, without a schema.
    pub streams: bool,
}

/// One operation.
#[derive(Clone, Debug)]
pub struct Operation {
    pub method: Method,
    pub path: &'static str,
    /// Heading in the documentation.
    pub tag: &'static str,
    /// The required scope, such as `calendar.write`; `ANY_KEY` if any valid key is enough.
    pub scope: &'static str,
    pub priority: Priority,
    /// No key is asked for: something else authenticates the call.
    pub public: bool,
    /// Whether a public operation authenticates a key if one is sent, and refuses an invalid one.
    pub optional_key: bool,
    /// Whether a public operation has its own rate limit instead of the limits per address.
    pub own_budget: bool,
    /// Whether errors have the form of RFC 6749, and the key may be the password of HTTP Basic authentication.
    pub oauth_errors: bool,
    /// Whether the response is a page: `data` and `next_cursor`.
    pub list: bool,
    /// Whether it takes `limit` and `cursor`: lists, and change feeds.
    pub paged: bool,
    /// Whether it is implemented; otherwise it answers 501 `not_implemented`.
    pub built: bool,
    /// Maximum body, bytes.
    pub max_body: usize,
    pub docs: Docs,
    status: Option<u16>,
}

/// Last path segments that name an action and so end the `operationId`.
const VERBS: &str = "accept authorize callback cancel changes conference confirm decline deliver notifications query refresh reject renew \
                     replay reschedule reset retry rotate send start status stream tentative test token trigger";

impl Operation {
    /// Derives the `operationId` from the path: `calendars.events.create`.
    pub fn id(&self) -> String {
        let segments = self.path.split('/').filter(|s| !s.is_empty()).skip(1);
        let mut words: Vec<String> = segments.filter(|s| !s.starts_with('{')).map(camel).collect();
        if words.last().is_some_and(|w| VERBS.split_whitespace().any(|verb| verb == w)) {
            let of_kind = if self.path.ends_with("/notifications/{name}") { "OfKind" } else { "" };
            return words.join(".") + of_kind;
        }
        words.push(self.verb(self.path.ends_with('}')).into());
        words.join(".")
    }

    fn verb(&self, is_item: bool) -> &'static str {
        match self.method {
            Method::POST if is_item => "replace",
            Method::POST => "create",
            Method::PATCH => "update",
            Method::PUT => "replace",
            Method::DELETE => "delete",
            _ if self.list && !is_item => "list",
            _ => "get",
        }
    }

    /// The status of success.
    // Contract silent: which of 200, 201, 202 and 204 an operation returns. So: 201 creates, 204 deletes, 202 starts
    // something that goes on after the answer, 200 is everything else.
    pub fn status(&self) -> u16 {
        self.status.unwrap_or_else(|| match (&self.method, self.id().rsplit('.').next()) {
            (&Method::DELETE, _) => 204,
            (&Method::POST, Some("create")) => 201,
            (&Method::POST, Some("send" | "start" | "reset" | "replay")) => 202,
            _ => 200,
        })
    }

    /// Whether it is one of the operations that the contract lists.
    pub fn in_contract(&self) -> bool {
        self.priority != Priority::Additive
    }

    /// Whether it changes something, and so takes an `Idempotency-Key`. A query sent by POST changes nothing; public operations have no API
    /// key for which such keys are stored.
    pub fn is_write(&self) -> bool {
        !self.method.is_safe() && !self.public && !self.path.ends_with("/query")
    }

    /// Whether it changes one resource that has an etag, and so takes `If-Match`.
    pub fn takes_etag(&self) -> bool {
        matches!(self.method, Method::PATCH | Method::PUT | Method::DELETE)
    }

    /// Whether it reads the local copy of provider data: then it takes `fresh`, and reports the age of the data.
    pub fn reads_copy(&self) -> bool {
        let mut words = self.path.split('/').skip(2);
        let is_copied = words.next().is_some_and(|word| is_among(COPIED, word));
        self.method == Method::GET && is_copied && !words.any(|word| is_among(NOT_COPIED, word))
    }

    /// Returns the names of the path parameters, in order.
    pub fn path_parameters(&self) -> impl Iterator<Item = &'static str> {
        self.path.split('/').filter_map(|s| s.strip_prefix('{')?.strip_suffix('}'))
    }
}

/// First path segments of operations on provider data.
const COPIED: &str = "calendars contact-books contact-groups contacts email task-lists";
/// Path segments below them without a local copy: data that is read from the provider each time, and the service's own data.
const NOT_COPIED: &str = "attachments capabilities photo status tracking";

fn is_among(words: &str, word: &str) -> bool {
    words.split_whitespace().any(|one| one == word)
}

/// Converts to camel case: `task-lists` → `taskLists`.
fn camel(segment: &str) -> String {
    let mut words = segment.split('-');
    let mut out = words.next().unwrap_or_default().to_owned();
    for word in words {
        let (head, tail) = word.split_at(word.len().min(1));
        out.push_str(&head.to_uppercase());
        out.push_str(tail);
    }
    out
}

/// Generates functions that add a row, each named after an HTTP method.
macro_rules! verbs {
    ($($name:ident $method:ident),*) => {$(
        pub fn $name<H, T>(self, path: &'static str, scope: &'static str, priority: Priority, handler: H) -> Self
        where
            H: Handler<T, S>,
            T: 'static,
        {
            self.row(Method::$method, path, scope, priority, on(MethodFilter::$method, handler))
        }
    )*};
}

/// Rows with their handlers. `get`, `post`, `patch`, `put` and `delete` add a row; the calls chained after it document that row.
pub struct Routes<S = ()> {
    tag: &'static str,
    pub(crate) rows: Vec<(Operation, MethodRouter<S>)>,
}

impl<S: Clone + Send + Sync + 'static> Routes<S> {
    /// Creates an empty list, whose rows get this heading in the documentation.
    pub fn new(tag: &'static str) -> Self {
        Routes { tag, rows: Vec::new() }
    }

    verbs!(get GET, post POST, patch PATCH, put PUT, delete DELETE);

    fn row(
        mut self,
        method: Method,
        path: &'static str,
        scope: &'static str,
        priority: Priority,
        route: MethodRouter<S>,
    ) -> Self {
        let operation = Operation {
            method,
            path,
            tag: self.tag,
            scope,
            priority,
            public: false,
            optional_key: false,
            own_budget: false,
            oauth_errors: false,
            list: false,
            paged: false,
            built: true,
            max_body: MAX_BODY,
            docs: Docs::default(),
            status: None,
        };
        self.rows.push((operation, route));
        self
    }

    /// Sets the heading of the following rows.
    pub fn tag(mut self, tag: &'static str) -> Self {
        self.tag = tag;
        self
    }

    fn last(mut self, change: impl FnOnce(&mut Operation)) -> Self {
        let (operation, _) = self.rows.last_mut().expect("documentation is chained to a row");
        change(operation);
        self
    }

    pub fn summary(self, summary: &'static str) -> Self {
        self.last(|o| o.docs.summary = summary)
    }

    /// Adds details that do not fit into the summary: rules, limits, specific errors.
    pub fn description(self, description: &'static str) -> Self {
        self.last(|o| o.docs.description = description)
    }

    /// Adds query parameters: the properties of a struct. `limit` and `cursor` of lists are added automatically. A row can have several
    /// structs.
    pub fn query<Q: JsonSchema + 'static>(self) -> Self {
        self.last(|o| {
            o.docs.queries.push(Q::json_schema);
            o.docs.query_fields.push(query::fields::<Q>);
        })
    }

    /// Adds an optional request header.
    pub fn header(self, name: &'static str, description: &'static str) -> Self {
        self.last(|o| o.docs.headers.push(HeaderParameter { name, description }))
    }

    /// Sets the type of the request body.
    pub fn body<T: JsonSchema>(self) -> Self {
        self.last(|o| o.docs.request = Some(|g| g.subschema_for::<T>()))
    }

    /// Makes the body optional, which for a create it is not by default.
    pub fn optional_body(self) -> Self {
        self.last(|o| o.docs.is_body_optional = true)
    }

    /// Raises the maximum body size for operations with files.
    pub fn takes_files(self) -> Self {
        self.last(|o| o.max_body = MAX_BODY_WITH_FILES)
    }

    /// Adds a media type for the request body.
    pub fn body_type(self, media_type: &'static str) -> Self {
        self.last(|o| o.docs.request_types.push(media_type))
    }

    /// Sets the type of the response: a bare object.
    pub fn returns<T: JsonSchema>(self) -> Self {
        self.last(|o| o.docs.response = Some(|g| g.subschema_for::<T>()))
    }

    /// Sets the type of the items in the response, which is a page.
    pub fn lists<T: JsonSchema>(self) -> Self {
        // A query that is sent by POST has `limit` and `cursor` in its body.
        self.returns::<T>().last(|o| (o.list, o.paged) = (true, o.method == Method::GET))
    }

    /// Adds `limit` and `cursor`, although the response is more than a page.
    pub fn paged(self) -> Self {
        self.last(|o| o.paged = true)
    }

    /// Adds a media type for the response.
    pub fn return_type(self, media_type: &'static str) -> Self {
        self.last(|o| o.docs.response_types.push(media_type))
    }

    /// Makes the response a stream of server-sent events that lasts until the client disconnects.
    pub fn streams(self) -> Self {
        self.last(|o| o.docs.streams = true)
    }

    /// Sets the status of success, if it is not the usual one (`Operation::status`).
    pub fn status(self, status: u16) -> Self {
        self.last(|o| o.status = Some(status))
    }

    /// Lets the last row be called without an API key.
    pub fn public(self) -> Self {
        self.last(|o| o.public = true)
    }

    /// Lets the last row be called without an API key, but authenticates one that is sent.
    pub fn optional_key(self) -> Self {
        self.public().last(|o| o.optional_key = true)
    }

    /// Lets the last row be called without an API key, with its own rate limit (`Limiters::take_of_notifications`).
    pub fn own_budget(self) -> Self {
        self.public().last(|o| o.own_budget = true)
    }

    /// Makes the last row an OAuth endpoint, whose errors are not in the envelope (RFC 6749, section 5.2).
    pub fn oauth_errors(self) -> Self {
        self.last(|o| o.oauth_errors = true)
    }

    /// Makes all rows so far answer 501.
    pub fn not_built(mut self) -> Self {
        self.rows.iter_mut().for_each(|(o, _)| o.built = false);
        self
    }

    /// Appends the rows of `other`.
    pub fn merge(mut self, other: Self) -> Self {
        self.rows.extend(other.rows);
        self
    }

    pub fn operations(&self) -> Vec<Operation> {
        self.rows.iter().map(|(o, _)| o.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Priority, Routes};

    #[test]
    fn the_operation_id_is_made_of_the_path() {
        async fn handler() {}
        let ids: Vec<String> = Routes::<()>::new("")
            .get("/v1/task-lists", "", Priority::Mvp, handler)
            .lists::<String>()
            .post("/v1/calendars/{calendarId}/events", "", Priority::Mvp, handler)
            .patch("/v1/calendars/{calendarId}/events/{eventId}", "", Priority::Mvp, handler)
            .post("/v1/calendars/{calendarId}/events/{eventId}/accept", "", Priority::Mvp, handler)
            .get("/v1/email/sync/status/{connectionId}", "", Priority::Mvp, handler)
            .get("/v1/usage", "", Priority::Mvp, handler)
            .put("/v1/applications/{applicationId}/providers/{provider}", "", Priority::Mvp, handler)
            .post("/v1/jobs/{jobId}/retry", "", Priority::Mvp, handler)
            .operations()
            .iter()
            .map(|o| format!("{} {}", o.status(), o.id()))
            .collect();
        assert_eq!(
            ids,
            [
                "200 taskLists.list",
                "201 calendars.events.create",
                "200 calendars.events.update",
                "200 calendars.events.accept",
                "200 email.sync.status",
                "200 usage.get",
                "200 applications.providers.replace",
                "200 jobs.retry"
            ]
        );
    }
}
