//! Words of providers and an application's OAuth clients there.

use crate::admin::texts::macros::page_texts;

page_texts! {
    /// The list of providers, and the client at one of them.
    ProviderTexts, ENGLISH, {
        title: "Providers",
        caption: "Providers whose users sign in by OAuth. Each needs a client that you register there.",
        provider: "Provider",
        client_id: "Client ID",
        state: "State",
        ready: "Registered",
        disabled: "Disabled",
        none: "Not registered",
        built_in: "Built in",
        set_up: "Set up",
        no_providers: "No provider with OAuth",
        no_providers_text: "No installed connector uses OAuth.",
        callback: "Redirect URI",
        callback_text: "Create an OAuth client of the type “web application” at {provider}, and enter this address there:",
        copy: "Copy",
        client: "OAuth client",
        client_id_hint: "As {provider} shows it.",
        secret: "Client secret",
        secret_kept: "A secret is stored. Leave this empty to keep it.",
        secret_hint: "It is sealed and never shown again.",
        public: "This client has no secret",
        bad_client_id: "Enter the client ID: printable characters without line breaks.",
        bad_secret: "Enter the client secret, or check that the client has none.",
        bad_setting: "Check this value: {message}",
        save: "Save",
        disable: "Disable",
        disable_text: "Users can no longer connect accounts of {provider}. Connected accounts stay.",
        enable: "Enable",
        enable_text: "The client is disabled: users can't connect accounts of {provider}.",
        others: "Addresses and scopes in place of the connector's are set on the command line:",
    }
}
