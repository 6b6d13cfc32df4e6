//! Tenant: the organization and application that an API key belongs to. Every query takes one, so that objects of other tenants
//! get the same answer as missing ones.

/// The organization and application whose data a request may see.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tenant {
    pub organization_id: String,
    pub application_id: String,
}
