//! The end of tokens: `POST /sandbox/oauth/revoke` (RFC 7009) by a client, and `DELETE /sandbox/oauth/grants` by the account.

use axum::body::Bytes;
use axum::extract::State as AxumState;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};

use crate::authorization_server::clients;
use crate::authorization_server::grants::{Client, GrantChange, Grants, hashed};
use crate::authorization_server::oauth_error::{OAuthError, unstored};
use crate::authorization_server::params::Params;
use crate::fault_routes;
use crate::faults::Fault;
use crate::ops::Op;
use crate::problem::Problem;
use crate::sandbox::{Caller, Sandbox};
use crate::state::State;

/// The path of the revocation endpoint.
pub const PATH: &str = "/sandbox/oauth/revoke";

/// Ends an access token, or with a refresh token the account's whole grant to the client. An unknown token counts as ended
/// already: 200.
pub async fn revoke(AxumState(sandbox): AxumState<Sandbox>, headers: HeaderMap, body: Bytes) -> Response {
    let (client, token) = match read(&sandbox.store().state.grants, &headers, &body) {
        Ok(request) => request,
        Err(error) => return error.into_response(),
    };
    let mail = account(&sandbox.store().state.grants, &token);
    let fault = mail.as_deref().and_then(|mail| sandbox.faults().take(mail, &Method::POST, PATH, ""));
    let answer = answer(&sandbox, &client, &token, fault.as_ref());
    fault_routes::under(&sandbox, mail.as_deref(), fault.as_ref(), answer).await
}

fn read(grants: &Grants, headers: &HeaderMap, body: &[u8]) -> Result<(Client, String), OAuthError> {
    let params = Params::of_form(headers, body).map_err(OAuthError::invalid_request)?;
    if let Some(name) = params.repeated() {
        return Err(OAuthError::invalid_request(format!("{name} is there more than once")));
    }
    let client = clients::authenticate(grants, headers, &params)?;
    let token = params.get("token").ok_or_else(|| OAuthError::invalid_request("token is required"))?;
    Ok((client, token.to_owned()))
}

fn account(grants: &Grants, token: &str) -> Option<String> {
    let by_refresh = grants.of_refresh_token(token).map(|(family, _)| family);
    let family = by_refresh.or_else(|| grants.of_access_token(token).map(|(family, _)| family));
    family.map(|family| family.mail.clone())
}

async fn answer(sandbox: &Sandbox, client: &Client, token: &str, fault: Option<&Fault>) -> Response {
    if let Some(error) = fault.and_then(|fault| fault.oauth_error.clone()) {
        return OAuthError::new(error, "this error was asked for with a sandbox fault").into_response();
    }
    match sandbox.write(|state| Ok(end(state, client, token))).await {
        Ok(Ok(())) => unstored(StatusCode::OK.into_response()),
        Ok(Err(error)) => error.into_response(),
        Err(problem) => OAuthError::from(problem).into_response(),
    }
}

fn end(state: &mut State, client: &Client, token: &str) -> Result<(), OAuthError> {
    let owner = |of: &str| match of == client.id {
        true => Ok(()),
        false => Err(OAuthError::invalid_grant("the token was issued to another client")),
    };
    if let Some((family, _)) = state.grants.of_refresh_token(token) {
        owner(&family.client)?;
        let mail = family.mail.clone();
        let families = state.grants.of_account(&mail).filter(|family| family.client == client.id);
        let ids: Vec<String> = families.map(|family| family.id.clone()).collect();
        end_all(state, ids);
    } else if let Some((family, _)) = state.grants.of_access_token(token) {
        owner(&family.client)?;
        state.commit(Op::Grant(GrantChange::TokenEnded { hash: hashed(token) }));
    }
    Ok(())
}

fn end_all(state: &mut State, ids: Vec<String>) {
    for id in ids {
        state.commit(Op::Grant(GrantChange::FamilyEnded { id }));
    }
}

/// `DELETE /sandbox/oauth/grants`: the account withdraws its grants to all clients.
pub async fn withdraw((AxumState(sandbox), login): Caller) -> Result<StatusCode, Problem> {
    sandbox
        .write(|state| {
            let ids = state.grants.of_account(&login.mail).map(|family| family.id.clone()).collect();
            end_all(state, ids);
            Ok(())
        })
        .await?;
    Ok(StatusCode::NO_CONTENT)
}
