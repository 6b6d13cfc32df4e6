//! The error of a call to a connector: the party to blame, one code, a message that may be shown to the API's user, and
//! everything else for the connector's author.

use std::fmt;

use crate::code::{Blame, Code};
use crate::frames::Frame;
use crate::log::LogLine;
use crate::stats::CallStats;

/// Details for the connector's author alone: they may contain data of the account.
#[derive(Clone, Debug, Default)]
pub struct AuthorReport {
    /// The cause with the limit that was hit and its value, or the failure's `detail`.
    pub detail: String,
    /// Functions of the guest that were running, innermost first, as far as the name section has them.
    pub frames: Vec<Frame>,
    /// The call's last log lines, oldest first.
    pub log: Vec<LogLine>,
    /// Lines that were dropped.
    pub dropped_lines: u64,
}

/// The error of a call.
#[derive(Clone, Debug)]
pub struct Error {
    pub blame: Blame,
    pub code: Code,
    /// One sentence for the API's user. Of a deliberate failure it is the connector's own (length capped, control
    /// characters and credentials taken out); of anything else it is the host's.
    pub message: String,
    /// Milliseconds after which a repeat may do better.
    pub retry_after_ms: Option<u64>,
    /// The provider's HTTP status, where the connector named one.
    pub provider_status: Option<u16>,
    pub author: Box<AuthorReport>,
    pub stats: CallStats,
}

impl Error {
    /// An error with the code's own blame and sentence.
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        Error {
            blame: code.blame(),
            code,
            message: code.public_message().to_owned(),
            retry_after_ms: None,
            provider_status: None,
            author: Box::new(AuthorReport { detail: detail.into(), ..AuthorReport::default() }),
            stats: CallStats::default(),
        }
    }

    /// The answer parsed by the host was JSON, but not of the operation's type.
    pub fn bad_output(detail: impl Into<String>) -> Self {
        Error::new(Code::BadOutput, detail)
    }

    /// Whether the provider may have the message that was to be sent, where the connector reports it (`detail.handedOver`).
    pub fn is_handed_over(&self) -> Option<bool> {
        let detail: serde_json::Value = serde_json::from_str(&self.author.detail).ok()?;
        detail.get("handedOver")?.as_bool()
    }

    /// Whether the same call may succeed later without any change.
    pub fn is_transient(&self) -> bool {
        matches!(
            self.code,
            Code::RateLimited | Code::Unavailable | Code::Timeout | Code::Deadline | Code::Busy
        )
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl std::error::Error for Error {}
