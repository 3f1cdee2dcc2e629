//! A subscriber that does not read costs the others nothing, and is told why it is let go.

use serde_json::json;

use crate::client::{NOBODY, Said, Socket};
use crate::common::Place;
use crate::events::{known, post};
use crate::sharing::metric;

#[tokio::test]
async fn who_does_not_read_is_let_go_and_the_others_get_everything() {
    let place = Place::new();
    let settings = [("THREADLINE_LIVE__SEND_TIMEOUT", "60s")];
    let server = place.serve_with(&["--seed"], &settings).await;
    let discussion = known(&server).await;
    let mut slow = Socket::connect(&server, NOBODY).await;
    slow.follows(&server, &discussion).await;
    let mut quick = Socket::connect(&server, NOBODY).await;
    quick.follows(&server, &discussion).await;
    // Long texts, so that the wire fills: the slow one reads nothing of them.
    let text = "long ".repeat(1_900);
    let mut written = 0;
    while metric(&server, "threadline_live_too_slow_total ").await == 0 {
        post(&server, &discussion, None, &text).await;
        written += 1;
        assert!(written < 5_000, "nobody was let go");
        assert_eq!(quick.event().await["kind"], "CREATED");
    }
    // It reads at last: what had been sent, then why there is no more.
    let mut heard = 0;
    let end = loop {
        match slow.hear().await {
            Said::Message(message) if message["type"] == "next" => heard += 1,
            Said::Message(message) => break message,
            other => panic!("after {heard} events: {other:?}"),
        }
    };
    assert!(heard < written);
    assert_eq!(end["type"], "error");
    assert_eq!(
        end["payload"][0]["extensions"]["code"],
        json!("SUBSCRIBER_TOO_SLOW")
    );
    // The connection is as good as before.
    assert!(slow.is_quiet().await);
    slow.follows(&server, &discussion).await;
    post(&server, &discussion, None, "again").await;
    assert_eq!(slow.event().await["comment"]["body"]["text"], "again");
}
