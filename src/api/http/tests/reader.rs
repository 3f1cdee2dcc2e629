//! What is served where, under which rules.

use super::{Answer, CheckState, HttpSettings, TestEdge};

fn edge(settings: HttpSettings) -> TestEdge {
    TestEdge::with(settings, CheckState::Ready)
}

fn on() -> HttpSettings {
    HttpSettings {
        reader: true,
        embed_origins: vec!["https://blog.example".to_owned()],
        ..HttpSettings::default()
    }
}

#[tokio::test]
async fn turned_off_there_is_no_page() {
    let edge = edge(HttpSettings::default());
    for path in ["/", "/d/x", "/embed", "/embed.js"] {
        assert_eq!(edge.get(path, &[]).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn pages_are_asked_for_each_time_and_their_files_never_again() {
    let edge = edge(on());
    let page = edge.get("/", &[]).await;
    assert_eq!(page.status, 200);
    assert_eq!(page.header("cache-control"), Some("no-cache"));
    let tag = page.header("etag").unwrap().to_owned();
    for known in [tag.clone(), format!("\"a\", {tag}"), tag.replace("W/", "")] {
        let again = edge.get("/", &[("if-none-match", &known)]).await;
        assert_eq!(again.status, 304, "{known}");
        assert!(again.body.is_empty());
        assert!(again.header("content-security-policy").is_some());
    }
    let text = String::from_utf8(page.body).unwrap();
    let script = text.split("src=\"").nth(1).unwrap();
    let script = script.split('"').next().unwrap();
    let file = edge.get(script, &[]).await;
    assert_eq!(file.status, 200, "{script}");
    assert_eq!(
        file.header("content-type"),
        Some("text/javascript; charset=utf-8")
    );
    assert!(file.header("cache-control").unwrap().contains("immutable"));
    let other = format!(
        "/reader/0123456789abcdef/{}",
        script.rsplit('/').next().unwrap()
    );
    assert_eq!(edge.get(&other, &[]).await.status, 404);
}

#[tokio::test]
async fn only_named_origins_may_frame_the_embed_and_none_the_page() {
    let edge = edge(on());
    let policy = |answer: &Answer| {
        let policy = answer.header("content-security-policy").unwrap().to_owned();
        policy.rsplit_once("frame-ancestors ").unwrap().1.to_owned()
    };
    assert_eq!(policy(&edge.get("/", &[]).await), "'self'");
    assert_eq!(
        policy(&edge.get("/embed?url=x", &[]).await),
        "'self' https://blog.example"
    );
    for path in ["/", "/embed"] {
        let answer = edge.get(path, &[]).await;
        let policy = answer.header("content-security-policy").unwrap();
        assert!(!policy.contains("unsafe"), "{policy}");
        assert!(policy.starts_with("default-src 'none'"), "{policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    }
}

#[tokio::test]
async fn the_page_knows_whether_people_may_name_themselves() {
    let mut settings = on();
    for development in [false, true] {
        settings.auth.development = development;
        let page = edge(settings.clone()).get("/", &[]).await;
        let text = String::from_utf8(page.body).unwrap();
        let said = text.contains("name=\"threadline-development\" content=\"yes\"");
        assert_eq!(said, development);
        assert!(!text.contains('{'), "a place was left unfilled");
    }
}
