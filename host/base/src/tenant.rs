//! Tenant: the organization and application that an API key speaks for. Every query takes one, so that "not yours" is the
//! same answer as "not there".

/// Whose data a request may see.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tenant {
    pub organization_id: String,
    pub application_id: String,
}
