//! `switchboard openapi`: the API's description, without a server.

use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use service::app::config::Config;

use crate::api;
use crate::api::openapi::Flavour;
use crate::cli::output::answer;

/// Print the OpenAPI 3.1 document of the API as JSON
///
/// A running server has the same document at /openapi.json, and that for generators of clients at /openapi/clients.json.
#[derive(Args)]
pub struct Openapi {
    /// URL of the service that the document names [default: http://127.0.0.1:8080]
    #[arg(long, env = "SWITCHBOARD_PUBLIC_URL", value_name = "URL")]
    public_url: Option<String>,
    /// Print the document for generators of clients: without the statuses that an operation never answers
    #[arg(long)]
    for_clients: bool,
}

impl Openapi {
    pub fn run(self) -> Result<ExitCode> {
        let config = Config { public_url: self.public_url, ..Config::default() };
        let flavour = if self.for_clients { Flavour::Clients } else { Flavour::Contract };
        let document = api::openapi::print(&api::operations(), &config.public_address(), flavour);
        answer(&serde_json::to_string_pretty(&document).context("cannot print the document")?)?;
        Ok(ExitCode::SUCCESS)
    }
}
