//! The panel in German: a file for each page, as in English.

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

pub static GERMAN: PanelTexts = PanelTexts {
    frame: &frame::GERMAN,
    flash: &frame::GERMAN_FLASH,
    sign_in: &sign_in::GERMAN,
    account: &account::GERMAN,
    oidc: &oidc::GERMAN_OIDC,
    accounts: &accounts::GERMAN,
    account_page: &accounts::GERMAN_PAGE,
    connect: &accounts::GERMAN_CONNECT,
    providers: &providers::GERMAN,
    applications: &applications::GERMAN,
    members: &members::GERMAN,
    audit: &audit::GERMAN,
    operators: &operators::GERMAN,
    system: &system::GERMAN,
    jobs: &jobs::GERMAN,
    connectors: &connectors::GERMAN,
    overview: &overview::GERMAN,
    keys: &keys::GERMAN,
    new_key: &keys::GERMAN_NEW,
    admin_keys: &keys::GERMAN_ADMIN,
    scopes: &scopes::GERMAN,
    sandbox: &sandbox::GERMAN,
    search: &search::GERMAN,
    webhooks: &webhooks::GERMAN,
    new_webhook: &webhooks::GERMAN_NEW,
    webhook_delivery: &webhooks::GERMAN_DELIVERY,
    replays: &replays::GERMAN,
    events: &events::GERMAN,
    event_page: &events::GERMAN_PAGE,
    requests: &requests::GERMAN,
    usage: &usage::GERMAN,
};
