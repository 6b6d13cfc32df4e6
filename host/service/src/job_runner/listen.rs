//! Lets hosts on one PostgreSQL wake each other's runners at once (`storage::listen`), instead of at the next sweep.

use storage::listen::Exchange;
use tokio::sync::watch;

use crate::app::App;

/// Runs until `stop` is true: the process ends.
pub async fn run(app: &App, mut stop: watch::Receiver<bool>) {
    let config = &app.config;
    let url = config.database_listen_url.clone().unwrap_or_else(|| config.database());
    match Exchange::new(&app.db, &url, &app.boot) {
        Ok(None) => {}
        Ok(Some(exchange)) => tokio::select! {
            () = exchange.run() => {}
            // An error: the sender of the stop signal is gone.
            _ = stop.wait_for(|stop| *stop) => {}
        },
        Err(e) => tracing::error!(error = %format!("{e:#}"), "other hosts are not heard"),
    }
}
