//! An observer for the development of connectors: receives each call and each line of its log, as they happen.

use std::fmt;
use std::sync::Arc;

use crate::call::Answer;
use crate::error::Error;
use crate::log::LogLine;
use crate::surface::{Surface, Verb};

/// Receives the calls of connectors and their log lines, in the call's own task: it must return soon.
pub trait CallObserver: fmt::Debug + Send + Sync {
    /// The guest has written a line that the call's log keeps.
    fn line(&self, called: &ObservedCall, line: &LogLine);

    /// The call has ended.
    fn ended(&self, called: &ObservedCall, outcome: Result<&Answer, &Error>);
}

/// The call that is observed.
#[derive(Clone, Debug)]
pub struct ObservedCall {
    /// The connector's name.
    pub connector: Arc<str>,
    /// None: the component is started once without a call.
    pub of: Option<(Surface, Verb)>,
    /// The operation, for example "tasks.create".
    pub op: String,
    pub request_id: String,
}

impl fmt::Display for ObservedCall {
    /// `tasks.fetch lists.list`; the operation alone where it already says that.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.of {
            None => f.write_str(&self.op),
            Some((surface, Verb::Changes)) => write!(f, "{surface}.{}", Verb::Changes),
            Some((surface, verb)) => write!(f, "{surface}.{verb} {}", self.op),
        }
    }
}
