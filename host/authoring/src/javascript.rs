//! Components from TypeScript and JavaScript: npm installs the tools that the project names, esbuild bundles the connector and the SDK into
//! one module, and componentize-qjs combines it with a QuickJS engine.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;

use crate::fault::{Fault, Result};
use crate::group;
use crate::name::ConnectorName;
use crate::wit::write_wit;

/// The folder of intermediate build results.
const WORK: &str = ".switchboard/build";
/// The bundled module of connector and SDK, relative to [`WORK`]; esbuild writes its source map beside it.
const MODULE: &str = "connector.js";
/// The oldest Node that runs the tools.
const OLDEST_NODE: u32 = 20;

/// Builds the component of the project in `folder`, with the smaller, slower engine for quick builds. Returns its path; none if
/// `called_off` was set during the build. Output of the tools goes to stderr.
pub(crate) fn build(
    folder: &Path,
    name: &ConnectorName,
    surfaces: &[String],
    is_quick: bool,
    called_off: Option<&AtomicBool>,
) -> Result<Option<PathBuf>> {
    let work = folder.join(WORK);
    let component = work.join("connector.wasm");
    // A tool that fails silently must not leave the result of the last build in place.
    let _ = fs::remove_file(&component);
    write_wit(name, surfaces, &work.join("wit"))?;
    let entry = work.join("entry.js");
    fs::write(&entry, entry_text(folder, surfaces)?)
        .map_err(|error| Fault::of_file("write", &entry, error))?;
    let steps = [
        install(folder)?,
        folder.join("tsconfig.json").is_file().then(|| tool(folder, "tsc", &[])),
        Some(bundle_step(folder)),
        Some(componentize_step(folder, is_quick)),
    ];
    for (mut command, failed) in steps.into_iter().flatten() {
        match group::run(&mut command, called_off) {
            Ok(None) => return Ok(None),
            Ok(Some(status)) if status.success() => {}
            Ok(Some(_)) => return Err(failed),
            Err(error) => return Err(Fault { said: format!("{}: {error}", failed.said), ..failed }),
        }
        if Path::new(command.get_program()).ends_with("npm") {
            write_stamp(folder)?;
        }
    }
    if component.is_file() {
        return Ok(Some(component));
    }
    Err(Fault::new(
        "componentize-qjs has written no component",
        "remove node_modules and build again: its engine for this system may not be installed",
    ))
}

/// A command, and the fault if it fails.
type Step = (Command, Fault);

fn tool(folder: &Path, name: &str, arguments: &[&str]) -> Step {
    let mut command = Command::new(folder.join("node_modules/.bin").join(name));
    command.args(arguments).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null());
    let mut help = format!("fix what {name} says above, then build again");
    if name == "tsc" {
        // This tool writes its errors to stdout.
        command.stdout(std::io::stderr());
        help.push_str("; without tsconfig.json types are not checked");
    }
    (command, Fault::new("the connector was not built", help))
}

fn bundle_step(folder: &Path) -> Step {
    let (entry, module) = (format!("{WORK}/entry.js"), format!("--outfile={WORK}/{MODULE}"));
    let arguments = [
        entry.as_str(),
        "--bundle",
        "--format=esm",
        "--target=es2023",
        "--external:switchboard:*",
        "--sourcemap=external",
        "--sources-content=false",
        "--log-level=warning",
        module.as_str(),
    ];
    tool(folder, "esbuild", &arguments)
}

fn componentize_step(folder: &Path, is_quick: bool) -> Step {
    let (wit, module) = (format!("{WORK}/wit"), format!("{WORK}/{MODULE}"));
    let output = format!("{WORK}/connector.wasm");
    let arguments = [
        "--wit",
        &wit,
        "--world",
        "connector",
        "--js",
        &module,
        "--module-root",
        WORK,
        "--output",
        &output,
        "--sync",
        "--stub-wasi",
    ];
    let (mut command, failed) = tool(folder, "componentize-qjs", &arguments);
    if is_quick {
        // The host compiles the smaller engine in two thirds of the time.
        command.arg("--opt-size");
    }
    (command, failed)
}

/// Returns the command that installs the packages of `package-lock.json`; none if they are installed.
fn install(folder: &Path) -> Result<Option<Step>> {
    let version = Command::new("node").arg("--version").stdin(Stdio::null()).output();
    let version = version.ok().map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    let major =
        version.as_deref().and_then(|text| text.strip_prefix('v')?.split('.').next()?.parse::<u32>().ok());
    if major.is_none_or(|major| major < OLDEST_NODE) {
        let found = version.filter(|text| !text.is_empty()).map_or_else(
            || "node cannot be started".to_owned(),
            |version| format!("node {version} is too old"),
        );
        let help = format!("install Node {OLDEST_NODE} or newer, with npm (https://nodejs.org)");
        return Err(Fault::new(found, help));
    }
    let lock = fs::read(folder.join("package-lock.json")).ok();
    let is_installed = lock.is_some() && lock == fs::read(stamp(folder)).ok();
    if is_installed {
        return Ok(None);
    }
    let mut npm = Command::new("npm");
    npm.arg(if lock.is_some() { "ci" } else { "install" });
    // None of the tools needs an install script, and scripts of other packages must not run here.
    npm.args(["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]);
    npm.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null());
    let help = "fix what npm says above; it asks its registry for the packages of package.json, once for each change of them";
    Ok(Some((npm, Fault::new("the tools of package.json were not installed", help))))
}

/// Returns the path of the copy of the lock file that `node_modules` was installed from.
fn stamp(folder: &Path) -> PathBuf {
    folder.join("node_modules/.switchboard-lock.json")
}

fn write_stamp(folder: &Path) -> Result<()> {
    let lock = folder.join("package-lock.json");
    fs::copy(&lock, stamp(folder)).map_err(|error| Fault::of_file("copy", &lock, error)).map(drop)
}

/// Returns the entry module, which exports the functions that the host calls.
fn entry_text(folder: &Path, surfaces: &[String]) -> Result<String> {
    let sources = ["src/connector.ts", "src/connector.js"];
    let source = sources.into_iter().find(|file| folder.join(file).is_file()).ok_or_else(|| {
        Fault::new(
            format!("there is no {} in {}", sources.join(" and no "), folder.display()),
            "the connector's module is src/connector.ts; it exports the connector by default",
        )
    })?;
    let mut text = format!(
        "// Written by each build.\nimport {{ serve }} from \"../../vendor/switchboard/guest.ts\";\n\
         import connector from \"../../{source}\";\n\nconst served = serve(() => connector);\n"
    );
    for surface in surfaces {
        let _ = writeln!(text, "export const {surface} = served.{surface};");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entry_exports_the_surfaces_of_the_manifest() {
        let dir = tempfile::tempdir().unwrap();
        let fault = entry_text(dir.path(), &[]).unwrap_err();
        assert!(
            fault.said.starts_with("there is no src/connector.ts and no src/connector.js in"),
            "{}",
            fault.said
        );
        fs::create_dir(dir.path().join("src")).unwrap();
        fs::write(dir.path().join("src/connector.js"), "").unwrap();
        let text = entry_text(dir.path(), &["tasks".into(), "lifecycle".into()]).unwrap();
        assert!(text.contains("import connector from \"../../src/connector.js\";"), "{text}");
        assert!(
            text.ends_with(
                "export const tasks = served.tasks;\nexport const lifecycle = served.lifecycle;\n"
            ),
            "{text}"
        );
    }
}
