//! The codes of failed calls, and the party to blame for each.

use std::fmt;

/// The party to blame for an error. Decides the public status, the log level and whether a retry makes sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// The API's user: the request cannot be fulfilled, or the account has to be connected again.
    Caller,
    /// The outside service.
    Provider,
    /// The component: it broke the contract or one of its limits.
    Connector,
    /// This host: overloaded, or misconfigured.
    Host,
}

/// Error codes of a call. The first block are the codes of `wit/types.wit`, the second those of the sandbox itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Code {
    AuthExpired,
    Forbidden,
    NotFound,
    Conflict,
    AlreadyExists,
    Invalid,
    RateLimited,
    CursorExpired,
    Unsupported,
    Unavailable,
    Timeout,
    /// The connector's own "internal", and every unknown code.
    ConnectorFailure,

    /// More guest CPU time than the budget.
    CpuLimit,
    /// More linear memory or table elements than the class allows.
    MemoryLimit,
    /// Recursion too deep.
    StackOverflow,
    /// `unreachable`: a panic, an uncaught exception, an abort.
    Panic,
    /// Any other wasm trap, and leaving through `wasi:cli/exit`.
    Trap,
    /// The component's output violates the contract: bad UTF-8, out of bounds, too long, no JSON.
    BadOutput,
    /// More calls of host functions than the budget.
    HostCallLimit,
    /// The wall-clock limit of the whole call.
    Deadline,
    /// No permit within the queue's time; try again later.
    Busy,
    /// No connector of this name.
    NotInstalled,
    /// The connector does not export this surface.
    UnsupportedSurface,
    /// A fault of the host.
    Host,
}

impl Code {
    /// The code's name in logs and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Code::AuthExpired => "auth-expired",
            Code::Forbidden => "forbidden",
            Code::NotFound => "not-found",
            Code::Conflict => "conflict",
            Code::AlreadyExists => "already-exists",
            Code::Invalid => "invalid",
            Code::RateLimited => "rate-limited",
            Code::CursorExpired => "cursor-expired",
            Code::Unsupported => "unsupported",
            Code::Unavailable => "unavailable",
            Code::Timeout => "timeout",
            Code::ConnectorFailure => "internal",
            Code::CpuLimit => "cpu-limit",
            Code::MemoryLimit => "memory-limit",
            Code::StackOverflow => "stack-overflow",
            Code::Panic => "panic",
            Code::Trap => "trap",
            Code::BadOutput => "bad-output",
            Code::HostCallLimit => "host-call-limit",
            Code::Deadline => "deadline",
            Code::Busy => "busy",
            Code::NotInstalled => "not-installed",
            Code::UnsupportedSurface => "unsupported-surface",
            Code::Host => "host",
        }
    }

    /// The code of a guest's own failure; an unknown one counts as the connector's fault.
    pub(crate) fn of_failure(code: &str) -> Self {
        const GUEST: [Code; 11] = [
            Code::AuthExpired,
            Code::Forbidden,
            Code::NotFound,
            Code::Conflict,
            Code::AlreadyExists,
            Code::Invalid,
            Code::RateLimited,
            Code::CursorExpired,
            Code::Unsupported,
            Code::Unavailable,
            Code::Timeout,
        ];
        GUEST.into_iter().find(|c| c.as_str() == code).unwrap_or(Code::ConnectorFailure)
    }

    /// The party to blame when the error tells no more than its code.
    pub fn blame(self) -> Blame {
        match self {
            Code::AuthExpired
            | Code::NotFound
            | Code::Conflict
            | Code::AlreadyExists
            | Code::Invalid
            | Code::CursorExpired
            | Code::Unsupported
            | Code::UnsupportedSurface => Blame::Caller,
            Code::Forbidden | Code::RateLimited | Code::Unavailable | Code::Timeout => Blame::Provider,
            Code::ConnectorFailure
            | Code::CpuLimit
            | Code::MemoryLimit
            | Code::StackOverflow
            | Code::Panic
            | Code::Trap
            | Code::BadOutput
            | Code::HostCallLimit
            | Code::Deadline => Blame::Connector,
            Code::Busy | Code::NotInstalled | Code::Host => Blame::Host,
        }
    }

    /// The sentence for the API's user when the sandbox itself found the fault: never text of the guest.
    pub(crate) fn public_message(self) -> &'static str {
        match self {
            Code::CpuLimit => "the connector used more processor time than one call may",
            Code::MemoryLimit => "the connector used more memory than one call may",
            Code::StackOverflow => "the connector's call stack was exhausted",
            Code::Panic => "the connector stopped with an internal error",
            Code::Trap => "the connector stopped with a fault",
            Code::BadOutput => "the connector's answer was not well-formed",
            Code::HostCallLimit => "the connector called the host more often than one call may",
            Code::Deadline => "the call took longer than its time limit",
            Code::Busy => "too many connector calls are running, try again shortly",
            Code::NotInstalled => "no connector of this name is installed",
            Code::UnsupportedSurface => "the connector does not have this surface",
            Code::Host => "the host could not run the connector",
            _ => "the connector could not do this",
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
