//! The panel in Japanese: a file for each page, as in English.

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

pub static JAPANESE: PanelTexts = PanelTexts {
    frame: &frame::JAPANESE,
    flash: &frame::JAPANESE_FLASH,
    sign_in: &sign_in::JAPANESE,
    account: &account::JAPANESE,
    oidc: &oidc::JAPANESE_OIDC,
    accounts: &accounts::JAPANESE,
    account_page: &accounts::JAPANESE_PAGE,
    connect: &accounts::JAPANESE_CONNECT,
    providers: &providers::JAPANESE,
    applications: &applications::JAPANESE,
    members: &members::JAPANESE,
    audit: &audit::JAPANESE,
    operators: &operators::JAPANESE,
    system: &system::JAPANESE,
    jobs: &jobs::JAPANESE,
    connectors: &connectors::JAPANESE,
    overview: &overview::JAPANESE,
    keys: &keys::JAPANESE,
    new_key: &keys::JAPANESE_NEW,
    admin_keys: &keys::JAPANESE_ADMIN,
    scopes: &scopes::JAPANESE,
    sandbox: &sandbox::JAPANESE,
    search: &search::JAPANESE,
    webhooks: &webhooks::JAPANESE,
    new_webhook: &webhooks::JAPANESE_NEW,
    webhook_delivery: &webhooks::JAPANESE_DELIVERY,
    replays: &replays::JAPANESE,
    events: &events::JAPANESE,
    event_page: &events::JAPANESE_PAGE,
    requests: &requests::JAPANESE,
    usage: &usage::JAPANESE,
};
