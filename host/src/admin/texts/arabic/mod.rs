//! The panel in Arabic: a file for each page, as in English.

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

pub static ARABIC: PanelTexts = PanelTexts {
    frame: &frame::ARABIC,
    flash: &frame::ARABIC_FLASH,
    sign_in: &sign_in::ARABIC,
    account: &account::ARABIC,
    oidc: &oidc::ARABIC_OIDC,
    accounts: &accounts::ARABIC,
    account_page: &accounts::ARABIC_PAGE,
    connect: &accounts::ARABIC_CONNECT,
    providers: &providers::ARABIC,
    applications: &applications::ARABIC,
    members: &members::ARABIC,
    audit: &audit::ARABIC,
    operators: &operators::ARABIC,
    system: &system::ARABIC,
    jobs: &jobs::ARABIC,
    connectors: &connectors::ARABIC,
    overview: &overview::ARABIC,
    keys: &keys::ARABIC,
    new_key: &keys::ARABIC_NEW,
    admin_keys: &keys::ARABIC_ADMIN,
    scopes: &scopes::ARABIC,
    sandbox: &sandbox::ARABIC,
    search: &search::ARABIC,
    webhooks: &webhooks::ARABIC,
    new_webhook: &webhooks::ARABIC_NEW,
    webhook_delivery: &webhooks::ARABIC_DELIVERY,
    replays: &replays::ARABIC,
    events: &events::ARABIC,
    event_page: &events::ARABIC_PAGE,
    requests: &requests::ARABIC,
    usage: &usage::ARABIC,
};
