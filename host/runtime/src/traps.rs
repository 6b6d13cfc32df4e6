//! Converts wasmtime's errors to one code, and to a report for the connector's author.

use wasmtime::{Trap, WasmBacktrace};
use wasmtime_wasi::I32Exit;

use crate::code::Code;
use crate::error::AuthorReport;
use crate::frames;
use crate::log::harmless;
use crate::state::{CpuSpent, HostCallsSpent, State};

/// The code for an error of instantiation or of a call.
pub(crate) fn code(error: &wasmtime::Error, state: &State) -> Code {
    if error.downcast_ref::<CpuSpent>().is_some() {
        return Code::CpuLimit;
    }
    if error.downcast_ref::<HostCallsSpent>().is_some() {
        return Code::HostCallLimit;
    }
    if error.downcast_ref::<wasmtime::PoolConcurrencyLimitError>().is_some() {
        // Admission should prevent this.
        return Code::Busy;
    }
    // A guest whose allocation is refused aborts: the trap says "unreachable", but the limiter knows the cause.
    if state.memory.refused {
        return Code::MemoryLimit;
    }
    if error.downcast_ref::<I32Exit>().is_some() {
        return Code::Trap;
    }
    match error.downcast_ref::<Trap>() {
        Some(Trap::StackOverflow) => Code::StackOverflow,
        Some(Trap::UnreachableCodeReached) => Code::Panic,
        Some(
            Trap::StringOutOfBounds
            | Trap::ListOutOfBounds
            | Trap::InvalidDiscriminant
            | Trap::InvalidChar
            | Trap::UnalignedPointer,
        ) => Code::BadOutput,
        Some(_) => Code::Trap,
        // Without a trap code it is the canonical ABI that refuses the guest's values: bad UTF-8, lengths out of bounds, more
        // than the fuel for one step.
        None => Code::BadOutput,
    }
}

/// The trap for the author: cause, where, and the last lines of the log.
pub(crate) fn report(error: &wasmtime::Error, state: &State) -> AuthorReport {
    let causes: Vec<String> =
        error.chain().map(ToString::to_string).filter(|c| !c.starts_with("error while")).collect();
    let mut detail = harmless(&causes.join(": "), 4 << 10);
    if state.memory.refused {
        let (used, max) = (state.memory.used >> 20, state.memory.max >> 20);
        detail = format!("memory limit: {used} of {max} MiB used when growth was refused; then {detail}");
    }
    let frames = error.downcast_ref::<WasmBacktrace>().map_or_else(Vec::new, frames::frames);
    let (log, dropped_lines) = state.log.report();
    AuthorReport { detail, frames, log, dropped_lines }
}

/// Whether `text` is one JSON value, nested at most `max_depth` deep.
pub(crate) fn check_json(text: &str, max_depth: usize) -> Result<(), String> {
    let depth = depth(text);
    if depth > max_depth {
        return Err(format!("the body nests {depth} levels, the limit is {max_depth}"));
    }
    serde_json::from_str::<serde::de::IgnoredAny>(text).map(|_| ()).map_err(|error| {
        // Position and kind only: serde's text may quote the body.
        format!(
            "the body is not JSON: {:?} error at line {} column {}",
            error.classify(),
            error.line(),
            error.column()
        )
    })
}

fn depth(text: &str) -> usize {
    let (mut now, mut most, mut in_string, mut escaped) = (0_usize, 0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => {
                now += 1;
                most = most.max(now);
            }
            b']' | b'}' if !in_string => now = now.saturating_sub(1),
            _ => {}
        }
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_json_of_reasonable_depth_passes() {
        assert!(check_json(r#"{"a":["[[[[","\"[["]}"#, 2).is_ok());
        assert!(check_json("[[[]]]", 2).is_err());
        for bad in ["", "{", "nothing", "{} {}", "{'a':1}"] {
            assert!(check_json(bad, 64).is_err(), "{bad}");
        }
        assert!(check_json(&"[".repeat(1_000_000), 64).is_err());
    }
}
