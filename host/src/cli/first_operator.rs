//! The first operator of an installation: created from environment variables, or by a link in the log.

use std::path::Path;

use anyhow::{Context, Result};
use model::Instant;
use service::app::App;
use service::manage::operators::{acceptance, links};
use zeroize::Zeroizing;

use crate::cli::refusal::{command_error, ensure_or_help};
use crate::cli::settings_file::read_secret;

/// The variable with the address of the first operator.
pub const EMAIL_VARIABLE: &str = "SWITCHBOARD_ADMIN_EMAIL";
/// The variable that names the file with the password of the first operator.
pub const PASSWORD_FILE_VARIABLE: &str = "SWITCHBOARD_ADMIN_PASSWORD_FILE";

/// An operator who is created without a link.
struct UnattendedOperator {
    email: String,
    password: Zeroizing<String>,
}

/// Creates the first operator from the variables, or a link to create one. Returns the log line with the link; none if there is an operator
/// already, or no panel.
///
/// # Errors
/// Names the variable that is missing, or whose address or password is refused.
pub async fn prepare(app: &App) -> Result<Option<String>> {
    if !app.config.admin || !links::is_empty(app).await.map_err(command_error)? {
        return Ok(None);
    }
    if let Some(given) = from_variables()? {
        let made = acceptance::create_first(app, &given.email, &given.password).await;
        let is_made = made.map_err(command_error).with_context(|| {
            format!("cannot create the operator of {EMAIL_VARIABLE} and {PASSWORD_FILE_VARIABLE}")
        })?;
        // Another host may have been first.
        return Ok(is_made.then(|| {
            format!("administration panel: {} signs in at {}/admin", given.email, app.config.admin_address())
        }));
    }
    let link = links::first(app).await.map_err(command_error)?;
    Ok(link.map(|link| {
        let until = Instant::from_millis(link.expires_at);
        format!(
            "administration panel: {}{} (works once, until {until})",
            app.config.admin_address(),
            link.path()
        )
    }))
}

/// The operator that the variables describe; none if they are not set.
fn from_variables() -> Result<Option<UnattendedOperator>> {
    let email = std::env::var(EMAIL_VARIABLE).ok().filter(|email| !email.trim().is_empty());
    let file = std::env::var_os(PASSWORD_FILE_VARIABLE).filter(|file| !file.is_empty());
    ensure_or_help(
        email.is_some() == file.is_some(),
        || format!("only one of {EMAIL_VARIABLE} and {PASSWORD_FILE_VARIABLE} is set"),
        || "set both to create the first operator, or neither".to_owned(),
    )?;
    let (Some(email), Some(file)) = (email, file) else { return Ok(None) };
    let password = Zeroizing::new(read_secret(Path::new(&file))?);
    Ok(Some(UnattendedOperator { email: email.trim().to_owned(), password }))
}
