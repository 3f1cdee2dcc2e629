//! Which mode a reader gets, and why: the flag, the index, what the client named, its cursor.

use super::flags::{Evaluation, Reason};

/// How a discussion is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Every comment by date, as old clients know it.
    Linear,
    /// Roots by date, replies under them.
    Threaded,
}

/// Why a reader got that mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ModeReason {
    /// The kill switch of `comments-threaded`.
    Killed,
    /// The flag is not enabled, or does not exist.
    Disabled,
    /// The client is unknown or older than the gate.
    Client,
    /// Another flag that this one needs is off.
    Prerequisite,
    /// The viewer is on the deny list.
    Denied,
    /// The discussion's index cannot be served yet.
    Index,
    /// The client named the mode.
    Requested,
    /// The page goes on from a cursor of this mode.
    Cursor,
    /// The cursor's mode is gone; these are the comments beyond it by date.
    Translated,
    /// The viewer is on the allow list.
    Allowed,
    /// A rule of the flag decided.
    Rule,
    /// The viewer's place in the rollout decided, either way.
    Rollout,
    /// The flag's default: no rollout, or nobody to roll out to.
    Default,
}

/// Whether threads of a discussion can be served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Servable {
    /// The index is complete.
    Yes,
    /// Small enough to be built within this read.
    AfterBuild,
    /// Large and incomplete: linear until the background build is done.
    No,
}

/// The decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModeChoice {
    /// What to read.
    pub mode: Mode,
    /// Why.
    pub reason: ModeReason,
}

/// The client named one mode and sent a cursor of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the cursor was made in the other mode than the one named")]
pub struct ModeMismatch;

/// Decides. `named`: the mode the client asked for, `None` for AUTO; `cursor`: the mode its cursor
/// was made in.
///
/// Order: what closes threads for this reader (kill, disabled, client gate, prerequisite, deny) →
/// an index that cannot be served → the mode named → the cursor's → the flag's value.
pub fn choose(
    flag: &Evaluation,
    servable: Servable,
    named: Option<Mode>,
    cursor: Option<Mode>,
) -> Result<ModeChoice, ModeMismatch> {
    if let (Some(named), Some(cursor)) = (named, cursor)
        && named != cursor
    {
        return Err(ModeMismatch);
    }
    let closed = match flag.reason {
        Reason::Killed => Some(ModeReason::Killed),
        Reason::Disabled | Reason::Missing => Some(ModeReason::Disabled),
        Reason::Client => Some(ModeReason::Client),
        Reason::Prerequisite => Some(ModeReason::Prerequisite),
        Reason::Denied => Some(ModeReason::Denied),
        Reason::Allowed | Reason::Rule | Reason::Rollout | Reason::Default => {
            (servable == Servable::No).then_some(ModeReason::Index)
        }
    };
    if let Some(reason) = closed {
        // The reader was in the middle of threads: they go on by date from where they were.
        let translated = cursor == Some(Mode::Threaded);
        let reason = if translated {
            ModeReason::Translated
        } else {
            reason
        };
        return Ok(ModeChoice {
            mode: Mode::Linear,
            reason,
        });
    }
    if let Some(mode) = named {
        return Ok(ModeChoice {
            mode,
            reason: ModeReason::Requested,
        });
    }
    if let Some(mode) = cursor {
        return Ok(ModeChoice {
            mode,
            reason: ModeReason::Cursor,
        });
    }
    let mode = if flag.is_on() {
        Mode::Threaded
    } else {
        Mode::Linear
    };
    let reason = match flag.reason {
        Reason::Allowed => ModeReason::Allowed,
        Reason::Rule => ModeReason::Rule,
        Reason::Rollout => ModeReason::Rollout,
        Reason::Default
        | Reason::Killed
        | Reason::Disabled
        | Reason::Missing
        | Reason::Client
        | Reason::Prerequisite
        | Reason::Denied => ModeReason::Default,
    };
    Ok(ModeChoice { mode, reason })
}

