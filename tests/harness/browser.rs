//! A minimal browser for tests: it opens pages, follows redirects one at a time, and fills in the consent form of the sandbox provider's
//! authorization server.

use reqwest::header::{HeaderMap, LOCATION};
use reqwest::{Client, Url};

use crate::http_client;

/// A browser without cookies and scripts.
pub struct Browser(Client);

/// The response to a request of the browser.
#[derive(Debug)]
pub struct Page {
    pub url: Url,
    pub status: u16,
    pub headers: HeaderMap,
    pub text: String,
}

/// The user's choice on the consent page.
#[derive(Clone, Copy, Debug)]
pub enum Consent<'a> {
    /// Leaves every scope selected and allows.
    Allow,
    /// Selects only these scopes of the provider and allows.
    Only(&'a [&'a str]),
    Deny,
}

/// The form of a consent page: the address that it is posted to, and its fields.
#[derive(Debug)]
pub struct Form {
    pub action: Url,
    /// Hidden fields: name and value.
    pub hidden: Vec<(String, String)>,
    /// Values of the checkboxes named `scope`.
    pub scopes: Vec<String>,
}

impl Default for Browser {
    fn default() -> Self {
        // Tests compare responses as sent: no automatic redirects, no compression.
        let client = http_client().redirect(reqwest::redirect::Policy::none()).no_gzip();
        Browser(client.build().expect("an HTTP client"))
    }
}

impl Browser {
    /// Opens a page, as a click on a link does.
    pub async fn open(&self, url: &str) -> Page {
        self.send(self.0.get(url).header("accept", "text/html,application/xhtml+xml,*/*;q=0.8")).await
    }

    /// Opens a page with one more header.
    pub async fn open_with(&self, url: &str, name: &str, value: &str) -> Page {
        self.send(self.0.get(url).header(name, value)).await
    }

    /// Requests a page with another method, without a body.
    pub async fn ask(&self, method: reqwest::Method, url: &str) -> Page {
        self.send(self.0.request(method, url)).await
    }

    /// Posts a form (`application/x-www-form-urlencoded`).
    pub async fn submit(&self, url: &str, fields: &[(&str, &str)]) -> Page {
        let request = self.0.post(url).header("content-type", "application/x-www-form-urlencoded");
        self.send(request.body(encoded(fields))).await
    }

    async fn send(&self, request: reqwest::RequestBuilder) -> Page {
        let response = request.send().await.expect("an answer");
        let (url, status) = (response.url().clone(), response.status().as_u16());
        let headers = response.headers().clone();
        Page { url, status, headers, text: response.text().await.expect("a text") }
    }

    /// Opens an authorization URL of the sandbox provider and answers its consent page as `account`; returns the provider's redirect
    /// without following it.
    pub async fn consent(&self, authorization_url: &str, account: &str, consent: Consent<'_>) -> String {
        let page = self.open(authorization_url).await;
        assert_eq!(page.status, 200, "no consent page: {page:#?}");
        let form = page.form();
        let mut fields: Vec<(&str, &str)> =
            form.hidden.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        fields.push(("account", account));
        let ticked: Vec<&str> = match consent {
            Consent::Only(scopes) => scopes.to_vec(),
            Consent::Allow | Consent::Deny => form.scopes.iter().map(String::as_str).collect(),
        };
        fields.extend(ticked.into_iter().map(|scope| ("scope", scope)));
        fields.push(("action", if matches!(consent, Consent::Deny) { "deny" } else { "allow" }));
        let answer = self.submit(form.action.as_str(), &fields).await;
        assert_eq!(answer.status, 303, "the form leads nowhere: {answer:#?}");
        answer.location()
    }
}

impl Page {
    /// Returns the target of the redirect. Panics if the response is not a redirect.
    #[track_caller]
    pub fn location(&self) -> String {
        let location = self.headers.get(LOCATION).and_then(|value| value.to_str().ok());
        location.unwrap_or_else(|| panic!("no redirect: {self:#?}")).to_owned()
    }

    /// Returns a header's value; empty if it is absent.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// Returns the page's only form.
    #[track_caller]
    pub fn form(&self) -> Form {
        let (_, rest) = self.text.split_once("<form").expect("a form");
        let (head, rest) = rest.split_once('>').expect("the form's tag ends");
        let (body, _) = rest.split_once("</form>").expect("the form ends");
        let action = match attribute(head, "action") {
            Some(action) => self.url.join(&action).expect("a URL"),
            None => {
                let mut url = self.url.clone();
                url.set_query(None);
                url
            }
        };
        let (mut hidden, mut scopes) = (Vec::new(), Vec::new());
        for tag in body.split("<input").skip(1).filter_map(|rest| Some(rest.split_once('>')?.0)) {
            let name = attribute(tag, "name").unwrap_or_default();
            let value = attribute(tag, "value").unwrap_or_default();
            match attribute(tag, "type").as_deref() {
                Some("hidden") => hidden.push((name, value)),
                Some("checkbox") if name == "scope" => scopes.push(value),
                _ => {}
            }
        }
        Form { action, hidden, scopes }
    }
}

/// Returns the value of an attribute in a tag, with its character references resolved.
fn attribute(tag: &str, name: &str) -> Option<String> {
    let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
    let value = rest.split_once('"')?.0;
    let value = value.replace("&quot;", "\"").replace("&#39;", "'").replace("&#x27;", "'");
    Some(value.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
}

/// Encodes fields as `application/x-www-form-urlencoded`.
pub fn encoded(fields: &[(&str, &str)]) -> String {
    let mut url = Url::parse("http://form.invalid/").expect("a URL");
    url.query_pairs_mut().extend_pairs(fields);
    url.query().unwrap_or_default().to_owned()
}

/// Returns a parameter in the query of a URL, decoded; none if it is absent.
pub fn parameter(url: &str, name: &str) -> Option<String> {
    let url = Url::parse(url).expect("a URL");
    url.query_pairs().find(|(found, _)| found == name).map(|(_, value)| value.into_owned())
}

/// Returns the URL with this parameter set to `value` in its query, or removed.
pub fn changed(url: &str, name: &str, value: Option<&str>) -> String {
    let mut url = Url::parse(url).expect("a URL");
    let kept: Vec<(String, String)> =
        url.query_pairs().into_owned().filter(|(found, _)| found != name).collect();
    url.query_pairs_mut().clear().extend_pairs(kept).extend_pairs(value.map(|value| (name, value)));
    url.to_string()
}
