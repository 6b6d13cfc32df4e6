//! The panel in French: a file for each page, as in English.

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

pub static FRENCH: PanelTexts = PanelTexts {
    frame: &frame::FRENCH,
    flash: &frame::FRENCH_FLASH,
    sign_in: &sign_in::FRENCH,
    account: &account::FRENCH,
    oidc: &oidc::FRENCH_OIDC,
    accounts: &accounts::FRENCH,
    account_page: &accounts::FRENCH_PAGE,
    connect: &accounts::FRENCH_CONNECT,
    providers: &providers::FRENCH,
    applications: &applications::FRENCH,
    members: &members::FRENCH,
    audit: &audit::FRENCH,
    operators: &operators::FRENCH,
    system: &system::FRENCH,
    jobs: &jobs::FRENCH,
    connectors: &connectors::FRENCH,
    overview: &overview::FRENCH,
    keys: &keys::FRENCH,
    new_key: &keys::FRENCH_NEW,
    admin_keys: &keys::FRENCH_ADMIN,
    scopes: &scopes::FRENCH,
    sandbox: &sandbox::FRENCH,
    search: &search::FRENCH,
    webhooks: &webhooks::FRENCH,
    new_webhook: &webhooks::FRENCH_NEW,
    webhook_delivery: &webhooks::FRENCH_DELIVERY,
    replays: &replays::FRENCH,
    events: &events::FRENCH,
    event_page: &events::FRENCH_PAGE,
    requests: &requests::FRENCH,
    usage: &usage::FRENCH,
};
