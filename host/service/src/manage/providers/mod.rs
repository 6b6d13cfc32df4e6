//! OAuth clients that applications have registered at providers.

pub mod inputs;

use serde_json::Value;
use storage::oauth_clients::OAuthClient;

/// The URL to enter at the provider as the address that users return to: the registration's own, else one at the service's address.
pub fn callback_url(service_address: &str, client: &OAuthClient) -> String {
    if let Some(url) = client.endpoints.get("callbackUrl").and_then(Value::as_str) {
        return url.to_owned();
    }
    format!("{}/v1/auth/connectors/{}/callback", service_address.trim_end_matches('/'), client.provider)
}

/// The place of a client's sealed secret: its table, column, row and organization.
pub fn secret_place(client: &OAuthClient) -> String {
    format!("oauth_clients.client_secret:{}:{}", client.id, client.tenant.organization_id)
}
