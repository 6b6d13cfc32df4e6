//! HTTP/1.1 over one connection from a chosen address: the protocol of the well-behaved and of the attackers.

use std::net::{IpAddr, SocketAddr};

use anyhow::{Context, Result, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

/// Opens a connection to the server from a local address, so that several clients have several addresses.
pub async fn connect(server: SocketAddr, from: IpAddr) -> Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.bind(SocketAddr::new(from, 0)).with_context(|| format!("cannot send from {from}"))?;
    let stream = socket.connect(server).await.context("cannot connect")?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// A request with a JSON body, or without one.
pub fn request(method: &str, path: &str, key: &str, headers: &[String], body: &str) -> Vec<u8> {
    let mut text = format!("{method} {path} HTTP/1.1\r\nhost: storm\r\n");
    if !key.is_empty() {
        text += &format!("authorization: Bearer {key}\r\n");
    }
    for line in headers {
        text += line;
        text += "\r\n";
    }
    if !body.is_empty() {
        text += &format!("content-type: application/json\r\ncontent-length: {}\r\n", body.len());
    }
    text += "\r\n";
    text += body;
    text.into_bytes()
}

/// Sends a request, reads its whole answer, and returns the status.
pub async fn exchange(stream: &mut TcpStream, request: &[u8]) -> Result<u16> {
    stream.write_all(request).await?;
    let mut buffer = Vec::with_capacity(16 << 10);
    let head_end = loop {
        ensure!(stream.read_buf(&mut buffer).await? > 0, "the server closed the connection");
        if let Some(end) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
            break end + 4;
        }
    };
    let head = String::from_utf8_lossy(&buffer[..head_end]).to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
    let length: usize = length.map_or(Ok(0), |length| length.trim().parse())?;
    let mut left = (head_end + length).saturating_sub(buffer.len());
    while left > 0 {
        buffer.clear();
        let read = stream.read_buf(&mut buffer).await?;
        ensure!(read > 0, "the server closed the connection");
        left = left.saturating_sub(read);
    }
    head.get(9..12).unwrap_or_default().parse().context("no status line")
}
