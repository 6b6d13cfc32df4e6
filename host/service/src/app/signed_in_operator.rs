//! An operator with their session, for a request to the administration panel.

use std::collections::BTreeMap;

use storage::operator_sessions::OperatorSession;
use storage::operators::Operator;

/// A session with its operator, and the operator's roles by organization.
#[derive(Clone, Debug)]
pub struct SignedInOperator {
    pub session: OperatorSession,
    pub operator: Operator,
    pub roles: BTreeMap<String, String>,
}
