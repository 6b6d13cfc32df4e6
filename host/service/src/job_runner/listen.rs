//! Hosts on one PostgreSQL begin each other's work at once (`storage::listen`), instead of when they next look for it.

use storage::listen::Exchange;
use tokio::sync::watch;

use crate::app::App;

/// Runs until `stop` says that the process ends.
pub async fn run(app: &App, mut stop: watch::Receiver<bool>) {
    let config = &app.config;
    let url = config.database_listen_url.clone().unwrap_or_else(|| config.database());
    match Exchange::new(&app.db, &url, &app.boot) {
        Ok(None) => {}
        Ok(Some(exchange)) => tokio::select! {
            () = exchange.run() => {}
            // An error: whoever could say stop is gone.
            _ = stop.wait_for(|stop| *stop) => {}
        },
        Err(e) => tracing::error!(error = %format!("{e:#}"), "other hosts are not heard"),
    }
}
