//! The wiring, on stores in a folder of its own and on a free port.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use super::*;
use crate::domain::ids::WORKER_SHIFT;
use crate::import::synthetic::{KNOWN_ENTITY, KNOWN_URL};
use crate::service::reading::DiscussionRef;

/// 2027-01-15, later than anything that the community wrote.
const NOW_MS: i64 = 1_800_000_000_000;

struct Place {
    root: TempDir,
}

impl Place {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let flags = root.path().join("flags");
        fs::create_dir(&flags).unwrap();
        for name in ["comments-threaded.toml", "comments-index-write.toml"] {
            let shipped = concat!(env!("CARGO_MANIFEST_DIR"), "/flags/");
            fs::copy(format!("{shipped}{name}"), flags.join(name)).unwrap();
        }
        Self { root }
    }

    fn config(&self) -> Config {
        let mut config = Config::defaults().unwrap();
        let url = |scheme: &str, name: &str| {
            let text = format!("{scheme}:{}", self.root.path().join(name).display());
            text.parse().unwrap()
        };
        config.server.listen = "127.0.0.1:0".parse().unwrap();
        config.stores.comments = url("sqlite", "data/comments.db");
        config.stores.users = url("sqlite", "data/states.db");
        config.stores.flags = url("folder", "flags");
        config
    }

    fn builder(&self) -> AppBuilder {
        AppBuilder::new(self.config()).clock(Clock::manual(NOW_MS))
    }
}

fn client() -> reqwest::Client {
    crate::tls::install();
    reqwest::Client::builder().no_proxy().build().unwrap()
}

async fn get(app: &App, path: &str) -> (u16, String) {
    let url = format!("http://{}{path}", app.address().unwrap());
    let response = client().get(url).send().await.unwrap();
    (response.status().as_u16(), response.text().await.unwrap())
}

async fn ready(app: &App) -> (u16, Value) {
    let (status, text) = get(app, "/readyz").await;
    (status, serde_json::from_str(&text).unwrap())
}

#[tokio::test]
async fn a_started_gateway_is_alive_ready_and_shows_metrics() {
    let place = Place::new();
    let app = App::start(place.config()).await.unwrap();
    assert_eq!(get(&app, "/healthz").await, (200, "ok".to_owned()));
    assert_eq!(get(&app, "/metrics").await.0, 200);
    let (status, report) = ready(&app).await;
    assert_eq!((status, report["status"].as_str()), (200, Some("ready")));
    let names = report["checks"].as_array().unwrap().iter();
    let names: Vec<&str> = names.map(|c| c["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["comments", "users", "worker", "flags"]);
    assert!(app.shutdown().await);
}

#[tokio::test]
async fn a_broken_flag_degrades_readiness_and_is_named() {
    let place = Place::new();
    fs::write(place.root.path().join("flags/odd.toml"), "key = [").unwrap();
    let app = App::start(place.config()).await.unwrap();
    let (status, report) = ready(&app).await;
    assert_eq!((status, report["status"].as_str()), (200, Some("degraded")));
    assert!(report.to_string().contains("odd.toml"), "{report}");
    assert!(app.shutdown().await);
}

#[tokio::test]
async fn an_instance_without_a_lease_takes_itself_out() {
    let place = Place::new();
    let app = place.builder().start().await.unwrap();
    app.service().ports().ids.set_lease(None);
    let (status, report) = ready(&app).await;
    assert_eq!((status, report["status"].as_str()), (503, Some("failed")));
    app.take_lease().await.unwrap();
    assert_eq!(ready(&app).await.0, 200);
    assert!(app.shutdown().await);
}

#[tokio::test]
async fn a_taken_port_is_told_before_any_store_is_touched() {
    let place = Place::new();
    let first = App::start(place.config()).await.unwrap();
    let other = Place::new();
    let mut config = other.config();
    config.server.listen = first.address().unwrap();
    let error = App::start(config).await.unwrap_err().to_string();
    for word in ["server.listen", "taken", "THREADLINE_SERVER__LISTEN="] {
        assert!(error.contains(word), "{error}");
    }
    assert!(!other.root.path().join("data").exists());
    assert!(first.shutdown().await);
}

#[tokio::test]
async fn stores_that_cannot_be_opened_are_named_and_everything_is_closed_again() {
    let place = Place::new();
    fs::remove_dir_all(place.root.path().join("flags")).unwrap();
    let error = place.builder().build().await.unwrap_err().to_string();
    assert!(error.contains("stores.flags"), "{error}");
    // A second attempt on the same files finds nothing in its way.
    fs::create_dir(place.root.path().join("flags")).unwrap();
    let app = place.builder().build().await.unwrap();
    assert!(app.shutdown().await);
}

/// The worker in the ids that an instance mints.
fn worker(app: &App) -> i64 {
    app.service().ports().ids.mint().unwrap() >> WORKER_SHIFT & 0x3FF
}

#[tokio::test]
async fn a_stopped_gateway_has_given_its_worker_back() {
    let place = Place::new();
    let app = place.builder().build().await.unwrap();
    assert_eq!(worker(&app), 0);
    assert!(app.shutdown().await);
    // A moment later: the last holder may have minted in this very millisecond.
    let later = Clock::manual(NOW_MS + 5_000);
    let app = AppBuilder::new(place.config())
        .clock(later)
        .build()
        .await
        .unwrap();
    assert_eq!(worker(&app), 0, "the first worker is free again");
    assert!(app.shutdown().await);
}

#[tokio::test]
async fn the_community_is_there_once_indexed_and_found_by_both_of_its_keys() {
    let place = Place::new();
    let app = place.builder().seeded(true).build().await.unwrap();
    let seeded = app.seeded().unwrap();
    assert_eq!(seeded.discussions, 12);
    assert!(seeded.comments_new > 500, "{seeded:?}");
    let service = app.service();
    let by_url = DiscussionRef::Url(KNOWN_URL.to_owned());
    let by_url = service.discussion(&by_url).await.unwrap().unwrap();
    let by_entity = DiscussionRef::Entity {
        entity_type: KNOWN_ENTITY.0.to_owned(),
        id: KNOWN_ENTITY.1.to_owned(),
    };
    let by_entity = service.discussion(&by_entity).await.unwrap().unwrap();
    assert_eq!(by_url.id, by_entity.id);
    assert!(by_url.layout.complete);
    assert!(
        by_url.counts.all.shown > by_url.counts.all.visible,
        "a tombstone"
    );
    assert!(app.shutdown().await);

    let app = place.builder().seeded(true).build().await;
    let app = app.unwrap();
    assert_eq!(app.seeded().unwrap().comments_new, 0);
    let counts = &app.service().discussions(&[by_url.id]).await.unwrap()[0];
    assert_eq!(counts.counts, by_url.counts);
    assert!(app.shutdown().await);
}
