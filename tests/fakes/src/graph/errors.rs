//! Errors in the form in which Graph answers them.

use serde_json::json;

use crate::door::Reply;

/// An error answer of Graph.
#[derive(Clone, Debug)]
pub struct GraphError {
    pub status: u16,
    pub code: String,
    pub message: String,
    /// The code inside `innerError`, which is the exact one where the outer code is general.
    inner: Option<String>,
    headers: Vec<(String, String)>,
}

/// The answer of a call.
pub type GraphResult = Result<Reply, GraphError>;

impl GraphError {
    pub fn new(status: u16, code: &str, message: &str) -> GraphError {
        GraphError {
            status,
            code: code.to_owned(),
            message: message.to_owned(),
            inner: None,
            headers: Vec::new(),
        }
    }

    pub fn bad_request(message: &str) -> GraphError {
        GraphError::new(400, "BadRequest", message)
    }

    /// The token is missing, unknown or expired.
    pub fn unauthenticated() -> GraphError {
        GraphError::new(401, "InvalidAuthenticationToken", "Access token has expired or is not yet valid.")
            .header(
                "www-authenticate",
                "Bearer realm=\"\", authorization_uri=\"https://login.microsoftonline.com/common/oauth2/authorize\"",
            )
    }

    /// The token has no scope for the call, or the item belongs to somebody else.
    pub fn access_denied() -> GraphError {
        GraphError::new(403, "ErrorAccessDenied", "Access is denied. Check credentials and try again.")
    }

    /// No mailbox in the cloud: no licence, or the mailbox is on premises.
    pub fn mailbox_not_enabled() -> GraphError {
        GraphError::new(
            404,
            "MailboxNotEnabledForRESTAPI",
            "The mailbox is either inactive, soft-deleted, or is hosted on-premise.",
        )
    }

    pub fn not_found() -> GraphError {
        GraphError::new(404, "ErrorItemNotFound", "The specified object was not found in the store.")
    }

    /// No such path.
    pub fn no_route(segment: &str) -> GraphError {
        GraphError::bad_request(&format!("Resource not found for the segment '{segment}'."))
    }

    pub fn malformed_id() -> GraphError {
        GraphError::new(400, "ErrorInvalidIdMalformed", "Id is malformed.")
    }

    /// The value of If-Match is not the item's.
    pub fn conflict() -> GraphError {
        GraphError::new(
            412,
            "ErrorIrresolvableConflict",
            "The send or update operation could not be performed because the change key passed in the request does not match the current \
             change key for the item.",
        )
    }

    /// More requests of one application on one mailbox at once than Outlook takes.
    pub fn mailbox_concurrency() -> GraphError {
        GraphError::new(429, "ApplicationThrottled", "Application is over its MailboxConcurrency limit.")
            .header("retry-after", "1")
    }

    pub fn too_large() -> GraphError {
        GraphError::new(413, "RequestEntityTooLarge", "The request is too large.")
    }

    /// The same error with an exact code inside.
    pub fn inner(mut self, code: &str) -> GraphError {
        self.inner = Some(code.to_owned());
        self
    }

    /// The same error with one more header.
    pub fn header(mut self, name: &str, value: &str) -> GraphError {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn reply(&self) -> Reply {
        let mut inner = json!({
            "date": "2026-03-01T08:00:00",
            "request-id": "8a5f0e5c-0000-4000-8000-00000000fa4e",
            "client-request-id": "8a5f0e5c-0000-4000-8000-00000000fa4e",
        });
        if let Some(code) = &self.inner {
            inner["code"] = code.as_str().into();
        }
        let error = json!({ "code": self.code, "message": self.message, "innerError": inner });
        let reply = Reply::json(self.status, &json!({ "error": error }));
        self.headers.iter().fold(reply, |reply, (name, value)| reply.header(name, value))
    }
}
