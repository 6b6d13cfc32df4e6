//! Operators below HTTP: how they prove who they are, by which links they come, and what they may do. Several hosts share all of it.

mod links;
mod oidc;
pub mod oidc_provider;
mod rights;
mod second_factor;
mod sign_in;

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::net::IpAddr;

use base::error::{Code, Result};
use harness::{Beside, TestServer};
use service::app::App;
use service::manage::actor::{Actor, Role};
use service::manage::operators::acceptance::{self, NewOperator};
use service::manage::operators::links::{self as link_pages, Invitation};
use service::manage::operators::sessions::{self, NewSession, Session, SignInOrigin};
use service::manage::operators::sign_in::{self as signing_in, Credentials, SignIn};

const PASSWORD: &str = "a staple for 7 horses";
const OTHER_PASSWORD: &str = "correct horse battery";
const ADA: &str = "ada@example.com";
const GRACE: &str = "grace@example.com";

fn origin() -> SignInOrigin {
    SignInOrigin { ip: IpAddr::from([127, 0, 0, 1]), user_agent: "a test".to_owned() }
}

/// The app of the other host, or of the only one.
fn second<'a>(server: &'a TestServer, beside: &'a Option<Beside>) -> &'a App {
    beside.as_ref().map_or(&server.app, |beside| &beside.app)
}

/// The code of a refusal.
#[track_caller]
fn refused<T: Debug>(result: Result<T>) -> Code {
    let error = result.expect_err("it is refused");
    error.code().unwrap_or_else(|| panic!("{error}"))
}

#[track_caller]
fn signed(result: SignIn) -> NewSession {
    match result {
        SignIn::Signed(new) => new,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn half(result: SignIn) -> String {
    match result {
        SignIn::NeedsCode(token) => token,
        other => panic!("{other:?}"),
    }
}

/// Signs in from a device that is known by a cookie, or from one that nobody knows.
async fn sign_in(app: &App, email: &str, password: &str, device: Option<&str>) -> SignIn {
    let form = Credentials {
        email: email.to_owned(),
        password: password.to_owned().into(),
        device: device.map(str::to_owned),
    };
    signing_in::sign_in(app, &form, &origin()).await.expect("it is looked at")
}

/// The operator and the session of a cookie.
async fn visit(app: &App, cookie: &str) -> Option<(Actor, Session)> {
    sessions::session(app, cookie).await.expect("the store answers")
}

async fn accept(app: &App, token: &str, email: Option<&str>, password: &str) -> Result<SignIn> {
    let new = NewOperator {
        email: email.map(str::to_owned),
        name: "Somebody".to_owned(),
        password: password.to_owned().into(),
        language: None,
    };
    acceptance::accept(app, token, &new, &origin()).await
}

/// Ada, who is the first operator and so an admin, signed in.
async fn ada(app: &App) -> (Actor, Session, NewSession) {
    let link = link_pages::first(app).await.expect("the link is stored").expect("there is no operator");
    let new = signed(accept(app, &link.token, Some(ADA), PASSWORD).await.expect("the operator is made"));
    let (actor, session) = visit(app, &new.cookie).await.expect("the session is there");
    (actor, session, new)
}

fn invitation(email: &str, organization_id: &str, role: Role) -> Invitation {
    Invitation {
        email: email.to_owned(),
        is_admin: false,
        roles: BTreeMap::from([(organization_id.to_owned(), role)]),
    }
}

/// Signs in a member with a role in an organization.
async fn member(app: &App, by: &Actor, email: &str, organization_id: &str, role: Role) -> (Actor, Session) {
    let link = link_pages::invite(app, by, &invitation(email, organization_id, role)).await;
    let link = link.expect("the invitation is stored");
    let new = signed(accept(app, &link.token, None, PASSWORD).await.expect("the operator is made"));
    visit(app, &new.cookie).await.expect("the session is there")
}
