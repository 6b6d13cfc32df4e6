//! The connector, the settings and the credentials that a call is made with.

use std::sync::Arc;

use base::error::Result;
use base::tenant::Tenant;
use model::wire::Connection as WireConnection;
use runtime::Credentials;
use serde_json::Value;
use storage::connections::Connection;
use url::Url;

use crate::app::App;
use crate::connections::credentials::{self, StaticCredentials};
use crate::connections::new_tokens::is_renewable;
use crate::connections::settings::settings_of_call;
use crate::connections::stored::StoredCredentials;

/// The connection that a call is for, with its credentials.
pub struct CallTarget<'a> {
    pub provider: &'a str,
    pub tenant: &'a Tenant,
    pub connection_id: &'a str,
    pub wire: WireConnection,
    pub credentials: Arc<dyn Credentials>,
    /// The same credentials if they are renewable tokens.
    pub renewed: Option<Arc<StoredCredentials>>,
}

impl<'a> CallTarget<'a> {
    /// Returns the target for a stored connection, with its credentials opened.
    pub fn for_connection(app: &App, connection: &'a Connection) -> Result<Self> {
        let given = credentials::stored(app, connection)?;
        let renewed = match is_renewable(&given) {
            true => Some(Arc::new(StoredCredentials::new(app, connection, &given)?)),
            false => None,
        };
        let credentials: Arc<dyn Credentials> = match &renewed {
            Some(renewed) => renewed.clone(),
            None => Arc::new(StaticCredentials::new(&given)?),
        };
        Ok(CallTarget {
            provider: &connection.provider,
            tenant: &connection.tenant,
            connection_id: &connection.id,
            wire: WireConnection {
                settings: settings_of_call(app, connection),
                addresses: connection.addresses.clone(),
                username: connection.username.clone(),
            },
            credentials,
            renewed,
        })
    }
}

/// Returns the server that a connection's user named, as `host:port`; for a provider with the same servers for all users, its name.
pub fn server_of(connection: &Connection) -> String {
    let settings = &connection.settings;
    if let Some(server) = settings.get("imap").and_then(Value::as_object) {
        let host = server.get("host").and_then(Value::as_str).unwrap_or_default();
        let port = server.get("port").and_then(Value::as_u64).unwrap_or_default();
        return format!("{}:{port}", host.to_lowercase());
    }
    let url = settings.get("serverUrl").and_then(Value::as_str).and_then(|url| Url::parse(url).ok());
    let named = url.as_ref().and_then(|url| Some((url.host_str()?, url.port_or_known_default()?)));
    named.map_or_else(|| connection.provider.clone(), |(host, port)| format!("{host}:{port}"))
}
