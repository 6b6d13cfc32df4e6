//! An application that writes as much as it can. However much that is, it has a share of the database's writers and no more, which shows
//! best on PostgreSQL: `cargo xtask storm --only writers --database-url postgres://…`.

/// What the attack is called.
pub const NAME: &str = "64 writers of one tenant";
/// How many write at once.
pub const CALLERS: usize = 64;
/// Where they write: nothing but the database is asked, so that nothing else slows them.
pub const PATH: &str = "/v1/api-keys";
/// What they write.
pub const BODY: &str = r#"{ "name": "storm", "scopes": ["usage.read"] }"#;
