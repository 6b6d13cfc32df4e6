//! The address of the page on which an administrator approves the client for the users of an organization, with the parameters of an
//! authorization request ("Admin consent on the Microsoft identity platform").

use url::Url;

use crate::connections::oauth::OAuthProvider;

impl OAuthProvider {
    /// Returns the page's address; none if the provider has no such page. `scopes` are the provider's. It has no `state`: nobody waits for
    /// the administrator's return.
    pub fn admin_consent_url(&self, callback_uri: &str, scopes: &[String]) -> Option<Url> {
        let page = self.endpoints.admin_consent_url.clone()?;
        Some(with_request(page, &self.registration.client_id, callback_uri, scopes))
    }
}

/// Returns the page's address with the parameters that it lacks: the manifest's own stay as they are.
fn with_request(mut page: Url, client_id: &str, callback_uri: &str, scopes: &[String]) -> Url {
    let scope = scopes.join(" ");
    let given: Vec<String> = page.query_pairs().map(|(name, _)| name.into_owned()).collect();
    let all = [("client_id", client_id), ("redirect_uri", callback_uri), ("scope", scope.as_str())];
    let missing =
        all.into_iter().filter(|(name, value)| !value.is_empty() && !given.iter().any(|g| g == name));
    let missing: Vec<(&str, &str)> = missing.collect();
    if !missing.is_empty() {
        page.query_pairs_mut().extend_pairs(missing);
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALLBACK: &str = "https://host.test/v1/auth/connectors/x/callback";
    const ENCODED: &str = "https%3A%2F%2Fhost.test%2Fv1%2Fauth%2Fconnectors%2Fx%2Fcallback";

    #[test]
    fn an_administrators_page_gets_the_parameters_that_it_lacks() {
        let scopes = ["openid", "Mail.Read"].map(str::to_owned);
        for (page, scopes, wanted) in [
            (
                "https://login.test/t/adminconsent",
                &scopes[..],
                format!("?client_id=app+1&redirect_uri={ENCODED}&scope=openid+Mail.Read"),
            ),
            (
                "https://login.test/t/adminconsent",
                &scopes[..0],
                format!("?client_id=app+1&redirect_uri={ENCODED}"),
            ),
            (
                "https://login.test/approve?client_id=own&scope=.default",
                &scopes[..],
                format!("?client_id=own&scope=.default&redirect_uri={ENCODED}"),
            ),
        ] {
            let url = with_request(page.parse().unwrap(), "app 1", CALLBACK, scopes);
            let (address, _) = page.split_once('?').unwrap_or((page, ""));
            assert_eq!(url.as_str(), format!("{address}{wanted}"));
        }
    }
}
