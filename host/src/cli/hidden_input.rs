//! A secret that is typed at the terminal, without echo.

use std::io::{BufRead, IsTerminal, Read, Write};

use anyhow::{Context, Result};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use zeroize::Zeroizing;

use crate::cli::output::print_note;
use crate::cli::serve::Signals;

/// Most bytes of a line.
const MAX_LINE_BYTES: u64 = 4_096;

/// Turns the echo of the terminal off until it is dropped.
struct EchoOff {
    before: Termios,
}

impl EchoOff {
    fn start() -> Result<EchoOff> {
        let before = tcgetattr(std::io::stdin()).context("cannot read the settings of the terminal")?;
        let mut silent = before.clone();
        silent.local_modes.remove(LocalModes::ECHO);
        tcsetattr(std::io::stdin(), OptionalActions::Now, &silent)
            .context("cannot turn off the echo of the terminal")?;
        Ok(EchoOff { before })
    }
}

impl Drop for EchoOff {
    fn drop(&mut self) {
        // A terminal that is gone needs no echo.
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &self.before);
    }
}

/// Whether a person can be asked.
pub fn is_terminal() -> bool {
    std::io::stdin().is_terminal()
}

/// Asks for a line at the terminal, without echo. Returns none after Ctrl-C.
pub async fn read_hidden_line(prompt: &str) -> Result<Option<Zeroizing<String>>> {
    let mut signals = Signals::new()?;
    let echo = EchoOff::start()?;
    let mut stderr = std::io::stderr();
    write!(stderr, "{prompt}").and_then(|()| stderr.flush()).context("cannot write to the terminal")?;
    let reading = tokio::task::spawn_blocking(read_line);
    let line = tokio::select! {
        line = reading => Some(line.context("cannot read the terminal")??),
        () = signals.end() => None,
    };
    drop(echo);
    // The line end of the user was not shown.
    print_note("");
    Ok(line)
}

fn read_line() -> Result<Zeroizing<String>> {
    let mut line = Zeroizing::new(String::new());
    std::io::stdin().lock().take(MAX_LINE_BYTES).read_line(&mut line).context("cannot read the terminal")?;
    Ok(Zeroizing::new(line.trim().to_owned()))
}
