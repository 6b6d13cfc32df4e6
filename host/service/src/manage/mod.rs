//! The administration of an installation: operators, applications, keys, providers, jobs. The command line, the API and the panel call the
//! same functions.

pub mod account_providers;
pub mod accounts;
pub mod acting;
pub mod actor;
pub mod application_changes;
pub mod applications;
pub mod checks;
pub mod connector_uploads;
pub mod connectors;
pub mod content_etag;
pub mod health;
pub mod job_lists;
pub mod jobs;
pub mod keys;
pub mod operators;
pub mod organizations;
pub mod overview;
pub mod provider_clients;
pub mod providers;
pub mod redirect_uri;
pub mod redirects;
pub mod request_log;
pub mod search;
pub mod usage_report;
pub mod webhooks;
