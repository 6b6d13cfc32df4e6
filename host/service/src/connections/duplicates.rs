//! Refuses a second connection of an account that is connected already.

use base::error::{Code, Detail, Refusal, Result};
use runtime::Manifest;
use serde_json::{Map, Value};
use storage::Tx;
use storage::connection_accounts::{self, AccountConnection};
use storage::connections::Connection;
use url::Url;

use crate::app::App;
use crate::connections::settings::sandbox_url;

/// Fails with `already_exists` if another live connection of the application opens the same account: the same provider, account and server.
/// A connection whose credentials the provider refuses is none, so that the account can be connected again.
///
/// Call it in the transaction that writes `new`, after the application's row was locked (`event_log::append`), so that of two requests on
/// two hosts the later one reads what the earlier one wrote.
pub async fn refuse(tx: &mut Tx, app: &App, manifest: &Manifest, new: &Connection) -> Result<()> {
    let found =
        connection_accounts::of_account(&mut *tx, &new.tenant, &new.provider, &new.external_account_id)
            .await?;
    let is_other = |one: &AccountConnection| {
        one.id != new.id && is_same_server(app, manifest, &one.settings, &new.settings)
    };
    match found.into_iter().find(is_other) {
        None => Ok(()),
        Some(other) => Err(already_connected(&other.id).into()),
    }
}

/// Whether the settings of two connections of a provider name the same server.
pub fn is_same_server(
    app: &App,
    manifest: &Manifest,
    one: &Map<String, Value>,
    other: &Map<String, Value>,
) -> bool {
    // The sandbox is this server, whatever address it has at the moment.
    sandbox_url(app, &manifest.name).is_some() || servers(manifest, one) == servers(manifest, other)
}

fn already_connected(id: &str) -> Refusal {
    let message = format!(
        "this account is connected already, as {id}: use that connection, or send ?allow_duplicate=true for a second one"
    );
    let detail =
        Detail { field: "connectionId".to_owned(), code: Code::AlreadyExists, message: id.to_owned() };
    Refusal { details: vec![detail], ..Refusal::new(Code::AlreadyExists, message).param("credentials") }
}

/// The servers that a connection's settings name, each with the name of its setting.
fn servers<'m>(manifest: &'m Manifest, settings: &Map<String, Value>) -> Vec<(&'m str, String)> {
    let names = manifest.hosts_from_settings.iter().chain(&manifest.servers_from_settings);
    names.filter_map(|name| Some((name.as_str(), server(settings.get(name)?)))).collect()
}

/// A server in a form that is equal for equal servers: a URL without its last slash, or a host without its port, since one server has a
/// port for each kind of encryption.
fn server(value: &Value) -> String {
    match value {
        Value::String(text) => {
            let url = Url::parse(text).map_or_else(|_| text.clone(), String::from);
            url.trim_end_matches('/').to_owned()
        }
        other => other["host"].as_str().unwrap_or_default().to_ascii_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::server;

    #[test]
    fn a_server_is_the_same_in_all_its_spellings() {
        assert_eq!(server(&json!("https://DAV.example.com")), server(&json!("https://dav.example.com:443/")));
        assert_ne!(server(&json!("https://dav.example.com/a")), server(&json!("https://dav.example.com/b")));
        let imap = |host: &str, port: u16| server(&json!({ "host": host, "port": port, "tls": "implicit" }));
        assert_eq!(imap("Imap.example.com", 993), imap("imap.example.com", 143));
        assert_ne!(imap("imap.example.com", 993), imap("imap.example.org", 993));
    }
}
