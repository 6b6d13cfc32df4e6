//! The sockets of a service: that of the API, and those of metrics and of the panel if they have their own.

use std::net::SocketAddr;

use anyhow::Result;
use futures::future::{OptionFuture, join};
use ipnet::IpNet;
use service::app::config::Config;
use service::app::metrics::Metrics;
use tokio::sync::watch;

use crate::cli::listener::Listener;
use crate::routes::ServiceRoutes;

/// Bound sockets.
pub struct Listeners {
    pub api: Listener,
    pub metrics: Option<Listener>,
    pub panel: Option<Listener>,
}

impl Listeners {
    /// Binds all of them, and writes their actual addresses into the configuration.
    pub async fn bind(config: &mut Config) -> Result<Listeners> {
        let mut api = Listener::bind(config.listen, &config.trusted_proxies).await?;
        config.listen = api.address()?;
        api.set_public_address(&config.public_address());
        let metrics = bind_own(config.metrics_listen, &[]).await?;
        let panel_address = config.admin_listen.filter(|_| config.admin);
        let panel = bind_own(panel_address, &config.trusted_proxies).await?;
        if let Some(panel) = &panel {
            let address = panel.address()?;
            tracing::info!("administration panel on http://{address}/admin");
            config.admin_listen = Some(address);
        }
        Ok(Listeners { api, metrics, panel })
    }

    /// Serves the API and the panel until `stop`, and then completes open requests.
    pub async fn serve(self, routes: ServiceRoutes, metrics: Metrics, stop: watch::Receiver<bool>) {
        let panel = self.panel.zip(routes.panel);
        let panel = panel.map(|(listener, routes)| listener.serve(routes, metrics.clone(), stop.clone()));
        join(self.api.serve(routes.main, metrics, stop), OptionFuture::from(panel)).await;
    }
}

async fn bind_own(address: Option<SocketAddr>, proxies: &[IpNet]) -> Result<Option<Listener>> {
    match address {
        Some(address) => Listener::bind(address, proxies).await.map(Some),
        None => Ok(None),
    }
}
