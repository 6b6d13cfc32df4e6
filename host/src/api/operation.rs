//! One row per operation: method, path, scope and release stage, with its documentation. Router, scope check and OpenAPI read it.

use axum::handler::Handler;
use axum::routing::{MethodFilter, MethodRouter, on};
use http::Method;
use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::api::request::body::{MAX_BODY, MAX_BODY_WITH_FILES};
use crate::api::request::query::{self, QueryField};

/// The scope of an operation that any valid key may call.
pub const ANY_KEY: &str = "";

/// The schema of a type, made when the document is printed.
pub type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// The release stage that the contract gives an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    Mvp,
    Common,
    Phase2,
    /// In the contract, without a label.
    Unlabelled,
    /// Not in the contract: closes one of its gaps.
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
    /// Headers of this operation alone. `Idempotency-Key` and `If-Match` come with its kind.
    pub headers: Vec<HeaderParameter>,
    /// Objects whose properties are query parameters. `limit` and `cursor` come with the kind of the operation.
    pub queries: Vec<SchemaOf>,
    /// The same parameters, for the check of names.
    pub query_fields: Vec<fn() -> &'static [QueryField]>,
    pub request: Option<SchemaOf>,
    /// Whether the operation can be called without a body, although it creates something.
    pub is_body_optional: bool,
    /// Media types that the body may have instead of JSON.
    pub request_types: Vec<&'static str>,
    /// The answer's body; of a list, one item of `data`.
    pub response: Option<SchemaOf>,
    /// Media types that the answer may have instead of JSON.
    pub response_types: Vec<&'static str>,
    /// The answer is a stream of server-sent events, which has no schema and goes on.
    pub streams: bool,
}

/// One operation.
#[derive(Clone, Debug)]
pub struct Operation {
    pub method: Method,
    pub path: &'static str,
    /// Heading in the documentation.
    pub tag: &'static str,
    /// `calendar.write`; `ANY_KEY` where a valid key is enough.
    pub scope: &'static str,
    pub priority: Priority,
    /// No key is asked for: something else authenticates the call.
    pub public: bool,
    /// Whether a key that is sent to a public operation is authenticated, and an invalid one refused.
    pub optional_key: bool,
    /// Whether a public operation counts its requests itself, instead of the budgets of addresses.
    pub own_budget: bool,
    /// Errors have the shape of RFC 6749, and the key may be the password of HTTP's Basic scheme.
    pub oauth_errors: bool,
    /// Answers a page: `data` and `next_cursor`.
    pub list: bool,
    /// Takes `limit` and `cursor`: lists, and change feeds.
    pub paged: bool,
    /// False: answers 501 `not_implemented`.
    pub built: bool,
    /// Largest body in bytes.
    pub max_body: usize,
    pub docs: Docs,
    status: Option<u16>,
}

/// Last words of a path that are themselves what is done.
const VERBS: &str = "accept authorize callback cancel changes conference confirm decline deliver notifications query refresh reject renew \
                     replay reschedule reset retry rotate send start status stream tentative test token trigger";

impl Operation {
    /// The `operationId`, made of the path: `calendars.events.create`.
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

    /// Whether it changes something, and so takes an `Idempotency-Key`. A query sent by POST does not, and whoever has no key has none.
    pub fn is_write(&self) -> bool {
        !self.method.is_safe() && !self.public && !self.path.ends_with("/query")
    }

    /// Whether it changes one resource that has an etag, and so takes `If-Match`.
    pub fn takes_etag(&self) -> bool {
        matches!(self.method, Method::PATCH | Method::PUT | Method::DELETE)
    }

    /// Whether it reads the copy of what a provider has: then it takes `fresh`, and says how old its data are.
    pub fn reads_copy(&self) -> bool {
        let mut words = self.path.split('/').skip(2);
        let is_copied = words.next().is_some_and(|word| is_among(COPIED, word));
        self.method == Method::GET && is_copied && !words.any(|word| is_among(NOT_COPIED, word))
    }

    /// Names of the path's parameters, in order.
    pub fn path_parameters(&self) -> impl Iterator<Item = &'static str> {
        self.path.split('/').filter_map(|s| s.strip_prefix('{')?.strip_suffix('}'))
    }
}

