//! Who a request is from: tokens, published keys, the development identity.

use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;
use axum::extract::ConnectInfo;
use axum::routing::get;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::Algorithm;
use serde_json::{Value as Json, json};

use super::tokens::{RSA_MODULUS, RSA_TOKEN, SECRET, Signer, claims, seconds, shared};
use super::{Answer, CheckState, HttpSettings, TestEdge, post};
use crate::api::http::auth::Authenticator;
use crate::api::http::settings::AuthSettings;
use crate::config::Secret;
use crate::domain::clock::Clock;
use crate::tasks::Tasks;

const WHOAMI: &str = "{\"query\":\"{whoami}\"}";

fn edge(auth: AuthSettings) -> TestEdge {
    TestEdge::with(
        HttpSettings {
            auth,
            ..HttpSettings::default()
        },
        CheckState::Ready,
    )
}

fn with_secret() -> AuthSettings {
    AuthSettings {
        hs256_secret: Some(Secret::new(SECRET)),
        ..AuthSettings::default()
    }
}

async fn ask(edge: &TestEdge, token: &str) -> Answer {
    edge.post_with(WHOAMI, &[("authorization", &format!("Bearer {token}"))])
        .await
}

async fn who(edge: &TestEdge, token: &str) -> Json {
    ask(edge, token).await.data()["whoami"].clone()
}

#[track_caller]
fn assert_refused(answer: &Answer, why: &str) {
    assert_eq!(
        answer.refusal(),
        (401, "UNAUTHENTICATED".to_owned()),
        "{why}"
    );
    assert!(
        answer
            .header("www-authenticate")
            .unwrap()
            .starts_with("Bearer")
    );
}

#[tokio::test]
async fn a_valid_token_names_the_viewer_and_their_role() {
    let edge = edge(with_secret());
    for (changes, want) in [
        (json!({}), "/42/member"),
        (
            json!({"roles": ["moderator"], "iss": "them"}),
            "them/42/moderator",
        ),
        (
            json!({"roles": ["x", "administrator", "moderator"]}),
            "/42/administrator",
        ),
        (
            json!({"sub": "auth0|é", "aud": "anybody"}),
            "/auth0|é/member",
        ),
        (
            json!({"exp": 1_767_225_660.5, "nbf": seconds(-5)}),
            "/42/member",
        ),
        (
            json!({"exp": seconds(-29), "nbf": seconds(30)}),
            "/42/member",
        ),
    ] {
        let token = shared(Algorithm::HS256, &claims(&changes));
        assert_eq!(who(&edge, &token).await, want, "{changes}");
    }
    assert_eq!(
        edge.post_with(WHOAMI, &[]).await.data(),
        json!({"whoami": "nobody"})
    );
}

#[tokio::test]
async fn a_token_that_is_not_valid_refuses_the_request() {
    let edge = edge(with_secret());
    for changes in [
        json!({"exp": seconds(-30)}),
        json!({"exp": null}),
        json!({"exp": "soon"}),
        json!({"exp": 1e300}),
        json!({"nbf": seconds(31)}),
        json!({"sub": null}),
        json!({"sub": ""}),
        json!({"sub": 42}),
        json!({"sub": "x".repeat(256)}),
        json!({"roles": "administrator"}),
    ] {
        let token = shared(Algorithm::HS256, &claims(&changes));
        assert_refused(&ask(&edge, &token).await, &changes.to_string());
    }
    let good = shared(Algorithm::HS256, &claims(&json!({})));
    let (signed, _) = good.rsplit_once('.').unwrap();
    for token in [
        "",
        "x",
        "a.b.c",
        &format!("{signed}."),
        &format!("{good}x"),
        &"a".repeat(9_000),
    ] {
        assert_refused(&ask(&edge, token).await, token);
    }
    for header in ["Basic abc", "Bearer", &good] {
        let answer = edge.post_with(WHOAMI, &[("authorization", header)]).await;
        assert_refused(&answer, header);
    }
    let bearer = format!("Bearer {good}");
    let twice = [
        ("authorization", bearer.as_str()),
        ("authorization", bearer.as_str()),
    ];
    assert_refused(&edge.post_with(WHOAMI, &twice).await, "two headers");
    assert_eq!(who(&edge, &good).await, "/42/member");
    edge.clock.advance(Duration::from_secs(90));
    assert_refused(&ask(&edge, &good).await, "the clock went on");
}

