//! OAuth clients that applications have registered at providers.

pub mod inputs;
pub mod registration;

use serde_json::{Value, json};
use storage::oauth_clients::OAuthClient;

/// The URL to enter at the provider as the address that users return to: the registration's own, else one at the service's address.
pub fn callback_url(service_address: &str, client: &OAuthClient) -> String {
    if let Some(url) = client.endpoints.get("callbackUrl").and_then(Value::as_str) {
        return url.to_owned();
    }
    default_callback_url(service_address, &client.provider)
}

/// The same where the registration has no URL of its own, or is not made yet.
pub fn default_callback_url(service_address: &str, provider: &str) -> String {
    format!("{}/v1/auth/connectors/{provider}/callback", service_address.trim_end_matches('/'))
}

/// A registration as the command line and the API show it; the secret is not in it.
pub fn json(client: &OAuthClient) -> Value {
    json!({
        "id": client.id,
        "applicationId": client.tenant.application_id,
        "provider": client.provider,
        "clientId": client.client_id,
        "hasSecret": client.client_secret.is_some(),
        "clientAuth": client.client_auth,
        "settings": client.settings,
        "endpoints": client.endpoints,
        "scopes": client.scopes,
        "version": client.version,
        "disabled": client.disabled_at.is_some(),
    })
}

/// The place of a client's sealed secret: its table, column, row and organization.
pub fn secret_place(client: &OAuthClient) -> String {
    format!("oauth_clients.client_secret:{}:{}", client.id, client.tenant.organization_id)
}
