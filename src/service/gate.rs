//! What a text passes before it is written: the word filter, then the spam hook.
//!
//! Moderators pass freely. What a hook's failure means is a setting; each failure is logged once,
//! without the text, and counted.

use std::sync::Arc;

use super::writing::Refusal;
use super::{Service, ServiceResult};
use crate::domain::body::Body;
use crate::domain::moderation::Verdict;
use crate::domain::user::User;
use crate::domain::viewer::{Role, Viewer};
use crate::domain::words::WordFilter;
use crate::hooks::spam::{SpamHook, Suspect};

/// Who is asked about texts. The default lets everything through.
#[derive(Clone, Debug, Default)]
pub struct Gate {
    /// Words that make a text wait or refuse it.
    pub words: WordFilter,
    /// The hook, and what holds when it does not answer.
    pub spam: Option<(Arc<dyn SpamHook>, Verdict)>,
}

/// What the gate says to a text that is not refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Passed {
    /// It waits for a moderator.
    pub(super) holds: bool,
}

impl Service {
    /// The same rules behind a gate.
    #[must_use]
    pub fn with_gate(mut self, gate: Gate) -> Self {
        self.gate = Arc::new(gate);
        self
    }

    /// Whether asking about the same text again may give another answer.
    pub(super) fn gate_may_waver(&self, viewer: &Viewer) -> bool {
        self.gate.spam.is_some() && viewer.role < Role::Moderator
    }

    /// Judges a text that `viewer` is about to write.
    pub(super) async fn pass(
        &self,
        viewer: &Viewer,
        mut suspect: Suspect,
    ) -> ServiceResult<Result<Passed, Refusal>> {
        let gate = &self.gate;
        if viewer.role >= Role::Moderator || (gate.words.is_empty() && gate.spam.is_none()) {
            return Ok(Ok(Passed { holds: false }));
        }
        let by_words = if gate.words.is_empty() {
            Verdict::Publish
        } else {
            gate.words.judge(&Body::read(&suspect.text, suspect.format))
        };
        if by_words == Verdict::Refuse {
            return Ok(Err(Refusal::WordNotAllowed));
        }
        let Some((hook, on_failure)) = &gate.spam else {
            let holds = by_words == Verdict::Hold;
            return Ok(Ok(Passed { holds }));
        };
        let author: Option<User> = self.users(&[viewer.user_id]).await?.remove(&viewer.user_id);
        suspect.author_name = author.map(|user| user.name).unwrap_or_default();
        let verdict = match hook.judge(&suspect).await {
            Ok(verdict) => {
                count(match verdict {
                    Verdict::Publish => "publish",
                    Verdict::Hold => "hold",
                    Verdict::Refuse => "refuse",
                });
                verdict
            }
            Err(error) => {
                tracing::warn!(%error, "the spam hook failed");
                count("failed");
                *on_failure
            }
        };
        Ok(match verdict {
            Verdict::Refuse => Err(Refusal::Spam),
            Verdict::Hold => Ok(Passed { holds: true }),
            Verdict::Publish => Ok(Passed {
                holds: by_words == Verdict::Hold,
            }),
        })
    }
}

fn count(outcome: &'static str) {
    metrics::counter!("threadline_spam_hook_total", "outcome" => outcome).increment(1);
}