#[tokio::test]
async fn the_algorithm_is_the_keys_and_never_the_tokens() {
    let edge = edge(with_secret());
    for algorithm in [Algorithm::HS384, Algorithm::HS512] {
        assert_refused(
            &ask(&edge, &shared(algorithm, &claims(&json!({})))).await,
            "stronger",
        );
    }
    let part = |json: Json| URL_SAFE_NO_PAD.encode(json.to_string());
    for name in ["none", "None", "NONE", "nOnE"] {
        let header = part(json!({"alg": name, "typ": "JWT"}));
        let token = format!("{header}.{}.", part(claims(&json!({}))));
        assert_refused(&ask(&edge, &token).await, name);
    }
    assert_refused(&ask(&edge, RSA_TOKEN).await, "RS256");
    let signer = Signer::ed25519("a", 1);
    assert_refused(
        &ask(&edge, &signer.sign(&claims(&json!({})))).await,
        "EdDSA",
    );
}

#[tokio::test]
async fn issuer_and_audience_must_be_the_configured_ones() {
    let audiences = vec!["threadline".to_owned(), "other".to_owned()];
    let issuer = Some("https://id.example".to_owned());
    let edge = edge(AuthSettings {
        issuer,
        audiences,
        ..with_secret()
    });
    let ours = "https://id.example";
    for (changes, valid) in [
        (json!({"iss": ours, "aud": "threadline"}), true),
        (json!({"iss": ours, "aud": ["x", "other"]}), true),
        (json!({"iss": ours, "aud": ["x"]}), false),
        (json!({"iss": ours, "aud": []}), false),
        (json!({"iss": ours}), false),
        (
            json!({"iss": "https://id.example/", "aud": "threadline"}),
            false,
        ),
        (json!({"iss": [ours], "aud": "threadline"}), false),
        (json!({"aud": "threadline"}), false),
    ] {
        let token = shared(Algorithm::HS256, &claims(&changes));
        let answer = ask(&edge, &token).await;
        assert_eq!(answer.status == 200, valid, "{changes}");
    }
}

#[tokio::test]
async fn without_keys_no_token_counts() {
    let edge = TestEdge::new();
    assert_refused(
        &ask(&edge, &shared(Algorithm::HS256, &claims(&json!({})))).await,
        "no keys",
    );
}

/// An issuer on this machine whose keys can be changed.
struct Issuer {
    url: String,
    keys: Arc<ArcSwap<Json>>,
    fetches: Arc<AtomicUsize>,
}

impl Issuer {
    async fn start(tasks: &Tasks, keys: Json) -> Self {
        let keys = Arc::new(ArcSwap::from_pointee(keys));
        let fetches = Arc::new(AtomicUsize::new(0));
        let (served, counted) = (Arc::clone(&keys), Arc::clone(&fetches));
        let answer = move || {
            counted.fetch_add(1, Ordering::SeqCst);
            let keys = served.load().to_string();
            async move { keys }
        };
        let router = axum::Router::new().route("/keys", get(answer));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/keys", listener.local_addr().unwrap());
        drop(tasks.spawn(async move { axum::serve(listener, router).await }));
        Self { url, keys, fetches }
    }

    fn settings(&self) -> AuthSettings {
        AuthSettings {
            jwks_url: Some(self.url.clone()),
            ..AuthSettings::default()
        }
    }

    fn fetches(&self) -> usize {
        self.fetches.load(Ordering::SeqCst)
    }
}

