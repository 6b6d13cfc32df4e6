//! `fake-graph [ADDRESS]`: serves the fake of Microsoft Graph until it is ended. Prints the origin as the first line, and the origin of the
//! host of upload sessions as the second. The address is 127.0.0.1 with a free port where none is given.

use std::env;
use std::net::SocketAddr;

use anyhow::{Context, Result};
use fakes::{Graph, oracle};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let address = match env::args().nth(1) {
        Some(text) => text.parse().with_context(|| format!("{text} is no address such as 127.0.0.1:7100"))?,
        None => SocketAddr::from(([127, 0, 0, 1], 0)),
    };
    let graph = Graph::listen(address, &oracle::graph_extract()?).await?;
    println!("{}", graph.url());
    println!("{}", graph.upload_url());
    graph.serve().await;
    Ok(())
}
