//! mbsync of Debian's package `isync`, which copies a mailbox from IMAP into a Maildir: a process with a generated configuration.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use crate::bench::mail::provider::Account;
use crate::bench::rig::Rig;
use crate::project;

const MISSING: &str =
    "mbsync is not installed, and the first sync is measured beside it: run `apt-get install isync`";

/// The time at which mbsync flushes a message to the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flush {
    /// Before it records the message in its state; this is mbsync's default.
    EachMessage,
    Never,
}

impl Flush {
    /// The value of the option `FSync`.
    fn option(self) -> &'static str {
        match self {
            Flush::EachMessage => "yes",
            Flush::Never => "no",
        }
    }
}

/// An installed mbsync.
pub struct Mbsync {
    /// The name and the version that it prints: `isync 1.4.4`.
    pub version: String,
}

impl Mbsync {
    /// Finds mbsync. Fails if it is not installed, and says how to install it.
    pub fn find() -> Result<Mbsync> {
        let mut command = project::command("mbsync");
        let printed = command.arg("--version").stdin(Stdio::null()).output().context(MISSING)?;
        ensure!(printed.status.success(), "`mbsync --version` failed: {}", printed.status);
        Ok(Mbsync { version: String::from_utf8(printed.stdout)?.trim().to_owned() })
    }

    /// Copies the inbox of the account, which holds `count` messages, into an empty Maildir in the folder of the bench, where the data
    /// of our server is too. Returns the seconds from the start of the process to its end. The Maildir is deleted afterwards.
    pub fn copy(&self, rig: &Rig, account: &Account, count: usize, flush: Flush) -> Result<f64> {
        let folder = rig.folder("mbsync")?;
        let file = folder.join("mbsyncrc");
        fs::write(&file, configuration(account, &folder, flush)?)?;
        // Writes of the last Maildir's deletion must not be part of the first flush.
        rustix::fs::sync();
        let mut command = project::command("mbsync");
        // mbsync does not start without a home folder. This one has no settings of the user.
        command.env("HOME", &folder).args(["--quiet", "--config"]).arg(&file).arg("inbox");
        command.stdin(Stdio::null());
        let start = Instant::now();
        let ended = command.output().context("cannot start mbsync")?;
        let seconds = start.elapsed().as_secs_f64();
        let errors = String::from_utf8_lossy(&ended.stderr);
        ensure!(ended.status.success(), "mbsync failed: {}\n{errors}", ended.status);
        let stored = messages_in(&folder.join("INBOX"))?;
        ensure!(stored == count, "mbsync stored {stored} messages of {count}\n{errors}");
        fs::remove_dir_all(&folder)?;
        Ok(seconds)
    }
}

/// The text of the configuration file; its channel is named `inbox`. An empty line ends a section, and global options come first.
fn configuration(account: &Account, folder: &Path, flush: Flush) -> Result<String> {
    let folder = folder.to_str().context("the folder's path is not UTF-8")?;
    let (user, password) = (quoted(&account.user), quoted(&account.password));
    let (path, inbox) = (quoted(&format!("{folder}/")), quoted(&format!("{folder}/INBOX")));
    // `SSLType` is called `TLSType` from isync 1.5 on, which still takes the older name. `AuthMechs` names LOGIN because mbsync sends
    // no password over an unencrypted connection without that. The timeout is in seconds.
    Ok(format!(
        "FSync {fsync}\n\n\
         IMAPAccount provider\nHost 127.0.0.1\nPort {port}\nUser {user}\nPass {password}\nSSLType None\nAuthMechs LOGIN\nTimeout 120\n\n\
         IMAPStore remote\nAccount provider\n\n\
         MaildirStore local\nPath {path}\nInbox {inbox}\nSubFolders Verbatim\n\n\
         Channel inbox\nFar :remote:\nNear :local:\nCreate Near\nSync Pull\nSyncState *\n",
        fsync = flush.option(),
        port = account.port,
    ))
}

/// A value of the configuration file.
fn quoted(value: &str) -> String {
    format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
}

/// The number of messages in a Maildir, read and unread.
fn messages_in(maildir: &Path) -> Result<usize> {
    let mut count = 0;
    for name in ["new", "cur"] {
        let folder = maildir.join(name);
        let files = fs::read_dir(&folder).with_context(|| format!("mbsync made no {}", folder.display()))?;
        count += files.count();
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn quotes_and_backslashes_stay_part_of_a_value() {
        assert_eq!(quoted("t01@example.test"), "\"t01@example.test\"");
        assert_eq!(quoted(r#"a "b" \c"#), r#""a \"b\" \\c""#);
    }
}
