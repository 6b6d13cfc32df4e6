//! The command lines that dump and restore a PostgreSQL database: passwords are not in them.

use std::str::FromStr;

use anyhow::{Context, Result};
use sqlx::postgres::PgConnectOptions;

use crate::Db;
use crate::sql::query;

/// A PostgreSQL server as the target of a dump.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DumpTarget {
    /// The options that lead `pg_dump` and `pg_restore` to the database: host, port, user and name.
    pub connection: Vec<String>,
    /// The schema that the tables are in.
    pub schema: String,
    /// The major version: `pg_dump` must not be older.
    pub major_version: i64,
}

impl DumpTarget {
    /// The database at `url`, which `db` was opened with. None on SQLite.
    pub async fn load(db: &Db, url: &str) -> Result<Option<DumpTarget>> {
        let Some(sql) = db.dialect().server_facts() else { return Ok(None) };
        let read = query(sql).fetch_one(db.reader(), |row| {
            Ok((row.get::<String>("schema_name")?, row.get::<i64>("version_number")?))
        });
        let (schema, version_number) = read.await?;
        let connection = connection_options(url)?;
        // 150004 is 15.4.
        Ok(Some(DumpTarget { connection, schema, major_version: version_number / 10_000 }))
    }

    /// The arguments of `pg_dump` that write the database to a file.
    pub fn dump_arguments(&self, file: &str) -> Vec<String> {
        let mut arguments = self.connection.clone();
        if self.schema != "public" {
            arguments.push(format!("--schema={}", self.schema));
        }
        let format = ["--format=custom", "--no-owner", "--no-privileges"];
        arguments.extend(format.map(str::to_owned));
        arguments.push(format!("--file={file}"));
        arguments
    }
}

/// The arguments of `pg_restore` that read a file of `pg_dump` into the empty database at `url`, all of it or nothing.
pub fn restore_arguments(url: &str, file: &str) -> Result<Vec<String>> {
    let mut arguments = connection_options(url)?;
    let how = ["--no-owner", "--no-privileges", "--exit-on-error", "--single-transaction"];
    arguments.extend(how.map(str::to_owned));
    arguments.push(file.to_owned());
    Ok(arguments)
}

fn connection_options(url: &str) -> Result<Vec<String>> {
    let to = PgConnectOptions::from_str(url).context("the URL of the database")?;
    let host = match to.get_socket() {
        Some(socket) => socket.display().to_string(),
        None => to.get_host().to_owned(),
    };
    let name = to.get_database().unwrap_or_else(|| to.get_username());
    Ok(vec![
        format!("--host={host}"),
        format!("--port={}", to.get_port()),
        format!("--username={}", to.get_username()),
        format!("--dbname={name}"),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_leads_to_the_database_and_has_no_password() {
        let url = "postgres://sb:hunter2@db.internal:5433/switchboard?sslmode=require";
        let connection = connection_options(url).unwrap();
        let wanted = ["--host=db.internal", "--port=5433", "--username=sb", "--dbname=switchboard"];
        assert_eq!(connection, wanted);
        let target = DumpTarget { connection, schema: "public".to_owned(), major_version: 15 };
        let all = [target.dump_arguments("a.dump"), restore_arguments(url, "a.dump").unwrap()].concat();
        assert!(
            all.contains(&"--file=a.dump".to_owned()) && all.iter().all(|word| !word.contains("hunter2"))
        );
        assert!(
            all.iter().all(|word| !word.starts_with("--schema")),
            "extensions of the database belong to it"
        );
        let apart = DumpTarget { schema: "sb".to_owned(), ..target };
        assert!(apart.dump_arguments("a.dump").contains(&"--schema=sb".to_owned()));
    }
}
