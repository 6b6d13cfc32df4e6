//! A command together with all processes that it starts.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

/// The interval at which `called_off` is checked.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Runs a command until it ends. None: `called_off` was set, and the command was killed with all processes that it had started. A command
/// that can be called off has its own process group, so the terminal's signals do not reach it.
pub fn run(command: &mut Command, called_off: Option<&AtomicBool>) -> io::Result<Option<ExitStatus>> {
    let Some(called_off) = called_off else { return command.status().map(Some) };
    let mut child = Group(command.process_group(0).spawn()?);
    loop {
        if let Some(status) = child.0.try_wait()? {
            return Ok(Some(status));
        }
        if called_off.load(Ordering::Relaxed) {
            return Ok(None);
        }
        thread::sleep(LOOK_EVERY);
    }
}

/// The leader of a process group; dropping it kills the group.
struct Group(Child);

impl Drop for Group {
    fn drop(&mut self) {
        // The process id is not reused before the process was waited for.
        let runs = matches!(self.0.try_wait(), Ok(None));
        if let Some(group) = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw).filter(|_| runs) {
            let _ = kill_process_group(group, Signal::KILL);
            let _ = self.0.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::process::Stdio;

    use super::*;

    #[test]
    fn a_command_that_is_called_off_ends_with_what_it_started() {
        let (mut end, its_end) = io::pipe().unwrap();
        let mut command = Command::new("bash");
        // The pipe is open as long as one of the two runs.
        command.args(["-c", "sleep 600 & sleep 600; wait"]).stdin(Stdio::null()).stdout(its_end);
        let ended = run(&mut command, Some(&AtomicBool::new(true))).unwrap();
        drop(command);
        assert!(ended.is_none());
        assert_eq!(end.read(&mut [0; 1]).unwrap(), 0);
    }

    #[test]
    fn a_command_that_ends_by_itself_has_its_status() {
        for called_off in [None, Some(&AtomicBool::new(false))] {
            let ended = run(Command::new("bash").args(["-c", "exit 3"]), called_off).unwrap();
            assert_eq!(ended.and_then(|status| status.code()), Some(3));
        }
    }
}
