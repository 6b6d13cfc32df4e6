//! Refusals at install, and the change of versions under load.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use runtime::{Code, Limits, Runtime, Source, Store, Surface, Verb, install_offline};

use crate::world::{World, call, component, guest, guest_text, manifest, tight};

#[tokio::test]
async fn a_bad_connector_is_refused_with_the_cause() {
    let limits = Limits { component_bytes: 200_000, ..tight() };
    let world = World::start(limits, &[]).await;
    world.install("noop", "").await;
    let good = guest("noop");
    let text = guest_text("noop");
    let plain = |exports: &str| {
        format!(
            r#"(component
                (core module $m (func (export "f")))
                (core instance $i (instantiate $m))
                (func $f (canon lift (core func $i "f")))
                (instance $s {exports})
                (export "switchboard:connector/calendar@1.0.0" (instance $s)))"#
        )
    };
    let wat = |text: &str| wat::parse_str(text).unwrap();
    let code = std::fs::read_dir(world.path("cache")).unwrap().next().unwrap().unwrap().path();
    let code = std::fs::read(code).unwrap().split_off(32);
    let wrong_signature =
        r#"(export "fetch" (func $f)) (export "mutate" (func $f)) (export "changes" (func $f))"#;
    let calendar = manifest("x", "1.0.0", "");
    let cases: Vec<(&str, String, Vec<u8>, &str)> = vec![
        (
            "surface not exported",
            calendar.replace("[\"calendar@1.0.0\"]", "[\"calendar\", \"tasks\"]"),
            good.clone(),
            "the manifest names tasks, which the component does not export",
        ),
        ("surface not named", calendar.replace("calendar@1.0.0", "tasks@1.0.0"), good.clone(), "names tasks"),
        (
            "unknown import",
            calendar.clone(),
            wat(r#"(component (import "wasi:sockets/tcp@0.2.0" (instance (export "f" (func)))))"#),
            "wasi:sockets/tcp@0.2.0",
        ),
        (
            "sockets at compat",
            calendar.replace("strict", "compat"),
            wat(r#"(component (import "wasi:sockets/tcp@0.2.0" (instance (export "f" (func)))))"#),
            "wasi:sockets/tcp@0.2.0",
        ),
        (
            "wasi at strict",
            calendar.clone(),
            wat(
                r#"(component (import "wasi:cli/exit@0.2.0" (instance (export "exit" (func (param "status" (result)))))))"#,
            ),
            "level = \"compat\" would offer them",
        ),
        (
            "import of another type",
            calendar.clone(),
            wat(
                r#"(component (import "switchboard:connector/clock@1.0.0" (instance (export "now-ms" (func (result u32))))))"#,
            ),
            "another type",
        ),
        (
            "version 2",
            calendar.clone(),
            wat(
                r#"(component (import "switchboard:connector/clock@2.0.0" (instance (export "now-ms" (func (result s64))))))"#,
            ),
            "clock@2.0.0",
        ),
        (
            "missing function",
            calendar.clone(),
            wat(&plain(r#"(export "fetch" (func $f))"#)),
            "has no function \"mutate\"",
        ),
        ("wrong signature", calendar.clone(), wat(&plain(wrong_signature)), "another signature"),
        (
            "above its class",
            calendar.replace("level", "memory = \"small\"\nlevel"),
            component(&text.replace("(export \"memory\") 1)", "(export \"memory\") 600)")),
            "choose a larger class",
        ),
        ("endless start", calendar.clone(), guest("loop_start"), "does not start: cpu-limit"),
        ("compiled code", calendar.clone(), code, "is compiled code"),
        ("core module", calendar.clone(), wat("(module)"), "core module"),
        ("text", calendar.clone(), b"hello".to_vec(), "not a WebAssembly component"),
        ("broken", calendar.clone(), good[..good.len() - 10].to_vec(), ""),
        ("too large", calendar.clone(), vec![0; 300_000], "too large"),
        ("manifest", calendar.replace("title", "titel"), good.clone(), "titel"),
    ];
    for (what, manifest, wasm, said) in cases {
        let dir = world.write("bad", &manifest, "x", &wasm);
        let error = format!("{:#}", world.runtime.install(&dir).await.unwrap_err());
        println!("{what:<24} {error}");
        assert!(error.contains(said), "{what}: {error}");
        assert!(world.runtime.find("x").is_none(), "{what}");
    }
    assert!(Store::open(&world.config.store_dir).unwrap().index().unwrap().connectors.keys().eq(["noop"]));
}

#[tokio::test]
async fn what_is_not_there_is_said_so() {
    let world = World::start(tight(), &[]).await;
    assert_eq!(world.runtime.call(call("nothing")).await.unwrap_err().code, Code::NotInstalled);
    world.install("noop", "").await;
    let mut other = call("noop");
    other.surface = Surface::Email;
    assert_eq!(world.runtime.call(other).await.unwrap_err().code, Code::UnsupportedSurface);
    let mut check = call("noop");
    check.verb = Verb::Check;
    assert_eq!(world.runtime.call(check).await.unwrap_err().code, Code::UnsupportedSurface);
}

/// A component that answers its own version, after about `spins` iterations of a loop.
fn version(n: u32) -> Vec<u8> {
    let text = guest_text("noop").replace("\"{}\"", &format!("\"{n:02}\""));
    let spin = "(local $n i32) (loop $l (local.set $n (i32.add (local.get $n) (i32.const 1))) \
        (br_if $l (i32.lt_u (local.get $n) (i32.const 2000000))))";
    component(&text.replace("(func $fetch (type $call)", &format!("(func $fetch (type $call) {spin}")))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_swaps_fail_no_call() {
    let world = World::start(Limits { max_per_tenant: 8, cpu_ms: 2_000, ..tight() }, &[]).await;
    let folders: Vec<_> = (10..12)
        .map(|n| {
            world.write(&format!("v{n}"), &manifest("swap", &format!("{n}.0.0"), ""), "swap", &version(n))
        })
        .collect();
    world.runtime.install(&folders[0]).await.unwrap();
    let (stop, calls) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let callers: Vec<_> = (0..4)
        .map(|_| {
            let (runtime, stop, calls) = (world.runtime.clone(), stop.clone(), calls.clone());
            tokio::spawn(async move {
                while !stop.load(Ordering::Relaxed) {
                    let answer =
                        runtime.call(call("swap")).await.expect("no call fails while versions change");
                    assert!(["10", "11"].contains(&&*answer.body));
                    calls.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    let mut publish = Vec::new();
    for n in 0..50 {
        let started = Instant::now();
        world.runtime.install(&folders[(n + 1) % 2]).await.unwrap();
        publish.push(started.elapsed());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    stop.store(true, Ordering::Relaxed);
    for caller in callers {
        caller.await.expect("no call fails while versions change");
    }
    publish.sort();
    println!(
        "50 swaps, {} calls, none failed; install p50 {:?}, max {:?}",
        calls.load(Ordering::Relaxed),
        publish[25],
        publish[49]
    );
    world.settled().await;
}

#[tokio::test]
async fn rollback_and_removal_take_effect_at_once() {
    let world = World::start(Limits { cpu_ms: 2_000, ..tight() }, &[]).await;
    for n in [10, 11] {
        let dir =
            world.write(&format!("v{n}"), &manifest("swap", &format!("{n}.0.0"), ""), "swap", &version(n));
        world.runtime.install(&dir).await.unwrap();
    }
    assert_eq!(world.runtime.call(call("swap")).await.unwrap().body, "11");
    let started = Instant::now();
    assert_eq!(world.runtime.rollback("swap").await.unwrap().version, "10.0.0");
    println!("rollback: {:?}", started.elapsed());
    assert_eq!(world.runtime.call(call("swap")).await.unwrap().body, "10");
    assert_eq!(world.runtime.rollback("swap").await.unwrap().version, "11.0.0");
    world.runtime.remove("swap").await.unwrap();
    assert_eq!(world.runtime.call(call("swap")).await.unwrap_err().code, Code::NotInstalled);
    assert!(world.runtime.remove("swap").await.is_err());
}

#[tokio::test]
async fn a_tampered_artefact_is_compiled_again() {
    let world = World::start(tight(), &[]).await;
    world.install("noop", "").await;
    let files =
        || std::fs::read_dir(world.path("cache")).unwrap().map(|e| e.unwrap().path()).collect::<Vec<_>>();
    let [artefact] = &files()[..] else { panic!("one artefact") };
    let genuine = std::fs::read(artefact).unwrap();
    let start = async || Runtime::start(world.config.clone()).await.unwrap();
    let mut tampered = genuine.clone();
    let middle = tampered.len() / 2;
    tampered[middle] ^= 1;
    for (what, content) in [("one bit", tampered), ("cut", genuine[..100].to_vec()), ("empty", Vec::new())] {
        std::fs::write(artefact, content).unwrap();
        let again = start().await;
        assert_eq!(again.call(call("noop")).await.unwrap().body, "{}", "{what}");
        assert!(again.status().problems.is_empty());
        let mended = std::fs::read(artefact).unwrap();
        assert_eq!(mended.len(), genuine.len(), "{what}: compiled again");
    }
    let mut config = world.config.clone();
    config.artefact_key = [8; 32];
    let other_key = Runtime::start(config).await.unwrap();
    assert_eq!(other_key.call(call("noop")).await.unwrap().body, "{}");
    let now = std::fs::read(artefact).unwrap();
    assert_ne!(now[..32], genuine[..32], "another key, another tag");
}

#[tokio::test]
async fn a_running_host_follows_the_store_and_the_bundle() {
    let world = World::start(Limits { cpu_ms: 2_000, ..tight() }, &[]).await;
    let bundled = world.write("bundle/swap", &manifest("swap", "1.0.0", ""), "swap", &version(10));
    let second = Runtime::start(world.config.clone()).await.unwrap();
    assert_eq!(second.call(call("swap")).await.unwrap().body, "10");
    assert_eq!(second.find("swap").unwrap().source, Source::Bundle);

    // Another process installs; this one notices.
    let newer = world.write("v11", &manifest("swap", "2.0.0", ""), "swap", &version(11));
    install_offline(world.config.clone(), &newer).await.unwrap();
    let started = Instant::now();
    while second.call(call("swap")).await.unwrap().body != "11" {
        assert!(started.elapsed() < Duration::from_secs(20), "the change is noticed");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // Removed again: the bundled version is back in service.
    second.remove("swap").await.unwrap();
    assert_eq!(second.call(call("swap")).await.unwrap().body, "10");
    drop(bundled);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watched_folder_is_loaded_again_when_it_changes() {
    let world = World::start(Limits { cpu_ms: 2_000, ..tight() }, &[]).await;
    world.write("dev/swap", &manifest("swap", "1.0.0", ""), "swap", &version(10));
    let _watch = world.runtime.watch(&world.path("dev")).unwrap();
    let wait_for = async |body: &str| {
        let started = Instant::now();
        loop {
            if world.runtime.call(call("swap")).await.is_ok_and(|a| a.body == body) {
                break;
            }
            assert!(started.elapsed() < Duration::from_secs(20), "the change is noticed");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    wait_for("10").await;
    // A broken version leaves the working one in service.
    world.write("dev/swap", &manifest("swap", "1.0.1", ""), "swap", b"half a file");
    tokio::time::sleep(Duration::from_millis(600)).await;
    wait_for("10").await;
    world.write("dev/swap", &manifest("swap", "1.0.2", ""), "swap", &version(11));
    wait_for("11").await;
}