#[tokio::test]
async fn published_keys_of_each_kind_are_used() {
    let (ed, ec) = (Signer::ed25519("ed", 1), Signer::p256("ec", 2));
    let rsa = json!({"kty": "RSA", "kid": "rsa", "use": "sig", "n": RSA_MODULUS, "e": "AQAB"});
    let others = [
        json!({"kty": "oct", "kid": "oct", "k": URL_SAFE_NO_PAD.encode(SECRET)}),
        json!({"kty": "new", "kid": "new"}),
        json!({"kty": "OKP", "kid": "short", "crv": "Ed25519", "x": "AAAA"}),
        json!(7),
    ];
    let mut keys = vec![ed.public(), ec.public(), rsa];
    keys.extend(others);
    let tasks = Tasks::new();
    let issuer = Issuer::start(&tasks, json!({ "keys": keys })).await;
    let edge = edge(issuer.settings());
    for signer in [&ed, &ec] {
        let token = signer.sign(&claims(&json!({"roles": ["moderator"]})));
        assert_eq!(who(&edge, &token).await, "/42/moderator");
    }
    assert_eq!(who(&edge, RSA_TOKEN).await, "/77/member");
    assert_eq!(issuer.fetches(), 1);
    // A shared-secret token, even by a published octet key, and a key's own public half as secret.
    assert_refused(
        &ask(&edge, &shared(Algorithm::HS256, &claims(&json!({})))).await,
        "no id",
    );
    let impostor = Signer::ed25519("ec", 9);
    assert_refused(
        &ask(&edge, &impostor.sign(&claims(&json!({})))).await,
        "another kind",
    );
    let impostor = Signer::ed25519("ed", 9);
    assert_refused(
        &ask(&edge, &impostor.sign(&claims(&json!({})))).await,
        "another key",
    );
}

#[tokio::test]
async fn a_new_key_is_fetched_and_made_up_ids_are_not_fetched_for_again_and_again() {
    let (old, new) = (Signer::ed25519("old", 1), Signer::ed25519("new", 2));
    let tasks = Tasks::new();
    let issuer = Issuer::start(&tasks, json!({"keys": [old.public()]})).await;
    let edge = edge(issuer.settings());
    let far = claims(&json!({"exp": seconds(1_000_000)}));
    assert_eq!(who(&edge, &old.sign(&far)).await, "/42/member");
    issuer.keys.store(Arc::new(json!({"keys": [new.public()]})));
    assert_refused(&ask(&edge, &new.sign(&far)).await, "fetched a moment ago");
    assert_eq!(issuer.fetches(), 1);
    edge.clock.advance(Duration::from_secs(30));
    assert_eq!(who(&edge, &new.sign(&far)).await, "/42/member");
    assert_refused(&ask(&edge, &old.sign(&far)).await, "withdrawn");
    for seed in 0..20 {
        let made_up = Signer::ed25519(&format!("id{seed}"), seed);
        assert_refused(&ask(&edge, &made_up.sign(&far)).await, "made up");
    }
    assert_eq!(issuer.fetches(), 2);
    // A broken set does not take the keys away.
    issuer.keys.store(Arc::new(json!({"keys": []})));
    edge.clock.advance(Duration::from_secs(30));
    assert_refused(&ask(&edge, &old.sign(&far)).await, "withdrawn");
    assert_eq!(who(&edge, &new.sign(&far)).await, "/42/member");
    assert_eq!(issuer.fetches(), 3);
}

#[tokio::test]
async fn keys_that_grew_old_are_fetched_behind_the_request() {
    let signer = Signer::p256("a", 1);
    let tasks = Tasks::new();
    let issuer = Issuer::start(&tasks, json!({"keys": [signer.public()]})).await;
    let edge = edge(issuer.settings());
    let token = signer.sign(&claims(&json!({"exp": seconds(1_000_000)})));
    assert_eq!(who(&edge, &token).await, "/42/member");
    edge.clock.advance(Duration::from_secs(3_601));
    assert_eq!(who(&edge, &token).await, "/42/member");
    assert!(edge.tasks.shutdown(Duration::from_secs(30)).await);
    assert_eq!(issuer.fetches(), 2);
}

#[tokio::test]
async fn an_issuer_that_cannot_be_reached_is_our_fault_and_tried_again() {
    let tasks = Tasks::new();
    let signer = Signer::p256("a", 1);
    let issuer = Issuer::start(&tasks, json!("not a key set")).await;
    let edge = edge(issuer.settings());
    let token = signer.sign(&claims(&json!({})));
    let answer = ask(&edge, &token).await;
    assert_eq!(answer.refusal(), (503, "INTERNAL_SERVER_ERROR".to_owned()));
    assert_eq!(answer.header("retry-after"), Some("30"));
    issuer
        .keys
        .store(Arc::new(json!({"keys": [signer.public()]})));
    edge.clock.advance(Duration::from_secs(1));
    assert_eq!(who(&edge, &token).await, "/42/member");
}

