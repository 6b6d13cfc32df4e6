//! The project's commands, `cargo xtask …`: `demo` shows the product, `test` checks everything, `fuzz` tries hostile input, `connectors`
//! builds the components, `clients` generates, `rooms` counts, `bench` measures. Each does its own set-up and reports its steps.

mod bench;
mod browser;
mod changed;
mod check;
mod clients;
mod connectors;
mod counts;
mod deadline;
mod demo;
mod engines;
mod fuzz;
mod http;
mod mirror;
mod peers;
mod progress;
mod project;
mod relay;
mod rooms;
mod server;
mod storm;
mod suite;
mod virtual_environment;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The commands of this project", arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Build everything, start a server with the sandbox provider, walk through the main job, leave the server up.
    Demo(Box<demo::DemoArguments>),
    /// Set up and start the test peers, then formatting, lints and all tests.
    Test(check::CheckArguments),
    /// Feed hostile mail and hostile servers to what reads them, for a minute each.
    Fuzz(fuzz::FuzzArguments),
    /// Compare the API's view of your own calendars, cards and mail with that of other readers.
    Mirror(mirror::MirrorArguments),
    /// Generate the types and methods of the clients in `sdk/clients` from the server's description of its API.
    Clients(clients::ClientsArguments),
    /// Build the connectors as WebAssembly components into `target/connectors/bundle`.
    Connectors(connectors::ConnectorsArguments),
    /// Count the structure and names of the code, now and at a revision.
    Rooms(rooms::RoomsArguments),
    /// Measure the release build against named baselines, in one run; writes `xtask/BENCH.md`.
    Bench(bench::BenchArguments),
    /// Ten well-behaved tenants, and one attacker after the other: how much slower the ten become; writes `xtask/STORM.md`.
    Storm(storm::StormArguments),
    /// A bare axum handler: the baseline of `bench`.
    #[command(hide = true)]
    Bare(bench::bare::BareArguments),
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Test(arguments) => check::run(&arguments),
        Command::Fuzz(arguments) => fuzz::run(&arguments),
        Command::Mirror(arguments) => mirror::run(&arguments),
        Command::Clients(arguments) => clients::run(&arguments),
        Command::Connectors(arguments) => connectors::run(&arguments),
        Command::Rooms(arguments) => rooms::run(&arguments),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Storm(arguments) => storm::run(&arguments),
        Command::Bare(arguments) => bench::bare::run(&arguments),
    };
    if let Err(error) = done {
        eprintln!("error: {error:#}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
