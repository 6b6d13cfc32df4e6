//! The panel in Spanish: a file for each page, as in English.

mod account;
mod accounts;
mod applications;
mod audit;
mod connectors;
mod events;
mod frame;
mod jobs;
mod keys;
mod members;
mod oidc;
mod operators;
mod overview;
mod providers;
mod replays;
mod requests;
mod sandbox;
mod scopes;
mod search;
mod sign_in;
mod system;
mod usage;
mod webhooks;

use crate::admin::texts::PanelTexts;

pub static SPANISH: PanelTexts = PanelTexts {
    frame: &frame::SPANISH,
    flash: &frame::SPANISH_FLASH,
    sign_in: &sign_in::SPANISH,
    account: &account::SPANISH,
    oidc: &oidc::SPANISH_OIDC,
    accounts: &accounts::SPANISH,
    account_page: &accounts::SPANISH_PAGE,
    connect: &accounts::SPANISH_CONNECT,
    providers: &providers::SPANISH,
    applications: &applications::SPANISH,
    members: &members::SPANISH,
    audit: &audit::SPANISH,
    operators: &operators::SPANISH,
    system: &system::SPANISH,
    jobs: &jobs::SPANISH,
    connectors: &connectors::SPANISH,
    overview: &overview::SPANISH,
    keys: &keys::SPANISH,
    new_key: &keys::SPANISH_NEW,
    admin_keys: &keys::SPANISH_ADMIN,
    scopes: &scopes::SPANISH,
    sandbox: &sandbox::SPANISH,
    search: &search::SPANISH,
    webhooks: &webhooks::SPANISH,
    new_webhook: &webhooks::SPANISH_NEW,
    webhook_delivery: &webhooks::SPANISH_DELIVERY,
    replays: &replays::SPANISH,
    events: &events::SPANISH,
    event_page: &events::SPANISH_PAGE,
    requests: &requests::SPANISH,
    usage: &usage::SPANISH,
};
