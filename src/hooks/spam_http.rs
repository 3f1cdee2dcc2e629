//! The spam hook over HTTP: one JSON object sent with POST, one small JSON object back.
//!
//! Everything about a call is bounded: its whole time, its answer, and how many are under way.
//! Redirects are not followed, and no proxy of the environment is used.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;
use url::Url;

use super::spam::{SpamHook, SpamHookError, Suspect};
use crate::domain::body::BodyFormat;
use crate::domain::ids::opaque::GlobalId;
use crate::domain::moderation::Verdict;

/// The longest answer that is read, in bytes.
const ANSWER_BYTES_MAX: usize = 4_096;

/// How the hook is called.
#[derive(Clone, Debug)]
pub struct SpamHttpSettings {
    /// Where.
    pub url: Url,
    /// How long a call may take, waiting for its turn included.
    pub timeout: Duration,
    /// Calls under way at a time.
    pub calls_max: usize,
}

/// A hook that is called over HTTP.
pub struct SpamHttp {
    client: reqwest::Client,
    settings: SpamHttpSettings,
    turns: Semaphore,
}

impl fmt::Debug for SpamHttp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpamHttp")
            .field("turns", &self.turns)
            .finish_non_exhaustive()
    }
}

/// What the hook gets.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Question<'a> {
    author: Author<'a>,
    discussion: Discussion<'a>,
    parent: Option<String>,
    text: &'a str,
    format: &'static str,
    is_edit: bool,
}

#[derive(Debug, Serialize)]
struct Author<'a> {
    id: String,
    name: &'a str,
}

#[derive(Debug, Serialize)]
struct Discussion<'a> {
    id: Option<String>,
    url: Option<String>,
    entity: Option<Entity<'a>>,
}

#[derive(Debug, Serialize)]
struct Entity<'a> {
    r#type: &'a str,
    id: &'a str,
}

/// What the hook gives; other fields are its own business.
#[derive(Debug, Deserialize)]
struct Answer {
    verdict: Verdict,
}

impl<'a> Question<'a> {
    fn of(suspect: &'a Suspect) -> Self {
        let discussion = suspect.discussion.map(GlobalId::Discussion);
        let entity = suspect.entity.as_ref();
        Self {
            author: Author {
                id: GlobalId::User(suspect.author_id).encode(),
                name: &suspect.author_name,
            },
            discussion: Discussion {
                id: discussion.map(GlobalId::encode),
                url: suspect.url.as_ref().map(|url| format!("https://{url}")),
                entity: entity.map(|(r#type, id)| Entity { r#type, id }),
            },
            parent: suspect
                .parent
                .map(|(place, id)| GlobalId::Comment(place, id).encode()),
            text: &suspect.text,
            format: match suspect.format {
                BodyFormat::Plain => "PLAIN",
                BodyFormat::Markdown => "MARKDOWN",
                BodyFormat::Html => "HTML",
            },
            is_edit: suspect.is_edit,
        }
    }
}

impl SpamHttp {
    /// A hook at an address. Fails where the machine's certificates cannot be used.
    pub fn new(settings: SpamHttpSettings) -> Result<Self, reqwest::Error> {
        crate::tls::install();
        let client = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .build()?;
        Ok(Self {
            client,
            turns: Semaphore::new(settings.calls_max),
            settings,
        })
    }

    async fn ask(&self, question: &Question<'_>) -> Result<Verdict, SpamHookError> {
        let _turn = self
            .turns
            .acquire()
            .await
            .map_err(|_closed| SpamHookError::Unreachable)?;
        // The cause is not told: it names the address, which may hold a key.
        let unreachable = |_cause: reqwest::Error| SpamHookError::Unreachable;
        let call = self.client.post(self.settings.url.clone()).json(question);
        let mut response = call.send().await.map_err(unreachable)?;
        let status = response.status();
        if status != reqwest::StatusCode::OK {
            return Err(SpamHookError::Status(status.as_u16()));
        }
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(unreachable)? {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > ANSWER_BYTES_MAX {
                return Err(SpamHookError::TooLong(ANSWER_BYTES_MAX));
            }
        }
        let answer: Answer =
            serde_json::from_slice(&bytes).map_err(|_cause| SpamHookError::Garbage)?;
        Ok(answer.verdict)
    }
}

#[async_trait]
impl SpamHook for SpamHttp {
    async fn judge(&self, suspect: &Suspect) -> Result<Verdict, SpamHookError> {
        let question = Question::of(suspect);
        tokio::time::timeout(self.settings.timeout, self.ask(&question))
            .await
            .map_err(|_late| SpamHookError::Timeout)?
    }
}
