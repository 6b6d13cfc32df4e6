//! `/v1/admin`: the administration of the installation. Its operations take keys of the installation's own organization alone (`AdminRequest`),
//! and every write is in the audit log.

pub mod applications;
pub mod audit_log;
pub mod health;
pub mod hosts;
pub mod invitations;
pub mod jobs;
pub mod operators;
pub mod organizations;

use crate::api::operation::Routes;
use service::app::App;

/// Every operation of the administration.
pub fn routes() -> Routes<App> {
    organizations::routes()
        .merge(applications::routes())
        .merge(applications::api_keys::routes())
        .merge(applications::providers::routes())
        .merge(applications::requests::routes())
        .merge(jobs::routes())
        .merge(hosts::routes())
        .merge(health::routes())
        .merge(audit_log::routes())
        .merge(operators::routes())
        .merge(invitations::routes())
}