#[tokio::test]
async fn keys_come_from_a_file_as_well() {
    let signer = Signer::ed25519("a", 3);
    let mut file = tempfile::NamedTempFile::new().unwrap();
    write!(file, "{}", json!({"keys": [signer.public()]})).unwrap();
    let jwks_file = Some(file.path().to_path_buf());
    let edge = edge(AuthSettings {
        jwks_file,
        ..AuthSettings::default()
    });
    assert_eq!(
        who(&edge, &signer.sign(&claims(&json!({})))).await,
        "/42/member"
    );
}

#[tokio::test]
async fn unusable_settings_are_start_errors() {
    let start = |auth: &AuthSettings, listen: &str| {
        let listen: SocketAddr = listen.parse().unwrap();
        let made = Authenticator::new(auth, listen, &Clock::manual(0), &Tasks::new());
        made.map(drop).map_err(|error| error.to_string())
    };
    let url = Some("https://id.example/keys".to_owned());
    let two = AuthSettings {
        jwks_url: url,
        ..with_secret()
    };
    assert!(
        start(&two, "127.0.0.1:1")
            .unwrap_err()
            .contains("at most one")
    );
    let short = AuthSettings {
        hs256_secret: Some(Secret::new("short")),
        ..with_secret()
    };
    assert!(
        start(&short, "127.0.0.1:1")
            .unwrap_err()
            .contains("32 bytes")
    );
    let url = Some("file:///keys".to_owned());
    let scheme = AuthSettings {
        jwks_url: url,
        ..AuthSettings::default()
    };
    assert!(
        start(&scheme, "127.0.0.1:1")
            .unwrap_err()
            .contains("jwks_url")
    );
    let file = Some("/nowhere/keys.json".into());
    let missing = AuthSettings {
        jwks_file: file,
        ..AuthSettings::default()
    };
    assert!(
        start(&missing, "127.0.0.1:1")
            .unwrap_err()
            .contains("/nowhere/keys.json")
    );
    let development = AuthSettings {
        development: true,
        ..AuthSettings::default()
    };
    for listen in ["0.0.0.0:80", "[::]:80", "10.0.0.1:80"] {
        assert!(
            start(&development, listen)
                .unwrap_err()
                .contains("loopback"),
            "{listen}"
        );
    }
    for listen in ["127.0.0.1:80", "[::1]:80"] {
        assert!(start(&development, listen).is_ok(), "{listen}");
    }
}

#[tokio::test]
async fn the_development_identity_works_from_this_machine_where_it_is_on() {
    let sent = [("x-dev-user", "42"), ("x-dev-roles", "moderator")];
    let on = edge(AuthSettings {
        development: true,
        ..AuthSettings::default()
    });
    let answer = on.post_with(WHOAMI, &sent).await;
    assert_eq!(answer.data(), json!({"whoami": "development/42/moderator"}));
    let mut far = post(WHOAMI, &sent);
    let peer: SocketAddr = "10.0.0.9:50000".parse().unwrap();
    far.extensions_mut().insert(ConnectInfo(peer));
    assert_refused(&on.send(far).await, "another machine");
    let mut unknown = post(WHOAMI, &sent);
    unknown.extensions_mut().remove::<ConnectInfo<SocketAddr>>();
    assert_refused(&on.send(unknown).await, "no peer known");
    let off = TestEdge::new().post_with(WHOAMI, &sent).await;
    assert_eq!(off.data(), json!({"whoami": "nobody"}));
}

#[tokio::test]
async fn what_the_client_says_of_itself_reaches_the_executor() {
    let edge = TestEdge::new();
    let sent = [("x-client-name", "web"), ("x-read-after", "1:2")];
    let answer = edge.post_with("{\"query\":\"{client}\"}", &sent).await;
    assert_eq!(
        answer.data(),
        json!({"client": "Some(\"web\") Some(\"1:2\")"})
    );
}
