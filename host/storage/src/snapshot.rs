//! A copy of a SQLite database that is in use.

use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::{Context, Result};

use crate::sqlite_files;

/// Copies the database `file` into `target`, which must not exist. The copy is consistent and contains everything that was
/// committed before this call. Others may read and write during the copy; the log beside the file grows until the copy is
/// done. The copy is one file, without free pages, for this user alone, and is not synced to disk.
pub async fn copy(file: &Path, target: &Path) -> Result<()> {
    let (file, target) = (file.to_owned(), target.to_owned());
    tokio::task::spawn_blocking(move || vacuum_into(&file, &target)).await?
}

fn vacuum_into(file: &Path, target: &Path) -> Result<()> {
    let context = || format!("cannot copy the database {}", file.display());
    // Not with `query_only`, which would refuse this too.
    let connection = sqlite_files::open_beside(file).with_context(context)?;
    let into = target.to_str().context("the path of the copy is not UTF-8")?;
    // SQLite accepts an empty file, and gives the journal of the copy the same mode.
    File::options().write(true).create_new(true).mode(0o600).open(target).with_context(context)?;
    connection.execute("vacuum into ?1", [into]).map_err(sqlite_files::failed).with_context(context)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Db;
    use crate::Options;

    #[tokio::test]
    async fn a_copy_has_what_is_only_in_the_log_so_far() {
        use std::os::unix::fs::PermissionsExt;

        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let open = |name: &str, read_only| {
            let url = format!("sqlite://{}", dir.path().join(name).display());
            let options = Options { read_only, ..Options::for_url(url) };
            async move { Db::connect(&options).await.unwrap() }
        };
        let db = Db::open(&Options::for_url(format!("sqlite://{}", at("a.db").display()))).await.unwrap();
        let settle = |value: &'static str| {
            db.write(move |tx| Box::pin(async move { crate::installation::settle(tx, value, value).await }))
        };
        settle("before").await.unwrap();
        copy(&at("a.db"), &at("b.db")).await.unwrap();
        assert_eq!(at("b.db").metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert!(copy(&at("a.db"), &at("b.db")).await.is_err(), "no file is overwritten");
        settle("after").await.unwrap();
        let copied = open("b.db", true).await;
        copied.check().await.unwrap();
        assert_eq!(copied.integrity().await.unwrap(), ["ok"]);
        let find = async |name: &str| crate::installation::find(copied.reader(), name).await.unwrap();
        assert_eq!((find("before").await.as_deref(), find("after").await), (Some("before"), None));
        let refused: Result<()> = copied.write(|_| Box::pin(async { Ok(()) })).await;
        assert!(refused.unwrap_err().to_string().contains("for reading"));
        copied.close().await;
    }
}
