//! `extra` of the WIT envelope: pairs reach a component and come back, and a component's answer is limited.

use runtime::{Blame, Code};

use crate::world::{World, call, tight};

fn pair(name: &str, value: &str) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

#[tokio::test]
async fn extra_reaches_a_component_and_comes_back() {
    let world = World::start(tight(), &[]).await;
    world.install("extra_echo", "").await;
    for extra in [vec![], vec![pair("attempt", "2"), pair("unknown", "ä"), pair("attempt", "")]] {
        let mut call = call("extra-echo");
        call.extra.clone_from(&extra);
        assert_eq!(world.runtime.call(call).await.unwrap().extra, extra);
    }
}

#[tokio::test]
async fn too_much_extra_is_an_error_of_the_connector() {
    let world = World::start(tight(), &[]).await;
    world.install("extra_echo", "").await;
    for (extra, why) in
        [(vec![pair("n", "v"); 33], "33 pairs"), (vec![pair("n", &"v".repeat(4_096))], "4097 bytes")]
    {
        let mut call = call("extra-echo");
        call.extra = extra;
        let error = world.runtime.call(call).await.unwrap_err();
        assert_eq!((error.code, error.blame), (Code::BadOutput, Blame::Connector));
        assert!(error.author.detail.contains(why), "{:?}", error.author);
    }
}
