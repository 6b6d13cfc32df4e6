//! The connector to the sandbox provider, whose records have the model's JSON. `native` is the provider's JSON around them; `items` and
//! `collections` are the operations that are the same for all kinds; `api` is the way there.

mod api;
mod calendar;
mod collections;
mod connector;
mod contacts;
mod items;
mod mail;
mod native;
mod tasks;
mod watch;

use connector_sdk::http::Request;
use connector_sdk::{Context, Lifecycle, Outcome};
use model::wire::Account;

pub use crate::connector::Sandbox;

impl Lifecycle for Sandbox {
    fn check(context: &Context) -> Outcome<Account> {
        let url = api::url(context, &["me"], &[])?;
        let me: native::Me = api::ask(context, Request::get(url), "reading the account")?;
        Ok(Account {
            external_account_id: me.id,
            email: Some(me.mail),
            display_name: me.name,
            time_zone: me.zone,
            surfaces: me.products,
            provider_scopes: me.grants,
            ..Account::default()
        })
    }
}

// A native linker refuses the names of a component's exports.
#[cfg(target_family = "wasm")]
connector_sdk::export_connector!(Sandbox, [email, calendar, contacts, tasks, lifecycle, watch]);
