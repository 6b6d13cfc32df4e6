//! Checks that an account may send as the address in `from`, where its provider says which addresses it has.

use ::mail::address::mailbox;
use base::error::Result;
use base::input::validate::fault;
use model::email::EmailAddress;
use model::wire::email::MailFeatures;
use runtime::Surface;
use serde_json::json;
use storage::connections::Connection;

use crate::app::App;
use crate::connections::provider_call::fetch;
use crate::connections::request_context::RequestContext;

/// Addresses that an error names.
const MAX_NAMED_ADDRESSES: usize = 10;

/// Refuses senders that are neither the account's address nor one of its aliases. The provider is asked for the aliases only for an address
/// that the connection does not know; if it does not answer now, or does not say, it decides when the message is sent.
pub async fn check(
    app: &App,
    asker: &RequestContext,
    connection: &Connection,
    from: &[EmailAddress],
) -> Result<()> {
    let own = connection.email.iter().chain(&connection.addresses);
    let own: Vec<String> = own.map(|address| mailbox(address)).collect();
    let is_known = |address: &EmailAddress| own.contains(&mailbox(&address.email));
    if from.iter().all(is_known) {
        return Ok(());
    }
    let features: Result<MailFeatures> =
        fetch(app, connection, asker, Surface::Email, "capabilities", &json!({})).await;
    let Ok(features) = features else { return Ok(()) };
    match from.iter().position(|address| !is_known(address) && !may_send_as(&features, &address.email)) {
        None => Ok(()),
        Some(at) => Err(fault(&format!("from[{at}].email"), &advice(&features, &from[at].email))),
    }
}

/// Whether the account may send as this address, or the provider does not say. An account that has aliases may have whole domains, which
/// providers do not list.
fn may_send_as(features: &MailFeatures, address: &str) -> bool {
    if features.aliases.is_empty() || features.delegated_send {
        return true;
    }
    let wanted = mailbox(address);
    let domain = |address: &str| address.rsplit_once('@').map(|(_, domain)| domain.to_owned());
    features
        .aliases
        .iter()
        .map(|alias| mailbox(&alias.email))
        .any(|alias| alias == wanted || (features.send_as_alias && domain(&alias) == domain(&wanted)))
}

/// The rest of the sentence about an address that the account may not send as.
fn advice(features: &MailFeatures, address: &str) -> String {
    let known: Vec<&str> =
        features.aliases.iter().take(MAX_NAMED_ADDRESSES).map(|alias| alias.email.as_str()).collect();
    let more = if features.aliases.len() > known.len() { " and others" } else { "" };
    format!("must be an address of the account: {}{more}; got {address}", known.join(", "))
}

#[cfg(test)]
mod tests {
    use model::capabilities::Alias;

    use super::*;

    fn features(aliases: &[&str], send_as_alias: bool) -> MailFeatures {
        let alias = |email: &&str| Alias { email: (*email).to_owned(), ..Alias::default() };
        MailFeatures {
            aliases: aliases.iter().map(alias).collect(),
            send_as_alias,
            ..MailFeatures::default()
        }
    }

    #[test]
    fn an_address_is_refused_only_where_the_aliases_are_known() {
        let own = features(&["ada@x.test"], false);
        assert!(may_send_as(&own, "Ada+news@X.test"));
        assert!(!may_send_as(&own, "bob@x.test"));
        assert!(!may_send_as(&own, "ada@y.test"));
        assert!(may_send_as(&features(&[], false), "ada@y.test"));
        let with_domain = features(&["ada@x.test", "sales@x.test"], true);
        assert!(may_send_as(&with_domain, "support@x.test"));
        assert!(!may_send_as(&with_domain, "support@y.test"));
        assert_eq!(advice(&own, "b@y.test"), "must be an address of the account: ada@x.test; got b@y.test");
    }
}
