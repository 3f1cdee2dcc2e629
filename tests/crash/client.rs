//! Somebody who reads and writes over HTTP, and who learns what became of each request.

use serde_json::{Value, json};

use crate::common::Server;

const WRITTEN: &str = "{ __typename ... on CommentWritten { comment { id revision state \
     body { text } } replayed readAfter } ... on CommentRefused { reason } }";

/// What became of a write.
#[derive(Debug)]
pub(crate) enum Answer {
    /// It was done.
    Done(Written),
    /// It was not done, for this reason.
    Refused(String),
    /// The gateway could not; the code says why.
    Failed(String),
    /// No connection was made: the request reached nobody.
    Unheard,
    /// The connection broke before the answer was whole.
    Lost,
}

/// A done write.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) id: String,
    pub(crate) text: Option<String>,
    pub(crate) revision: i64,
    pub(crate) replayed: bool,
    pub(crate) read_after: String,
}

/// A comment to post to a discussion by its address.
#[derive(Clone, Debug)]
pub(crate) struct Post {
    pub(crate) user: String,
    pub(crate) url: String,
    pub(crate) parent: Option<String>,
    pub(crate) text: String,
    pub(crate) key: String,
}

/// A client of one server, which may be gone by now.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    base: String,
    http: reqwest::Client,
    read_after: Option<String>,
}

impl Client {
    pub(crate) fn of(server: &Server) -> Self {
        Self {
            base: server.base().to_owned(),
            http: server.client().clone(),
            read_after: None,
        }
    }

    /// The same client, which wants to see a write that somebody else was told of.
    pub(crate) fn having_read(&self, token: &str) -> Self {
        Self {
            read_after: Some(token.to_owned()),
            ..self.clone()
        }
    }

    async fn ask(
        &self,
        user: Option<&str>,
        query: &str,
        variables: Value,
    ) -> Result<Value, reqwest::Error> {
        let mut request = self.http.post(format!("{}/graphql", self.base));
        if let Some(user) = user {
            request = request.header("x-dev-user", user);
        }
        if let Some(token) = &self.read_after {
            request = request.header("x-read-after", token);
        }
        let request = request
            .header("x-client-name", "reader")
            .header("x-client-version", "1.0.0")
            .json(&json!({ "query": query, "variables": variables }));
        request.send().await?.json().await
    }

    /// The `data` of an answer without errors.
    pub(crate) async fn read(&self, query: &str, variables: Value) -> Value {
        let answer = self.ask(None, query, variables).await.unwrap();
        assert!(answer.get("errors").is_none(), "{answer:#}");
        answer["data"].clone()
    }

    pub(crate) async fn post(&self, post: &Post) -> Answer {
        let input = json!({
            "url": post.url, "parent": post.parent, "body": post.text, "key": post.key,
        });
        self.write(&post.user, ("createComment", "CreateCommentInput"), input)
            .await
    }

    pub(crate) async fn edit(&self, user: &str, id: &str, seen: i64, text: &str) -> Answer {
        let input = json!({ "comment": id, "expectedRevision": seen, "body": text });
        self.write(user, ("editComment", "EditCommentInput"), input)
            .await
    }

    pub(crate) async fn delete(&self, user: &str, id: &str, seen: i64) -> Answer {
        let input = json!({ "comment": id, "expectedRevision": seen });
        self.write(user, ("deleteComment", "DeleteCommentInput"), input)
            .await
    }

    async fn write(&self, user: &str, (field, kind): (&str, &str), input: Value) -> Answer {
        let query = format!("mutation ($input: {kind}!) {{ {field}(input: $input) {WRITTEN} }}");
        let answer = self
            .ask(Some(user), &query, json!({ "input": input }))
            .await;
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) if error.is_connect() => return Answer::Unheard,
            Err(error) => {
                assert!(!error.is_timeout(), "it hangs: {error}");
                return Answer::Lost;
            }
        };
        if let Some(error) = answer["errors"].get(0) {
            let code = error["extensions"]["code"].as_str();
            return Answer::Failed(code.unwrap_or_else(|| panic!("{answer:#}")).to_owned());
        }
        let outcome = &answer["data"][field];
        if outcome["__typename"] == "CommentRefused" {
            return Answer::Refused(outcome["reason"].as_str().unwrap().to_owned());
        }
        let comment = &outcome["comment"];
        Answer::Done(Written {
            id: comment["id"].as_str().unwrap().to_owned(),
            text: comment["body"]["text"].as_str().map(str::to_owned),
            revision: comment["revision"].as_i64().unwrap(),
            replayed: outcome["replayed"].as_bool().unwrap(),
            read_after: outcome["readAfter"].as_str().unwrap().to_owned(),
        })
    }
}
