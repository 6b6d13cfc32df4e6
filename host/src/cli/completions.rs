//! `switchboard completions` and `switchboard man`: files for shells and for `man`, made from the definition of the command line.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Command};
use clap_complete::Shell;
use clap_mangen::Man;

use crate::cli::output::answer;
use crate::cli::refusal::failure;

/// The name of the program.
const PROGRAM: &str = "switchboard";

/// The section of every manual page on exit codes.
const EXIT_STATUS: &str = "\
.SH \"EXIT STATUS\"
.TP
\\fB0\\fR
Success.
.TP
\\fB1\\fR
Failure: a line on stderr says why, and a line that begins with \\(lqhelp:\\(rq what to do. For
.B switchboard api
also: the server refused the request (4xx).
.TP
\\fB2\\fR
Wrong usage: an argument is missing or not valid.
.TP
\\fB3\\fR
A connector failed its tests, its check, or a step of
.BR \"switchboard connector try\" .
.TP
\\fB4\\fR
The server cannot be reached, or it failed (5xx).
";

/// Print the completions of a shell
#[derive(Args)]
#[command(after_help = "\
Examples:
  switchboard completions bash > ~/.local/share/bash-completion/completions/switchboard
  switchboard completions zsh > ~/.zfunc/_switchboard
  switchboard completions fish > ~/.config/fish/completions/switchboard.fish")]
pub struct Completions {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// Write a manual page for each command into a directory
#[derive(Args)]
#[command(after_help = "\
Examples:
  switchboard man ~/.local/share/man/man1
  man switchboard-api")]
pub struct ManPages {
    /// Directory of the pages; created if it is missing
    #[arg(value_name = "DIR")]
    dir: PathBuf,
}

impl Completions {
    /// Prints the completions of `command`.
    pub fn run(self, mut command: Command) -> Result<ExitCode> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command, PROGRAM, &mut script);
        answer(&String::from_utf8_lossy(&script))?;
        Ok(ExitCode::SUCCESS)
    }
}

impl ManPages {
    /// Writes the pages of `command` and of its subcommands.
    pub fn run(self, command: Command) -> Result<ExitCode> {
        let mut command = command.disable_help_subcommand(true);
        command.build();
        let written = std::fs::create_dir_all(&self.dir).and_then(|()| write_pages(&command, &self.dir));
        let count = written.map_err(|e| {
            failure(
                format!("cannot write manual pages to {}: {e}", self.dir.display()),
                "name a directory that you may write to",
            )
        })?;
        answer(&format!("wrote {count} pages to {}", self.dir.display()))?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Writes the page of a command and those of its subcommands, and returns their number.
fn write_pages(command: &Command, dir: &Path) -> std::io::Result<usize> {
    let mut count = 1;
    let is_shown = |command: &&Command| !command.is_hide_set() && command.get_name() != "help";
    for subcommand in command.get_subcommands().filter(is_shown) {
        count += write_pages(subcommand, dir)?;
    }
    let man = Man::new(command.clone());
    let mut page = Vec::new();
    man.render(&mut page)?;
    page.extend_from_slice(EXIT_STATUS.as_bytes());
    std::fs::write(dir.join(man.get_filename()), page)?;
    Ok(count)
}
