//! Statuses and bodies of requests that run and of those that do not.

use axum::body::Body;
use axum::http::{Method, Request};
use serde_json::json;

use super::{TestEdge, uri};

#[tokio::test]
async fn every_kind_of_bad_request_has_its_status_and_code() {
    let edge = TestEdge::new();
    for (body, status, code) in [
        ("", 400, "BAD_REQUEST"),
        ("{", 400, "BAD_REQUEST"),
        ("[]", 400, "BAD_REQUEST"),
        ("[{\"query\":\"{hello}\"}]", 400, "BAD_REQUEST"),
        ("{}", 400, "BAD_REQUEST"),
        ("{\"query\":7}", 400, "BAD_REQUEST"),
        (
            "{\"query\":\"{hello}\",\"variables\":[7]}",
            400,
            "BAD_REQUEST",
        ),
        ("{\"query\":\"{\"}", 400, "GRAPHQL_PARSE_FAILED"),
        ("{\"query\":\"\"}", 400, "GRAPHQL_PARSE_FAILED"),
        (
            "{\"query\":\"fragment f on Query{hello}\"}",
            400,
            "GRAPHQL_PARSE_FAILED",
        ),
        ("{\"query\":\"{nope}\"}", 400, "GRAPHQL_VALIDATION_FAILED"),
        (
            "{\"query\":\"{counter}\"}",
            400,
            "GRAPHQL_VALIDATION_FAILED",
        ),
        (
            "{\"query\":\"{echo(value:\\\"x\\\")}\"}",
            400,
            "GRAPHQL_VALIDATION_FAILED",
        ),
        (
            "{\"query\":\"{a:hello a:read}\"}",
            400,
            "GRAPHQL_VALIDATION_FAILED",
        ),
        (
            "{\"query\":\"{...f} fragment f on Query{...f}\"}",
            400,
            "GRAPHQL_VALIDATION_FAILED",
        ),
        (
            "{\"query\":\"query A{hello} query A{hello}\"}",
            400,
            "GRAPHQL_VALIDATION_FAILED",
        ),
        (
            "{\"query\":\"query A{hello} query B{hello}\"}",
            400,
            "OPERATION_RESOLUTION_FAILURE",
        ),
        (
            "{\"query\":\"{hello}\",\"operationName\":\"A\"}",
            400,
            "OPERATION_RESOLUTION_FAILURE",
        ),
        (
            "{\"query\":\"query($v:Int!){echo(value:$v)}\"}",
            400,
            "BAD_USER_INPUT",
        ),
        ("{\"query\":\"subscription{hello}\"}", 400, "BAD_REQUEST"),
    ] {
        let answer = edge.post_with(body, &[]).await;
        assert_eq!(answer.refusal(), (status, code.to_owned()), "{body}");
    }
}

#[tokio::test]
async fn other_methods_are_refused_with_the_ones_that_work() {
    let edge = TestEdge::new();
    for method in [Method::PUT, Method::DELETE, Method::PATCH, Method::OPTIONS] {
        let request = Request::builder()
            .method(method)
            .uri("/graphql")
            .body(Body::empty());
        let answer = edge.send(request.unwrap()).await;
        assert_eq!(answer.refusal().0, 405);
        assert_eq!(answer.header("allow"), Some("GET, HEAD, POST"));
    }
}

#[tokio::test]
async fn optional_parameters_may_be_null_and_unknown_ones_are_ignored() {
    let edge = TestEdge::new();
    let body = json!({
        "query": "{hello}", "variables": null, "operationName": null, "extensions": null,
        "other": [1], "id": "x",
    });
    assert_eq!(edge.post(body).await.data(), json!({"hello": "hi"}));
    let extensions = json!({"clientLibrary": {"name": "x", "version": "1"}});
    let body = json!({"query": "{hello}", "extensions": extensions});
    assert_eq!(edge.post(body).await.data(), json!({"hello": "hi"}));
}

#[tokio::test]
async fn a_get_runs_queries_and_nothing_else() {
    let edge = TestEdge::new();
    let path = uri(&[
        (
            "query",
            "query A($v:Int!){echo(value:$v)} mutation B{inc{value}}",
        ),
        ("variables", "{\"v\":3}"),
        ("operationName", "A"),
        ("extensions", "{\"x\":1}"),
    ]);
    assert_eq!(edge.get(&path, &[]).await.data(), json!({"echo": 3}));
    for path in [
        uri(&[("query", "mutation{inc{value}}")]),
        uri(&[
            ("query", "query A{hello} mutation B{inc{value}}"),
            ("operationName", "B"),
        ]),
    ] {
        let answer = edge.get(&path, &[]).await;
        assert_eq!(answer.refusal().0, 405);
        assert_eq!(answer.header("allow"), Some("POST"));
    }
    let head = Request::builder().method(Method::HEAD);
    let head = head
        .uri(uri(&[("query", "mutation{inc{value}}")]))
        .body(Body::empty())
        .unwrap();
    assert_eq!(edge.send(head).await.status, 405);
    assert_eq!(edge.count(), 0);
    assert_eq!(edge.get("/graphql", &[]).await.refusal().0, 400);
}

