//! The words of the panel, a struct for each page: a language that lacks one does not compile. Scopes, codes and statuses stay as they are
//! written in the API, with a sentence beside them.

pub mod account;
pub mod accounts;
pub mod applications;
pub mod audit;
pub mod frame;
pub mod keys;
pub mod macros;
pub mod members;
pub mod operators;
pub mod overview;
pub mod providers;
pub mod scopes;
pub mod search;
pub mod sign_in;
pub mod webhooks;

use service::locale::Language;

pub use crate::admin::texts::account::AccountTexts;
pub use crate::admin::texts::accounts::{AccountListTexts, AccountPageTexts, ConnectTexts};
pub use crate::admin::texts::applications::ApplicationTexts;
pub use crate::admin::texts::audit::AuditTexts;
pub use crate::admin::texts::frame::{FlashTexts, FrameTexts};
pub use crate::admin::texts::keys::{KeyTexts, NewKeyTexts};
pub use crate::admin::texts::members::MemberTexts;
pub use crate::admin::texts::operators::OperatorTexts;
pub use crate::admin::texts::overview::OverviewTexts;
pub use crate::admin::texts::providers::ProviderTexts;
pub use crate::admin::texts::scopes::ScopeTexts;
pub use crate::admin::texts::search::SearchTexts;
pub use crate::admin::texts::sign_in::SignInTexts;
pub use crate::admin::texts::webhooks::{NewWebhookTexts, WebhookDeliveryTexts, WebhookTexts};

/// All words in one language.
pub struct PanelTexts {
    pub frame: &'static FrameTexts,
    pub flash: &'static FlashTexts,
    pub sign_in: &'static SignInTexts,
    pub account: &'static AccountTexts,
    pub accounts: &'static AccountListTexts,
    pub account_page: &'static AccountPageTexts,
    pub connect: &'static ConnectTexts,
    pub providers: &'static ProviderTexts,
    pub applications: &'static ApplicationTexts,
    pub members: &'static MemberTexts,
    pub audit: &'static AuditTexts,
    pub operators: &'static OperatorTexts,
    pub overview: &'static OverviewTexts,
    pub keys: &'static KeyTexts,
    pub new_key: &'static NewKeyTexts,
    pub scopes: &'static ScopeTexts,
    pub search: &'static SearchTexts,
    pub webhooks: &'static WebhookTexts,
    pub new_webhook: &'static NewWebhookTexts,
    pub webhook_delivery: &'static WebhookDeliveryTexts,
}

static ENGLISH: PanelTexts = PanelTexts {
    frame: &frame::ENGLISH,
    flash: &frame::ENGLISH_FLASH,
    sign_in: &sign_in::ENGLISH,
    account: &account::ENGLISH,
    accounts: &accounts::ENGLISH,
    account_page: &accounts::ENGLISH_PAGE,
    connect: &accounts::ENGLISH_CONNECT,
    providers: &providers::ENGLISH,
    applications: &applications::ENGLISH,
    members: &members::ENGLISH,
    audit: &audit::ENGLISH,
    operators: &operators::ENGLISH,
    overview: &overview::ENGLISH,
    keys: &keys::ENGLISH,
    new_key: &keys::ENGLISH_NEW,
    scopes: &scopes::ENGLISH,
    search: &search::ENGLISH,
    webhooks: &webhooks::ENGLISH,
    new_webhook: &webhooks::ENGLISH_NEW,
    webhook_delivery: &webhooks::ENGLISH_DELIVERY,
};

/// The words in a language; English where it has none yet.
pub fn texts(_language: Language) -> &'static PanelTexts {
    &ENGLISH
}

/// A text with the values of its places, each written as `{name}`.
pub fn fill(text: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
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

#[cfg(test)]
mod tests {
    use super::fill;

    #[test]
    fn a_value_is_put_in_once_and_read_no_further() {
        assert_eq!(fill("Hello {name}, {n} keys", &[("name", "{n}"), ("n", "2")]), "Hello {n}, 2 keys");
        assert_eq!(fill("{other} {", &[("n", "2")]), "{other} {");
    }
}
