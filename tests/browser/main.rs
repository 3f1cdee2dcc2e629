//! The reader page and the embed in a real Chromium, against the real server.
//!
//! Every case has a server of its own with the made-up community, and a browser of its own. At its
//! end the browser must have nothing to complain about: no error in the console, no breach of the
//! content security policy, no request to another host. Without Chromium and its driver the cases
//! are ignored; `THREADLINE_TEST_REQUIRE=all` makes that a failure. `THREADLINE_TEST_SHOTS=FOLDER`
//! keeps pictures of what was seen.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a case fails by panicking and runs in one thread; what is installed is a matter of \
              the machine, no setting"
)]

#[path = "../common/mod.rs"]
#[expect(dead_code, reason = "each test binary uses a part of it")]
mod common;

mod browser;
mod embedding;
mod live;
mod looks;
mod moderating;
mod persons;
mod reading;
mod scripts;
mod shots;
mod world;
mod writing;

use std::process::{Command, ExitCode};
use std::time::Duration;

use libtest_mimic::{Arguments, Completion, Failed, Trial};

/// A case that takes longer hangs.
const HANG: Duration = Duration::from_mins(4);

fn main() -> ExitCode {
    let missing = missing(&["chromium", "chromedriver"]);
    let npm = missing.clone().or_else(|| crate::missing(&["npm"]));
    let mut trials = Vec::new();
    macro_rules! cases {
        ($($module:ident: $($case:ident),+;)+) => {
            $($(trials.push(trial(
                concat!(stringify!($module), "::", stringify!($case)),
                // Only the accessibility rules come from the registry.
                if stringify!($case).starts_with("axe") { npm.clone() } else { missing.clone() },
                || Box::pin($module::$case()),
            ));)+)+
        };
    }
    cases! {
        reading: the_list_leads_to_a_discussion_and_back,
            threads_and_dates_show_the_same_comments,
            pages_go_on_both_ways_without_repeating,
            replies_come_on_demand_and_the_button_says_how_many,
            a_link_to_a_far_reply_shows_it_with_its_context_and_the_way_back,
            a_link_to_nothing_says_so,
            the_keyboard_goes_from_comment_to_comment;
        writing: a_comment_is_posted_edited_and_deleted,
            a_reply_lies_under_what_it_answers,
            a_lost_connection_keeps_the_draft_and_a_retry_gives_one_comment,
            an_answer_that_got_lost_gives_one_comment,
            a_refusal_is_told_in_the_form,
            an_edit_of_an_older_text_is_refused_and_may_be_mended,
            a_draft_outlives_the_page;
        moderating: members_have_no_controls_and_moderators_hide_and_restore,
            a_closed_discussion_takes_nothing,
            a_report_reaches_the_queue_and_is_answered,
            a_waiting_comment_is_approved_from_the_queue,
            pins_are_shown_on_top_and_go_away;
        persons: a_blocked_person_is_a_placeholder_until_they_are_unblocked,
            a_banned_person_is_told_in_the_form,
            answers_are_listed_and_marked_as_read,
            what_is_new_since_the_last_visit_is_told_and_marked;
        live: what_others_write_comes_in_without_moving_what_is_read,
            a_second_tab_shows_a_post_an_edit_and_a_deletion,
            a_lost_connection_is_told_and_what_was_missed_comes_after_it,
            closing_a_discussion_reaches_those_who_read_it,
            a_resync_reads_what_is_shown_anew_and_keeps_place_and_draft;
        looks: nothing_is_wider_than_a_phone,
            dark_is_dark_and_readable,
            other_scripts_keep_their_direction,
            axe_finds_nothing_serious;
        embedding: a_page_of_another_origin_gets_a_frame_of_the_right_height,
            an_origin_that_is_not_named_gets_nothing;
        scripts: no_payload_runs_anywhere;
        shots: pictures_for_people;
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// What the machine lacks for these cases.
fn missing(names: &[&str]) -> Option<String> {
    let has = |name: &str| Command::new(name).arg("--version").output().is_ok();
    let lacking = names.iter().find(|name| !has(name));
    lacking.map(|name| format!("{name} is not installed"))
}

type Case = fn() -> std::pin::Pin<Box<dyn Future<Output = ()>>>;

fn trial(name: &str, missing: Option<String>, case: Case) -> Trial {
    Trial::ignorable_test(name, move || {
        if let Some(missing) = missing {
            if std::env::var("THREADLINE_TEST_REQUIRE").is_ok_and(|value| value == "all") {
                return Err(Failed::from(missing));
            }
            return Ok(Completion::ignored_with(missing));
        }
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        runtime.block_on(async {
            tokio::time::timeout(HANG, case())
                .await
                .map_err(|_elapsed| Failed::from("the case hangs"))
        })?;
        Ok(Completion::Completed)
    })
}