#[tokio::test]
async fn a_missing_variable_stops_a_request_before_anything_runs() {
    let edge = TestEdge::new();
    for query in [
        "query($v:Int!){read echo(value:$v)}",
        "mutation($s:Boolean!){inc{value} x:inc{value @include(if:$s)}}",
    ] {
        assert_eq!(
            edge.query(query).await.refusal(),
            (400, "BAD_USER_INPUT".to_owned())
        );
    }
    let query = "query($v:Int!){read echo(value:$v)}";
    for value in [
        json!(null),
        json!("1"),
        json!(3_000_000_000_i64),
        json!(1.5),
    ] {
        let answer = edge
            .post(json!({"query": query, "variables": {"v": value}}))
            .await;
        assert_eq!(
            answer.refusal(),
            (400, "BAD_USER_INPUT".to_owned()),
            "{value}"
        );
    }
    assert_eq!(
        (
            edge.count(),
            edge.probe.reads.load(std::sync::atomic::Ordering::SeqCst)
        ),
        (0, 0)
    );
}

#[tokio::test]
async fn coerced_variables_reach_the_resolver() {
    let edge = TestEdge::new();
    let query =
        "query($v:[[Int!]!]! $p:Point $c:Colour!){list(values:$v point:$p) colour(colour:$c)}";
    let variables = json!({"v": 7, "p": {"x": 1}, "c": "RED", "unused": [1]});
    let answer = edge
        .post(json!({"query": query, "variables": variables}))
        .await;
    assert_eq!(answer.data(), json!({"list": 2, "colour": "RED"}));
    let query = "query($v:Int! = 5){echo(value:$v)}";
    assert_eq!(edge.query(query).await.data(), json!({"echo": 5}));
}

#[tokio::test]
async fn an_argument_the_executor_refuses_late_is_the_clients_fault() {
    let edge = TestEdge::new();
    let answer = edge.query("{echo(value:3000000000)}").await;
    let code = &answer.json()["errors"][0]["extensions"]["code"];
    assert!(
        code == "BAD_USER_INPUT" || code == "GRAPHQL_VALIDATION_FAILED",
        "{code}"
    );
}

#[tokio::test]
async fn a_mutation_written_twice_runs_once() {
    let edge = TestEdge::new();
    let answer = edge
        .query("mutation{inc{value} inc{__typename value}}")
        .await;
    assert_eq!(
        answer.data(),
        json!({"inc": {"value": 1, "__typename": "Counter"}})
    );
    assert_eq!(edge.count(), 1);
    for query in [
        "mutation{inc{value} ...f} fragment f on Mutation{inc{text}}",
        "mutation($s:Boolean=true){inc{value} inc @include(if:$s){text}}",
    ] {
        assert_eq!(
            edge.query(query).await.refusal().1,
            "GRAPHQL_VALIDATION_FAILED"
        );
    }
    assert_eq!(edge.count(), 1);
    let answer = edge.query("mutation{a:inc{value} b:inc{value}}").await;
    assert_eq!(answer.data(), json!({"a": {"value": 2}, "b": {"value": 3}}));
}

#[tokio::test]
async fn a_field_written_often_is_resolved_once() {
    let edge = TestEdge::new();
    assert_eq!(
        edge.query("{read read read}").await.data(),
        json!({"read": 1})
    );
    let answer = edge.query("{counter{value} counter{text}}").await;
    assert_eq!(
        answer.data(),
        json!({"counter": {"value": 7, "text": "seven"}})
    );
    let typenames = format!("{{{}}}", "__typename ".repeat(500));
    assert_eq!(
        edge.query(&typenames).await.data(),
        json!({"__typename": "Query"})
    );
}

#[tokio::test]
async fn the_standard_introspection_query_passes_the_limits() {
    let edge = TestEdge::new();
    let of_type = (0..9).fold("kind name".to_owned(), |inner, _| {
        format!("kind name ofType {{ {inner} }}")
    });
    let query = format!(
        "query IntrospectionQuery {{ __schema {{ queryType {{ name }} mutationType {{ name }} \
         subscriptionType {{ name }} types {{ ...FullType }} directives {{ name description \
         locations args {{ ...InputValue }} }} }} }} \
         fragment FullType on __Type {{ kind name description fields(includeDeprecated: true) {{ \
         name description args {{ ...InputValue }} type {{ ...TypeRef }} isDeprecated \
         deprecationReason }} inputFields {{ ...InputValue }} interfaces {{ ...TypeRef }} \
         enumValues(includeDeprecated: true) {{ name description isDeprecated deprecationReason }} \
         possibleTypes {{ ...TypeRef }} }} fragment InputValue on __InputValue {{ name description \
         type {{ ...TypeRef }} defaultValue }} fragment TypeRef on __Type {{ {of_type} }}"
    );
    let answer = edge.query(&query).await;
    assert!(answer.data()["__schema"]["types"].as_array().unwrap().len() > 5);
}
