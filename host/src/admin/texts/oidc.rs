//! Words of sign-in by an OpenID provider.

use crate::admin::texts::macros::page_texts;

page_texts! {
    /// Buttons that lead to the provider, and pages for what went wrong on the way.
    OidcTexts, ENGLISH_OIDC, {
        sign_in: "Sign in with {name}",
        join: "Join with {name}",
        confirm: "Confirm with {name}",
        confirm_text: "You will be asked to sign in there again.",
        leaving: "Going to {name}",
        leaving_text: "You will be redirected. If nothing happens, use this link:",
        title: "Sign-in with {name}",
        connected: "You can sign in with {name}.",
        connected_elsewhere: "Connected to {name}, which this server no longer uses.",
        not_connected: "Not connected. Connect your account there to sign in with it.",
        connect: "Connect",
        disconnect: "Disconnect",
        last_way: "This is your only way to sign in. Set a password before you disconnect it.",
        failed_title: "That didn't work",
        unavailable: "{name} is not responding correctly. Try again in a minute, or sign in with your password.",
        state: "This sign-in was started in another browser, took longer than 10 minutes, or is already complete.",
        declined: "You cancelled at {name}.",
        refused: "{name} refused the request. The reason is in the server's log.",
        bad_token: "The response from {name} is not valid. The reason is in the server's log.",
        unknown: "Your {name} account is not connected to anyone here. Ask an owner for an invitation. If you have a password here, sign in with it and connect {name} on your account page.",
        other_address: "{name} has not verified that you own the invited email address. Use the {name} account with that address, or join with a password.",
        known_address: "There is already an account with this email. Sign in, then open the link again to join.",
        taken: "This {name} account is connected to another person here, or you have connected another one already.",
        other_person: "You signed in with another account at {name} than the one that is connected.",
        not_fresh: "{name} did not confirm that you signed in just now. Use your password or a code instead.",
        try_again: "Try again",
    }
}