/// Families of paths that are about what a provider has.
const COPIED: &str = "calendars contact-books contact-groups contacts email task-lists";
/// Parts of these paths without a local copy: data that is read from the provider each time, and data of the service's own.
const NOT_COPIED: &str = "attachments capabilities photo status tracking";

fn is_among(words: &str, word: &str) -> bool {
    words.split_whitespace().any(|one| one == word)
}

/// `task-lists` → `taskLists`.
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

/// Functions that add a row, each with the HTTP method that it is called after.
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

/// Rows with their handlers. `get`, `post`, `patch`, `put` and `delete` add a row; what is chained after it documents that row.
pub struct Routes<S = ()> {
    tag: &'static str,
    pub(crate) rows: Vec<(Operation, MethodRouter<S>)>,
}

impl<S: Clone + Send + Sync + 'static> Routes<S> {
    /// No rows yet; those that are added stand under this heading in the documentation.
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

    /// Puts the rows that follow under another heading.
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

    /// Adds details that do not fit into the summary: rules, limits, particular errors.
    pub fn description(self, description: &'static str) -> Self {
        self.last(|o| o.docs.description = description)
    }

    /// Query parameters, as a struct: each property is one. `limit` and `cursor` of lists need not be in it. A row can have several structs.
    pub fn query<Q: JsonSchema + 'static>(self) -> Self {
        self.last(|o| {
            o.docs.queries.push(Q::json_schema);
            o.docs.query_fields.push(query::fields::<Q>);
        })
    }

    /// One request header, which is optional.
    pub fn header(self, name: &'static str, description: &'static str) -> Self {
        self.last(|o| o.docs.headers.push(HeaderParameter { name, description }))
    }

    /// The request's body.
    pub fn body<T: JsonSchema>(self) -> Self {
        self.last(|o| o.docs.request = Some(|g| g.subschema_for::<T>()))
    }

    /// The body can be left out. Otherwise a create needs one.
    pub fn optional_body(self) -> Self {
        self.last(|o| o.docs.is_body_optional = true)
    }

    /// The body brings files along, and may be as large as that takes.
    pub fn takes_files(self) -> Self {
        self.last(|o| o.max_body = MAX_BODY_WITH_FILES)
    }

    /// Another media type that the same body may have.
    pub fn body_type(self, media_type: &'static str) -> Self {
        self.last(|o| o.docs.request_types.push(media_type))
    }

    /// The answer: a bare object.
    pub fn returns<T: JsonSchema>(self) -> Self {
        self.last(|o| o.docs.response = Some(|g| g.subschema_for::<T>()))
    }

    /// The answer: a page of these.
    pub fn lists<T: JsonSchema>(self) -> Self {
        // A query that is sent by POST has `limit` and `cursor` in its body.
        self.returns::<T>().last(|o| (o.list, o.paged) = (true, o.method == Method::GET))
    }

    /// The operation takes `limit` and `cursor` though its answer is more than a page.
    pub fn paged(self) -> Self {
        self.last(|o| o.paged = true)
    }

    /// Another media type that the answer may have.
    pub fn return_type(self, media_type: &'static str) -> Self {
        self.last(|o| o.docs.response_types.push(media_type))
    }

    /// The answer: server-sent events, for as long as the client stays.
    pub fn streams(self) -> Self {
        self.last(|o| o.docs.streams = true)
    }

    /// The status of success, where it is not the usual one (`Operation::status`).
    pub fn status(self, status: u16) -> Self {
        self.last(|o| o.status = Some(status))
    }

    /// The last row needs no API key.
    pub fn public(self) -> Self {
        self.last(|o| o.public = true)
    }

    /// The last row needs no API key, and authenticates one that is sent all the same.
    pub fn optional_key(self) -> Self {
        self.public().last(|o| o.optional_key = true)
    }

    /// The last row needs no API key, and counts its requests itself (`Limiters::take_of_notifications`).
    pub fn own_budget(self) -> Self {
        self.public().last(|o| o.own_budget = true)
    }

    /// The last row is an OAuth endpoint: its errors are not in the envelope (RFC 6749, section 5.2).
    pub fn oauth_errors(self) -> Self {
        self.last(|o| o.oauth_errors = true)
    }

    /// All rows so far answer 501.
    pub fn not_built(mut self) -> Self {
        self.rows.iter_mut().for_each(|(o, _)| o.built = false);
        self
    }

    /// These rows, then those.
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
