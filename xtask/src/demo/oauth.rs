//! Connecting by OAuth: the client asks for an authorization, the user's browser allows it at the sandbox provider, and comes back with a
//! connection.

use anyhow::{Context, Result, ensure};
use serde_json::json;
use ureq::Agent;
use ureq::http::Request;

use crate::demo::walk::{Walk, text};

/// The address to which the demo's application lets its users return. No server listens there: the demo shows the redirect and does not
/// follow it.
pub const REDIRECT: &str = "http://127.0.0.1:4000/connected";

/// The state value that the client sends along and compares when the user returns.
const STATE: &str = "of-this-users-session";

impl Walk {
    /// Connects a second account by OAuth, reads the connection, and disconnects it.
    pub fn connect_by_oauth(&mut self) -> Result<()> {
        let body = json!({
            "scopes": ["email.read", "calendar.read"],
            "redirectUri": REDIRECT,
            "state": STATE,
        });
        let path = "/v1/auth/connectors/sandbox/authorize";
        let title = "Connect an account by OAuth: where to send the user";
        let authorization = self.ask(title, "POST", path, &[], Some(&body))?.expect(&[201])?;
        let browser = Browser::default();
        let back = browser.allow(&text(&authorization, "authorizationUrl")?, "carol")?;
        let returned = browser.follow("The provider sends the browser back to Switchboard", &back)?;
        ensure!(
            returned.starts_with(REDIRECT),
            "the browser is not sent to the application's address: {returned}"
        );
        ensure!(parameter(&returned, "state") == Some(STATE), "the client's state did not come back");
        ensure!(parameter(&returned, "status") == Some("active"), "the connection is not active: {returned}");
        let id = parameter(&returned, "connection_id").context("the redirect names no connection")?;
        let path = format!("/v1/connections/{id}");
        let connection =
            self.ask("The connection that the user made", "GET", &path, &[], None)?.expect(&[200])?;
        ensure!(connection["status"] == "active", "the connection is not active");
        ensure!(
            connection["grantedScopes"] == body["scopes"],
            "the connection was not granted what was asked for"
        );
        let path = format!("/v1/calendars?connection_id={id}");
        self.ask("Its calendars", "GET", &path, &[], None)?.expect(&[200])?;
        let path = format!("/v1/connections/{id}");
        self.ask("Disconnect it", "DELETE", &path, &[], None)?.expect(&[204])?;
        Ok(())
    }
}

/// The user's browser; its requests are shown.
struct Browser(Agent);

impl Default for Browser {
    fn default() -> Self {
        let config = Agent::config_builder().http_status_as_error(false).proxy(None).max_redirects(0).build();
        Browser(Agent::new_with_config(config))
    }
}

impl Browser {
    /// Opens the sandbox provider's consent page and allows all requested scopes; returns the redirect.
    fn allow(&self, url: &str, account: &str) -> Result<String> {
        println!("\n   The user opens that address.\nGET {url}");
        let request = Request::get(url).body(()).context("the authorization URL is none")?;
        let mut response = self.0.run(request).context("the consent page")?;
        ensure!(response.status() == 200, "the consent page answers {}", response.status());
        let page = response.body_mut().read_to_string().context("the consent page")?;
        let token = field(&page, "token").context("the consent page has no form token")?;
        let scopes: Vec<&str> = page
            .split("<input")
            .filter(|tag| tag.contains("name=\"scope\""))
            .filter_map(|tag| attribute(tag, "value"))
            .collect();
        ensure!(!scopes.is_empty(), "the consent page asks for nothing");
        println!("\n200\nThe page asks for {}.", scopes.join(" and "));
        let mut form = format!("token={}&account={account}&action=allow", encode_form(token));
        for scope in &scopes {
            form += &format!("&scope={}", encode_form(scope));
        }
        let action = url.split('?').next().unwrap_or_default();
        println!("\n   {account} allows it.\nPOST {action}");
        let request = Request::post(action).header("content-type", "application/x-www-form-urlencoded");
        self.redirected(request.body(form).context("the consent form")?)
    }

    /// Opens an address that redirects, and returns the target.
    fn follow(&self, title: &str, url: &str) -> Result<String> {
        println!("\n   {title}.\nGET {}", without_secrets(url));
        self.redirected(Request::get(url).body(()).context("the redirect is no URL")?)
    }

    fn redirected<B: ureq::AsSendBody>(&self, request: Request<B>) -> Result<String> {
        let mut response = self.0.run(request).context("the browser's request")?;
        let status = response.status();
        let location = response.headers().get("location").and_then(|value| value.to_str().ok());
        let Some(location) = location.map(str::to_owned) else {
            let page = response.body_mut().read_to_string().unwrap_or_default();
            anyhow::bail!("expected a redirect, got {status}:\n{page}");
        };
        println!("\n{status}\nlocation: {}", without_secrets(&location));
        Ok(location)
    }
}

/// Returns a parameter of a URL, still encoded.
fn parameter<'a>(url: &'a str, name: &str) -> Option<&'a str> {
    let (_, query) = url.split_once('?')?;
    query.split('&').find_map(|pair| pair.split_once('=').filter(|(found, _)| *found == name)).map(|(_, v)| v)
}

/// Returns a URL for the screen: without the provider's code.
fn without_secrets(url: &str) -> String {
    match parameter(url, "code") {
        Some(code) => url.replace(code, "…"),
        None => url.to_owned(),
    }
}

/// The value of a hidden field of a page.
fn field<'a>(page: &'a str, name: &str) -> Option<&'a str> {
    let marked = format!("name=\"{name}\"");
    attribute(page.split("<input").find(|tag| tag.contains(&marked))?, "value")
}

fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = tag.split_once(&format!("{name}=\""))?;
    Some(rest.split_once('"')?.0)
}

/// Text for a form (`application/x-www-form-urlencoded`).
fn encode_form(text: &str) -> String {
    text.bytes().fold(String::new(), |out, byte| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' => out + &char::from(byte).to_string(),
        _ => out + &format!("%{byte:02X}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_of_a_page_is_read() {
        let page = r#"<form><input type="hidden" name="token" value="a.b"><input name="scope" value="x">"#;
        assert_eq!(field(page, "token"), Some("a.b"));
        assert_eq!(field(page, "other"), None);
        assert_eq!(encode_form("mail.read a&b"), "mail.read%20a%26b");
        assert_eq!(parameter("http://x/cb?connection_id=conn_1&state=s", "state"), Some("s"));
        assert_eq!(without_secrets("http://x/cb?code=secret&state=s"), "http://x/cb?code=…&state=s");
    }
}