/// Whether the flag lets this reader see threads at all, whatever the rollout says.
#[must_use]
pub fn threads_open(flag: &Evaluation) -> bool {
    matches!(
        flag.reason,
        Reason::Allowed | Reason::Rule | Reason::Rollout | Reason::Default
    )
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::flags::Value;
    use super::*;

    fn flag(reason: Reason, on: bool) -> Evaluation {
        Evaluation {
            value: Value::Bool(on),
            variant: Arc::from(""),
            reason,
            hash: None,
            slot16: None,
        }
    }

    fn chosen(
        flag: &Evaluation,
        servable: Servable,
        named: Option<Mode>,
        cursor: Option<Mode>,
    ) -> (Mode, ModeReason) {
        let choice = choose(flag, servable, named, cursor).unwrap();
        (choice.mode, choice.reason)
    }

    #[test]
    fn what_closes_threads_wins_over_everything_a_client_names() {
        for (reason, want) in [
            (Reason::Killed, ModeReason::Killed),
            (Reason::Disabled, ModeReason::Disabled),
            (Reason::Missing, ModeReason::Disabled),
            (Reason::Client, ModeReason::Client),
            (Reason::Prerequisite, ModeReason::Prerequisite),
            (Reason::Denied, ModeReason::Denied),
        ] {
            for named in [None, Some(Mode::Threaded), Some(Mode::Linear)] {
                let got = chosen(&flag(reason, false), Servable::Yes, named, None);
                assert_eq!(got, (Mode::Linear, want));
            }
        }
    }

    #[test]
    fn an_unservable_index_is_linear_for_both_arms() {
        for on in [false, true] {
            let got = chosen(
                &flag(Reason::Rollout, on),
                Servable::No,
                Some(Mode::Threaded),
                None,
            );
            assert_eq!(got, (Mode::Linear, ModeReason::Index));
        }
    }

    #[test]
    fn the_named_mode_then_the_cursor_then_the_flag() {
        use Mode::{Linear, Threaded};
        let on = flag(Reason::Rollout, true);
        let off = flag(Reason::Rollout, false);
        let got = |flag: &Evaluation, named, cursor| chosen(flag, Servable::Yes, named, cursor);
        assert_eq!(
            got(&off, Some(Threaded), None),
            (Threaded, ModeReason::Requested)
        );
        assert_eq!(
            got(&on, Some(Linear), Some(Linear)),
            (Linear, ModeReason::Requested)
        );
        assert_eq!(
            got(&off, None, Some(Threaded)),
            (Threaded, ModeReason::Cursor)
        );
        assert_eq!(got(&on, None, Some(Linear)), (Linear, ModeReason::Cursor));
        assert_eq!(got(&on, None, None), (Threaded, ModeReason::Rollout));
        assert_eq!(got(&off, None, None), (Linear, ModeReason::Rollout));
        assert_eq!(
            got(&flag(Reason::Allowed, true), None, None),
            (Threaded, ModeReason::Allowed)
        );
        assert_eq!(
            got(&flag(Reason::Rule, false), None, None),
            (Linear, ModeReason::Rule)
        );
        assert_eq!(
            got(&flag(Reason::Default, false), None, None),
            (Linear, ModeReason::Default)
        );
    }

    #[test]
    fn a_threaded_cursor_survives_a_kill_and_a_lost_index() {
        let killed = flag(Reason::Killed, false);
        for named in [None, Some(Mode::Threaded)] {
            let got = chosen(&killed, Servable::Yes, named, Some(Mode::Threaded));
            assert_eq!(got, (Mode::Linear, ModeReason::Translated));
        }
        let got = chosen(
            &flag(Reason::Rollout, true),
            Servable::No,
            None,
            Some(Mode::Threaded),
        );
        assert_eq!(got, (Mode::Linear, ModeReason::Translated));
    }

    #[test]
    fn a_named_mode_with_the_others_cursor_is_an_error() {
        let on = flag(Reason::Rollout, true);
        let mixed = choose(&on, Servable::Yes, Some(Mode::Linear), Some(Mode::Threaded));
        assert_eq!(mixed, Err(ModeMismatch));
        let mixed = choose(&on, Servable::Yes, Some(Mode::Threaded), Some(Mode::Linear));
        assert_eq!(mixed, Err(ModeMismatch));
    }
}
