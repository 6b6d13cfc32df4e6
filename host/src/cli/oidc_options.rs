//! The settings of the OpenID provider of the administration panel, checked.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use secrecy::SecretString;
use service::app::config::OidcSettings;
use service::app::oidc_client::is_private;
use url::Url;

use crate::cli::settings_file::read_secret;

/// Longest time of a request to the provider.
const DEADLINE: Duration = Duration::from_secs(5);
/// Characters of the name on the button.
const MAX_NAME: usize = 60;

/// The settings that begin with `admin_oidc_`, as they were given. None, or an empty text: not given.
#[derive(Default)]
pub struct OidcOptions {
    pub issuer: Option<String>,
    pub client_id: Option<String>,
    pub client_secret_file: Option<PathBuf>,
    pub name: Option<String>,
}

impl OidcOptions {
    /// The provider, if one is named. The error names the setting.
    pub fn resolved(self) -> Result<Option<OidcSettings>> {
        let text = |given: Option<String>| given.filter(|text| !text.trim().is_empty());
        let (client_id, name) = (text(self.client_id), text(self.name));
        let file = self.client_secret_file.filter(|file| !file.as_os_str().is_empty());
        let Some(issuer) = text(self.issuer) else {
            for (setting, is_given) in [
                ("admin_oidc_client_id", client_id.is_some()),
                ("admin_oidc_client_secret_file", file.is_some()),
                ("admin_oidc_name", name.is_some()),
            ] {
                ensure!(!is_given, "{setting} goes with admin_oidc_issuer, which is missing");
            }
            return Ok(None);
        };
        let host = check_issuer(&issuer)?;
        let Some(client_id) = client_id else {
            bail!("admin_oidc_client_id is missing: the id of the client that is registered at {issuer}")
        };
        let name = name.unwrap_or(host);
        let is_name = name.chars().count() <= MAX_NAME && !name.chars().any(char::is_control);
        ensure!(is_name, "admin_oidc_name must be a line of at most {MAX_NAME} characters");
        let secret = file.as_deref().map(read_secret).transpose().context("admin_oidc_client_secret_file")?;
        Ok(Some(OidcSettings {
            issuer,
            client_id,
            client_secret: secret.map(SecretString::from),
            name,
            deadline: DEADLINE,
        }))
    }
}

/// Returns the host of an issuer's URL (OpenID Connect Discovery 1.0, section 3).
fn check_issuer(text: &str) -> Result<String> {
    let url = Url::parse(text).context("admin_oidc_issuer is not a URL")?;
    ensure!(
        is_private(&url),
        "admin_oidc_issuer must begin with https:// and name a host; http:// is for a provider on this machine alone"
    );
    let is_plain = url.query().is_none() && url.fragment().is_none() && url.username().is_empty();
    ensure!(
        is_plain && url.password().is_none(),
        "admin_oidc_issuer must have no query, fragment or user name"
    );
    Ok(url.host_str().unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(issuer: &str, client_id: &str) -> Result<Option<OidcSettings>> {
        let (issuer, client_id) = (Some(issuer.to_owned()), Some(client_id.to_owned()));
        OidcOptions { issuer, client_id, ..OidcOptions::default() }.resolved()
    }

    #[test]
    fn a_provider_has_an_issuer_and_a_client() {
        assert!(OidcOptions::default().resolved().unwrap().is_none());
        assert!(resolved("", " ").unwrap().is_none());
        let oidc = resolved("https://id.example.com/realms/main", "panel").unwrap().unwrap();
        assert_eq!(
            (oidc.issuer.as_str(), oidc.name.as_str()),
            ("https://id.example.com/realms/main", "id.example.com")
        );
        assert!(oidc.client_secret.is_none());
        assert!(resolved("http://127.0.0.1:4630", "panel").unwrap().is_some());
        let name = Some("Example".to_owned());
        assert!(OidcOptions { name, ..OidcOptions::default() }.resolved().is_err());
    }

    #[test]
    fn what_makes_no_sense_is_refused_by_name() {
        for (issuer, client_id, said) in [
            ("https://id.example.com", "", "admin_oidc_client_id is missing"),
            ("", "panel", "admin_oidc_client_id goes with admin_oidc_issuer"),
            ("id.example.com", "panel", "admin_oidc_issuer is not a URL"),
            ("http://id.example.com", "panel", "must begin with https://"),
            ("https://id.example.com?x=1", "panel", "no query"),
            ("https://ada:secret@id.example.com", "panel", "user name"),
        ] {
            let error = format!("{:#}", resolved(issuer, client_id).unwrap_err());
            assert!(error.contains(said), "{issuer}: {error}");
        }
        let file = Some(PathBuf::from("/nowhere/at/all"));
        let options = OidcOptions {
            issuer: Some("https://id.example.com".to_owned()),
            client_id: Some("panel".to_owned()),
            client_secret_file: file,
            name: None,
        };
        let error = format!("{:#}", options.resolved().unwrap_err());
        assert!(error.contains("admin_oidc_client_secret_file: cannot read /nowhere/at/all"), "{error}");
    }
}
