"""Types and operations printed from the API's document by `cargo xtask clients`: do not edit."""
