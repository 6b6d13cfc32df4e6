//! The options of commands that only open the store.

use std::path::PathBuf;

use clap::Args;

/// The place where everything is kept, for commands that only open the store.
#[derive(Args, Clone, Debug, Default)]
pub struct StoreOptions {
    /// TOML file with settings: the flags' names with underscores, for example `data_dir = "/var/lib/switchboard"`
    #[arg(long, env = "SWITCHBOARD_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Directory of the database, the master key and the installed connectors [default: data]
    #[arg(long, env = "SWITCHBOARD_DATA_DIR", value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// Database: sqlite:///path/file.db or postgres://user:password@host/name [default: switchboard.db in the data directory]
    #[arg(long, env = "SWITCHBOARD_DATABASE_URL", hide_env_values = true, value_name = "URL")]
    pub database_url: Option<String>,
    /// File that holds the database URL, for URLs with a password
    #[arg(long, env = "SWITCHBOARD_DATABASE_URL_FILE", value_name = "FILE")]
    pub database_url_file: Option<PathBuf>,
}
