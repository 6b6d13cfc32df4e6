//! The words of the panel, a struct for each page: a language that lacks one does not compile. Scopes, codes and statuses stay as they are
//! written in the API, with a sentence beside them.

pub mod account;
pub mod accounts;
pub mod applications;
mod arabic;
pub mod audit;
pub mod connectors;
pub mod events;
pub mod frame;
mod french;
mod german;
mod japanese;
pub mod jobs;
pub mod keys;
pub mod macros;
pub mod members;
pub mod oidc;
pub mod operators;
pub mod overview;
pub mod panel;
mod plurals;
pub mod providers;
pub mod replays;
pub mod requests;
pub mod sandbox;
pub mod scopes;
pub mod search;
pub mod sign_in;
mod spanish;
pub mod system;
pub mod usage;
pub mod webhooks;

use service::locale::Language;

pub use crate::admin::texts::account::AccountTexts;
pub use crate::admin::texts::accounts::{AccountListTexts, AccountPageTexts, ConnectTexts};
pub use crate::admin::texts::applications::ApplicationTexts;
pub use crate::admin::texts::audit::AuditTexts;
pub use crate::admin::texts::connectors::ConnectorTexts;
pub use crate::admin::texts::events::{EventListTexts, EventPageTexts};
pub use crate::admin::texts::frame::{FlashTexts, FrameTexts};
pub use crate::admin::texts::jobs::JobTexts;
pub use crate::admin::texts::keys::{AdminKeyTexts, KeyTexts, NewKeyTexts};
pub use crate::admin::texts::members::MemberTexts;
pub use crate::admin::texts::oidc::OidcTexts;
pub use crate::admin::texts::operators::OperatorTexts;
pub use crate::admin::texts::overview::OverviewTexts;
pub use crate::admin::texts::panel::{ENGLISH, PanelTexts};
pub use crate::admin::texts::providers::ProviderTexts;
pub use crate::admin::texts::replays::ReplayTexts;
pub use crate::admin::texts::requests::RequestTexts;
pub use crate::admin::texts::sandbox::SandboxTexts;
pub use crate::admin::texts::scopes::ScopeTexts;
pub use crate::admin::texts::search::SearchTexts;
pub use crate::admin::texts::sign_in::SignInTexts;
pub use crate::admin::texts::system::SystemTexts;
pub use crate::admin::texts::usage::UsageTexts;
pub use crate::admin::texts::webhooks::{NewWebhookTexts, WebhookDeliveryTexts, WebhookTexts};

/// The words in a language.
pub fn texts(language: Language) -> &'static PanelTexts {
    match language {
        Language::English | Language::AmericanEnglish => &ENGLISH,
        Language::German => &german::GERMAN,
        Language::Spanish => &spanish::SPANISH,
        Language::French => &french::FRENCH,
        Language::Japanese => &japanese::JAPANESE,
        Language::Arabic => &arabic::ARABIC,
    }
}

/// A text with the values of its places, each written as `{name}`. A text of several forms has the one for the value of `n`.
pub fn fill(text: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = match values.iter().find(|(name, _)| *name == "n") {
        Some((_, n)) => plurals::form(text, number(n)),
        None => text,
    };
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let known = after.split_once('}').and_then(|(name, after)| {
            let value = values.iter().find(|(known, _)| *known == name)?;
            Some((value.1, after))
        });
        match known {
            Some((value, after)) => {
                filled.push_str(value);
                rest = after;
            }
            None => {
                filled.push('{');
                rest = after;
            }
        }
    }
    filled.push_str(rest);
    filled
}

/// The number in a text that groups its digits.
fn number(text: &str) -> u64 {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
