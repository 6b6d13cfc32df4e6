//! Another server in place of the hosts that a connector's manifest names, while the connector is developed: requests to
//! `api.example.com` go to a fake on this machine. Policy, connector and transport see the URL that the connector requested.

use http::header::HOST;
use http::{HeaderValue, Request, Uri};
use url::{Host, Url};

use crate::http_url;

/// The server that gets the requests to a connector's `[[hosts]]` in their place.
#[derive(Clone, Debug)]
pub struct ProviderRedirect {
    connector: String,
    url: Url,
}

/// The target of a redirected request.
#[derive(Debug)]
pub(crate) struct RedirectTarget {
    uri: Uri,
    /// The host that the connector requested; none where the server is addressed by its own name.
    host: Option<HeaderValue>,
    /// See `confidential`.
    pub(super) is_confidential: bool,
}

impl ProviderRedirect {
    /// Redirects the requests of `connector` alone. The path of `url` comes before that of each request. Credentials go there, so plain
    /// http is for this machine alone. The error says what the URL must be.
    pub fn new(connector: impl Into<String>, url: &str) -> Result<Self, &'static str> {
        let url = http_url::parse(url)?;
        if url.query().is_some() {
            return Err("the URL must not contain a query");
        }
        if url.scheme() == "http" && !is_loopback(&url) {
            return Err("the URL must be https, or http to this machine (127.0.0.1, [::1], localhost)");
        }
        Ok(ProviderRedirect { connector: connector.into(), url })
    }

    /// Whether requests of this connector to hosts of its manifest are redirected.
    pub(crate) fn concerns(&self, connector: &str) -> bool {
        connector == self.connector
    }

    /// The server that requests are redirected to.
    pub(crate) fn url(&self) -> &Url {
        &self.url
    }

    /// The target of a request for the URL `asked`. None: the two URLs do not combine to a valid one.
    pub(crate) fn target(&self, asked: &Url) -> Option<RedirectTarget> {
        RedirectTarget::new(&self.url, asked)
    }
}

impl RedirectTarget {
    /// The URL below `base` for a request for `asked`. None: the two URLs do not combine to a valid one.
    pub(super) fn new(base: &Url, asked: &Url) -> Option<Self> {
        let mut url = base.clone();
        url.set_path(&format!("{}{}", base.path().trim_end_matches('/'), asked.path()));
        url.set_query(asked.query());
        let uri = Uri::try_from(url.as_str()).ok()?;
        // A fake on this machine sees the request as the provider would: it may play several hosts, and builds links from the
        // host's name. Any other server is addressed by its own name, in TLS too.
        let host = is_loopback(base).then(|| HeaderValue::try_from(authority(asked)));
        Some(RedirectTarget { uri, host: host.transpose().ok()?, is_confidential: false })
    }

    /// The same for a request that goes over plain http only to addresses that the operator allows, even if it has no credentials.
    pub(super) fn confidential(self) -> Self {
        RedirectTarget { is_confidential: true, ..self }
    }

    /// Sends the request to this target.
    pub(crate) fn apply<B>(&self, request: &mut Request<B>) {
        *request.uri_mut() = self.uri.clone();
        if let Some(host) = &self.host {
            request.headers_mut().insert(HOST, host.clone());
        }
    }
}

/// The host of a URL, with the port unless it is the scheme's own.
fn authority(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(v4)) => v4.is_loopback(),
        Some(Host::Ipv6(v6)) => v6.is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::manifest::Manifest;
    use crate::outbound::policy::Policy;

    fn policy() -> Policy {
        let manifest = Manifest::parse(
            r#"
            name = "x"
            version = "1.0.0"
            title = "X"
            surfaces = ["calendar"]
            hosts_from_settings = ["serverUrl"]
            settings = [{ name = "serverUrl", description = "." }]
            hosts = [{ host = "api.example.com", path_prefix = "/v1" }, { host = "*.files.example.com", port = 8443 }]
            "#,
        );
        let settings = serde_json::json!({ "serverUrl": "https://own.example.org" });
        Policy::new(Arc::new(manifest.unwrap()), settings.as_object().unwrap(), &[])
    }

    /// The URL and the `Host` with which a request to `asked` is sent; none if it is not redirected.
    fn redirected(to: &str, connector: &str, asked: &str) -> Option<(String, Option<String>)> {
        let (policy, redirect) = (policy(), ProviderRedirect::new("x", to).unwrap());
        let permit = policy.permit("GET", asked, None).unwrap();
        let target = policy.redirected(&redirect, connector, &permit).unwrap()?;
        let mut request = Request::new(());
        target.apply(&mut request);
        let host = request.headers().get(HOST).map(|host| host.to_str().unwrap().to_owned());
        Some((request.uri().to_string(), host))
    }

    #[test]
    fn requests_to_hosts_of_the_manifest_go_to_the_provider_of_the_project() {
        let asked = "https://api.example.com/v1/a%2Fb?q=%20&r=1";
        for (to, asked, url, host) in [
            (
                "http://127.0.0.1:9000",
                asked,
                "http://127.0.0.1:9000/v1/a%2Fb?q=%20&r=1",
                Some("api.example.com"),
            ),
            (
                "http://[::1]:9000/fake/",
                "https://api.example.com/v1",
                "http://[::1]:9000/fake/v1",
                Some("api.example.com"),
            ),
            (
                "http://localhost:9000/",
                "https://eu.files.example.com:8443/x",
                "http://localhost:9000/x",
                Some("eu.files.example.com:8443"),
            ),
            (
                "https://staging.example.net/api",
                asked,
                "https://staging.example.net/api/v1/a%2Fb?q=%20&r=1",
                None,
            ),
        ] {
            let expected = (url.to_owned(), host.map(str::to_owned));
            assert_eq!(redirected(to, "x", asked), Some(expected), "{asked} to {to}");
        }
    }

    #[test]
    fn every_other_request_goes_where_it_says() {
        for (to, connector, asked) in [
            // Another connector, a host of the settings, and the provider itself.
            ("http://127.0.0.1:9000", "y", "https://api.example.com/v1"),
            ("http://127.0.0.1:9000", "x", "https://own.example.org/v1"),
            ("https://api.example.com", "x", "https://api.example.com/v1"),
            ("https://api.example.com", "x", "https://eu.files.example.com:8443/x"),
        ] {
            assert_eq!(redirected(to, connector, asked), None, "{asked} of {connector} to {to}");
        }
    }

    #[test]
    fn credentials_leave_this_machine_by_https_alone() {
        for (url, why) in [
            ("http://fake.example.com", "https, or http to this machine"),
            ("http://203.0.113.7:9000", "https, or http to this machine"),
            ("http://localhost.example.com", "https, or http to this machine"),
            ("127.0.0.1:9000", "absolute"),
            ("http://127.0.0.1:9000/?a=b", "query"),
            ("http://user@127.0.0.1:9000", "user name"),
        ] {
            let refused = ProviderRedirect::new("x", url).unwrap_err();
            assert!(refused.contains(why), "{url}: {refused}");
        }
    }
}
