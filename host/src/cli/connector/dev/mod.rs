//! `switchboard connector dev`: a host with the project's connector, built again and swapped whenever a file changes.

mod account;
mod operator_settings;
mod rebuild;
mod shown;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use authoring::{Fault, Project};
use base::clock::Clock;
use clap::Args;
use runtime::ProviderRedirect;
use service::app::config::Config;
use service::manage::providers::inputs::{self, Setting};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::cli::connector::dev::account::DevAccount;
use crate::cli::connector::dev::rebuild::Rebuild;
use crate::cli::connector::dev::shown::CallPrinter;
use crate::cli::connector::project::{InProject, step};
use crate::cli::connector::provider::{RunningProvider, paper};
use crate::cli::listen_address::ListenAddress;
use crate::cli::output::answer;
use crate::cli::serve::{BoundService, Signals, serve};
use crate::cli::serve_settings::ServeSettings;

/// The default log level of the host. Failed calls and connectors that do not load are shown already.
const LOG: &str = "error,runtime=off";

/// Serve the connector while you write it: it is rebuilt and replaced when a file changes
///
/// Serves the API with a key and a connection of the project, kept in its folder .switchboard/. Prints each call of the connector with its
/// log, and a backtrace for a call that traps. If a build fails, the connector of the last successful build stays in service.
#[derive(Args)]
#[command(after_help = "\
Example:
  cd notes && switchboard connector dev
  curl -H 'Authorization: Bearer KEY' http://127.0.0.1:8080/v1/task-lists")]
pub struct Dev {
    #[command(flatten)]
    project: InProject,
    /// Address of the API
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8080")]
    listen: ListenAddress,
    /// Address of Paper, if the project uses it as its provider
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8081")]
    provider_listen: ListenAddress,
    /// Value of a setting that the connector leaves to the operator, as in `apps provider set` (repeatable); kept in .switchboard/. NAME=
    /// removes it
    #[arg(long = "setting", value_name = "NAME=VALUE", value_parser = inputs::setting)]
    settings: Vec<Setting>,
    /// Log level of the host, as `serve --log-level`
    #[arg(long, value_name = "LEVEL", default_value = LOG)]
    pub log_level: String,
}

impl Dev {
    pub async fn run(self) -> Result<()> {
        let project = self.project.open()?;
        let mut signals = Signals::new()?;
        let account = DevAccount::from_project(&project, &self.settings)?;
        let (account, url, _provider) = self.provider(&project, account).await?;
        let redirect = account.redirect_to(&url)?;
        let mut rebuild = Rebuild::new(project.clone());
        let folder = tokio::select! {
            folder = rebuild.first() => folder?,
            () = signals.end() => return Ok(()),
        };
        let (ready, started) = oneshot::channel();
        let mut serving = tokio::spawn(serve(self.host(&project, redirect), Some(ready)));
        let follow = async {
            // It ended before it was ready: the reason is its own error.
            let Ok(BoundService { app, service }) = started.await else {
                return std::future::pending().await;
            };
            rebuild.put_into_service(&app.runtime, &folder).await;
            let key = account::key(&app, &project).await?;
            account.register(&app, &key).await?;
            step(&format!("host on http://{} (data in .switchboard/)", app.config.listen));
            tell_connection(&account, &service, &key, app.config.listen).await?;
            rebuild.follow(&app.runtime).await
        };
        tokio::select! {
            served = &mut serving => served.context("the host stopped")?,
            failed = follow => {
                serving.abort();
                failed
            }
        }
    }

    /// The account, whose settings name the provider, the provider's address, and its process.
    async fn provider(
        &self,
        project: &Project,
        mut account: DevAccount,
    ) -> Result<(DevAccount, String, Option<RunningProvider>)> {
        match &project.provider {
            authoring::Provider::BuiltIn(_) => {
                let listener = TcpListener::bind(self.provider_listen.0).await.map_err(|error| {
                    let said = format!("Paper cannot listen on {}: {error}", self.provider_listen.0);
                    Fault::new(said, "choose another address: --provider-listen 127.0.0.1:0")
                })?;
                let url = format!("http://{}", listener.local_addr()?);
                step(&format!("provider paper on {url}"));
                account.has_server(&url);
                tokio::spawn(async move { axum::serve(listener, paper()).await });
                Ok((account, url, None))
            }
            authoring::Provider::Local(local) => {
                let started = RunningProvider::start(local, &project.folder).await?;
                step(&format!("provider on {}", local.url));
                Ok((account, local.url.clone(), started))
            }
        }
    }

    /// The settings of the host: every call reads from the provider, which may be on this machine and replaces the hosts of the manifest.
    fn host(&self, project: &Project, redirect: Option<ProviderRedirect>) -> ServeSettings {
        let networks = ["127.0.0.0/8", "::1/128"].map(|net| net.parse().expect("a network"));
        let config = Config {
            listen: self.listen.0,
            data_dir: project.folder.join(".switchboard"),
            connectors_dir: None,
            egress_allow: networks.to_vec(),
            webhook_allow: networks.to_vec(),
            admin: false,
            freshness_ms: 0,
            compile_program: std::env::current_exe().ok(),
            connector_lines: true,
            connector_redirect: redirect,
            connector_observer: Some(Arc::new(CallPrinter::new(Clock::system(), &project.folder))),
            ..Config::default()
        };
        ServeSettings {
            config,
            log_format: None,
            log_level: self.log_level.clone(),
            drain_delay: Duration::ZERO,
            connectors_named: false,
        }
    }
}

/// Connects the account, and prints how to call the API. A failure is the fault of the connector or of the settings: the next build may fix
/// it.
async fn tell_connection(
    account: &DevAccount,
    service: &axum::Router,
    key: &str,
    listen: SocketAddr,
) -> Result<()> {
    answer(&format!("key {key}"))?;
    match account.connect(service, key).await? {
        Ok(connection) => {
            step(&format!("connection {connection} is active"));
            let path = account.path();
            answer(&format!("curl -H 'Authorization: Bearer {key}' http://{listen}{path}"))
        }
        Err(refused) => {
            step(&format!("no connection: {refused}"));
            step("fix it, then start `switchboard connector dev` again");
            Ok(())
        }
    }
}
