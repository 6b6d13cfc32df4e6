//! `switchboard admin list`: all operators of the administration panel.

use anyhow::Result;
use clap::Args;
use model::Instant;
use serde_json::{Value, json};
use service::manage::operators::directory::{self, OperatorView};

use crate::cli::admin::open_store::{OpenStore, PanelOptions};
use crate::cli::output::{answer, table};
use crate::cli::refusal::command_error;

/// Operators that are read at once.
const OPERATORS_PER_READ: i64 = 200;

/// List the operators with their roles and last sign-in
#[derive(Args)]
pub struct ListOperators {
    /// Print a JSON array
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    panel: PanelOptions,
}

impl ListOperators {
    pub async fn run(self) -> Result<()> {
        let open = self.panel.open().await?;
        let found = all(&open).await;
        let database = open.close().await;
        let found = found?;
        if self.json {
            let shown: Vec<Value> = found.iter().map(json_of).collect();
            return answer(&serde_json::to_string_pretty(&shown)?);
        }
        if found.is_empty() {
            return answer(&format!(
                "nobody can sign in yet: run `switchboard admin link`\n\ndatabase  {database}"
            ));
        }
        let head = ["EMAIL", "NAME", "ROLES", "SECOND FACTOR", "LAST SIGN-IN", "STATE"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        rows.extend(found.iter().map(row));
        answer(&format!("{}\ndatabase  {database}", table(&rows)))
    }
}

async fn all(open: &OpenStore) -> Result<Vec<OperatorView>> {
    let mut all: Vec<OperatorView> = Vec::new();
    loop {
        let after = all.last().map(|last| last.id.clone()).unwrap_or_default();
        let page = directory::list(open.operators(), &after, OPERATORS_PER_READ).await;
        let page = page.map_err(command_error)?;
        if page.is_empty() {
            return Ok(all);
        }
        all.extend(page);
    }
}

fn state(operator: &OperatorView) -> &'static str {
    match operator {
        _ if operator.disabled_at.is_some() => "disabled",
        // Who signs in by the OpenID provider needs none.
        _ if !operator.has_password && operator.last_sign_in_at.is_none() => "no password yet",
        _ => "active",
    }
}

fn row(operator: &OperatorView) -> Vec<String> {
    let of_organizations =
        operator.roles.iter().map(|role| format!("{} of {}", role.role.as_str(), role.organization_name));
    let admin = operator.is_admin.then(|| "administrator".to_owned());
    let roles: Vec<String> = admin.into_iter().chain(of_organizations).collect();
    let last_sign_in = operator.last_sign_in_at.map(|at| Instant::from_millis(at).to_string());
    vec![
        operator.email.clone(),
        operator.name.clone(),
        if roles.is_empty() { "-".to_owned() } else { roles.join(", ") },
        if operator.has_second_factor { "on" } else { "off" }.to_owned(),
        last_sign_in.unwrap_or_else(|| "never".to_owned()),
        state(operator).to_owned(),
    ]
}

fn json_of(operator: &OperatorView) -> Value {
    let roles: Vec<Value> = operator
        .roles
        .iter()
        .map(|role| {
            json!({
                "organizationId": role.organization_id,
                "organization": role.organization_name,
                "role": role.role.as_str(),
            })
        })
        .collect();
    json!({
        "id": operator.id,
        "email": operator.email,
        "name": operator.name,
        "isAdmin": operator.is_admin,
        "roles": roles,
        "hasSecondFactor": operator.has_second_factor,
        "lastSignInAt": operator.last_sign_in_at.map(Instant::from_millis),
        "state": state(operator),
    })
}
