//! An application that writes as much as it can. It gets no more than its share of the database's writers, which shows best on
//! PostgreSQL: `cargo xtask storm --only writers --database-url postgres://…`.

/// The name of the attack.
pub const NAME: &str = "64 writers of one tenant";
/// The number of simultaneous writers.
pub const CALLERS: usize = 64;
/// The path of the writes: they need only the database, so nothing else slows them.
pub const PATH: &str = "/v1/api-keys";
/// The request body.
pub const BODY: &str = r#"{ "name": "storm", "scopes": ["usage.read"] }"#;
