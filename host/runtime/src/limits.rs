//! Every bound of the sandbox in one place, with its default.

use crate::manifest::MemoryClass;

/// Limits of each call, and of all calls together.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Wall-clock time of one call, provider time included, ms.
    pub wall_ms: u64,
    /// Guest CPU time of one call, ms. Waiting for a provider does not count.
    pub cpu_ms: u64,
    /// Linear memory of a call by class, MiB, summed over the component's memories.
    pub small_mib: usize,
    pub standard_mib: usize,
    pub large_mib: usize,
    /// Linear memory of all running calls, MiB.
    pub total_memory_mib: usize,
    /// Concurrent calls: on this host, for one connector, for one tenant.
    pub max_concurrent: usize,
    pub max_per_connector: usize,
    pub max_per_tenant: usize,
    /// Background calls (sync) among them; the rest is reserved for calls whose caller waits.
    pub max_background: usize,
    /// Calls that wait for permits, and how long one waits, ms.
    pub max_queued: usize,
    pub queue_timeout_ms: u64,
    /// Bytes that the guest may pass to the host in one step; bounds the answer.
    pub output_bytes: usize,
    /// Depth of nested arrays and objects in the answer.
    pub output_depth: usize,
    /// Calls of host functions per call.
    pub host_calls: u64,
    /// Log lines per call, and bytes per line.
    pub log_lines: usize,
    pub log_line_bytes: usize,
    /// HTTP requests per call, and the maximum of concurrent ones.
    pub http_requests: u32,
    pub http_concurrent: usize,
    /// Concurrent HTTP requests of all calls.
    pub http_total_concurrent: usize,
    /// Longest HTTP exchange, ms.
    pub http_timeout_ms: u64,
    /// Bytes sent per call.
    pub http_request_bytes: u64,
    /// Bytes of one response body handed to the guest, decompressed; and of all of them.
    pub http_response_bytes: u64,
    pub http_total_response_bytes: u64,
    /// Bytes of all headers of one request, and of one response.
    pub http_header_bytes: usize,
    /// Concurrent lookups of names, of all tenants and of one, each with a thread; and the longest wait for one, ms.
    pub lookups: usize,
    pub lookups_per_tenant: usize,
    pub lookup_timeout_ms: u64,
    /// Time of a mail server's greeting, encryption and login together, ms; and of its answer to any later command of the host's own.
    pub handshake_ms: u64,
    /// Bytes that a mail server may send before the login, and in answer to each command of the host's own.
    pub handshake_bytes: usize,
    /// How long one IDLE lasts, ms. A server may end it after half an hour (RFC 2177 section 3); routers forget silent
    /// connections sooner.
    pub idle_ms: u64,
    /// Longest silence of an event source, ms. The host requests pings three times as often, and proxies drop silent connections
    /// after a minute.
    pub event_silence_ms: u64,
    /// Bytes of one event of an event source, and of one line of it: they contain a few names and states.
    pub event_bytes: usize,
    /// Bytes that a server may send in a minute on a connection that waits for notifications. A change of one message's flags is some
    /// 40 bytes.
    pub idle_bytes_per_minute: usize,
    /// Bytes of all blobs of a call.
    pub blob_bytes: u64,
    /// Largest accepted component, bytes.
    pub component_bytes: usize,
    /// Threads for guests that compute for longer than a tick of the epoch; one at the least.
    pub guest_threads: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            wall_ms: 60_000,
            cpu_ms: 2_000,
            small_mib: 32,
            standard_mib: 64,
            large_mib: 256,
            total_memory_mib: 2_048,
            max_concurrent: 64,
            max_per_connector: 48,
            max_per_tenant: 24,
            max_background: 32,
            max_queued: 512,
            queue_timeout_ms: 2_000,
            output_bytes: 8 << 20,
            output_depth: 64,
            host_calls: 100_000,
            log_lines: 1_000,
            log_line_bytes: 4 << 10,
            http_requests: 256,
            http_concurrent: 8,
            http_total_concurrent: 256,
            http_timeout_ms: 30_000,
            http_request_bytes: 64 << 20,
            http_response_bytes: 8 << 20,
            http_total_response_bytes: 64 << 20,
            http_header_bytes: 64 << 10,
            lookups: 64,
            lookups_per_tenant: 4,
            lookup_timeout_ms: 8_000,
            handshake_ms: 45_000,
            handshake_bytes: 256 << 10,
            idle_ms: 9 * 60_000,
            event_silence_ms: 90_000,
            event_bytes: 64 << 10,
            idle_bytes_per_minute: 1 << 20,
            blob_bytes: 150 << 20,
            component_bytes: 40 << 20,
            guest_threads: 2,
        }
    }
}

impl Limits {
    /// Linear memory of one call, MiB.
    pub fn memory_mib(&self, class: MemoryClass) -> usize {
        match class {
            MemoryClass::Small => self.small_mib,
            MemoryClass::Standard => self.standard_mib,
            MemoryClass::Large => self.large_mib,
        }
    }
}
