//! Every connector that comes with the host, in the real sandbox: the promises that all of them make.

use runtime::{Blame, Code, Limits, Runtime, Surface};

use crate::world::{World, call};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_bundled_connector_loads_and_refuses_what_it_does_not_know() {
    let bundle = harness::bundle();
    assert!(bundle.is_dir(), "no connectors in {}: run `cargo xtask connectors`", bundle.display());
    let world = World::start(Limits::default(), &[]).await;
    let mut config = world.config.clone();
    config.bundle_dir = Some(bundle);
    let runtime = Runtime::start(config).await.unwrap();
    let status = runtime.status();
    assert!(status.problems.is_empty(), "{:?}", status.problems);
    assert!(!runtime.list().is_empty());
    for connector in runtime.list() {
        for surface in &connector.surfaces {
            // A check of a connector with fixed hosts would call its provider.
            let asks_provider = *surface == Surface::Lifecycle && !connector.manifest.hosts.is_empty();
            for verb in surface.verbs().iter().filter(|_| !asks_provider) {
                let mut call = call(&connector.manifest.name);
                (call.surface, call.verb, call.op) = (*surface, *verb, "no.such.operation".to_owned());
                call.body = r#"{"connection":{},"args":{}}"#.to_owned();
                let error = runtime.call(call).await.map(|a| a.body).unwrap_err();
                println!(
                    "{} {surface}.{verb}: {error} ({} µs CPU)",
                    connector.manifest.name, error.stats.cpu_us
                );
                // Never a trap, for any input.
                assert_ne!(error.blame, Blame::Connector, "{surface}.{verb}: {:?}", error.author);
                let expected = [Code::Unsupported, Code::Invalid];
                assert!(expected.contains(&error.code), "{surface}.{verb}: {error}");
            }
        }
    }
}
