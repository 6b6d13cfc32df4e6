//! `GET /.well-known/oauth-authorization-server/sandbox`: metadata of the authorization server (RFC 8414).

use axum::Json;
use serde_json::{Value, json};

use crate::authorization_server::origin::Origin;
use crate::authorization_server::scopes::SCOPES;

/// Client authentication methods of the token and the revocation endpoint.
const CLIENT_AUTH: [&str; 3] = ["none", "client_secret_post", "client_secret_basic"];

/// The metadata document.
pub async fn metadata(origin: Origin) -> Json<Value> {
    let issuer = origin.issuer();
    let scopes: Vec<&str> = SCOPES.iter().map(|scope| scope.name).collect();
    Json(json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{issuer}/oauth/authorize"),
        "token_endpoint": format!("{issuer}/oauth/token"),
        "revocation_endpoint": format!("{issuer}/oauth/revoke"),
        "scopes_supported": scopes,
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_methods_supported": CLIENT_AUTH,
        "revocation_endpoint_auth_methods_supported": CLIENT_AUTH,
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": true,
    }))
}
