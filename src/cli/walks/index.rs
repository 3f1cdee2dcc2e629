//! `threadline index`: building, checking and changing the tree index beside the comments.

use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::status::StatusArgs;
use super::{WalkArgs, walk_help};
use crate::app::App;
use crate::cli::Failure;
use crate::worker::jobs::audit::{AuditJob, AuditKind};
use crate::worker::jobs::build::{BuildJob, BuildSettings};
use crate::worker::jobs::layouts::{LayoutAct, LayoutJob};

const BUILD_HELP: &str = concat!(
    "Oldest comment first, so that a parent is placed before its replies. People may write\n\
     meanwhile; reads are linear until a discussion's index is complete. Building again is safe:\n\
     rows that are there stay. Afterwards the lengths of branches are printed by the day their\n\
     first comment was written; `threadline index status` shows them again.\n\n\
     Another depth: `--depth 2` builds a second layout beside the one in use, in which replies open\n\
     branches down to the second level. Reads go on with the first until `index flip --depth 2`;\n\
     `index flip --depth 1` goes back, `index drop` removes the one that is not used.\n\n",
    walk_help!(),
    "\n\nExamples:\n  \
     threadline index build\n  \
     threadline index build --rate 20000 --workers 1\n  \
     threadline index build --depth 2 && threadline index flip --depth 2"
);

/// Build, check and change the tree index
#[derive(Args, Debug)]
pub(crate) struct IndexCommand {
    #[command(subcommand)]
    act: IndexAct,
}

#[derive(Debug, Subcommand)]
enum IndexAct {
    /// Build the index of every discussion that lacks it
    #[command(after_help = BUILD_HELP)]
    Build(BuildArgs),
    /// Check every index and count against the comments, without a change
    #[command(after_help = VERIFY_HELP)]
    Verify(WalkArgs),
    /// Check, and mend what is wrong
    #[command(after_help = REPAIR_HELP)]
    Repair(WalkArgs),
    /// Let reads use the layout with this depth; the other one is kept for going back
    #[command(after_help = walk_help!())]
    Flip(FlipArgs),
    /// Remove the layout that reads do not use
    #[command(after_help = walk_help!())]
    Drop(WalkArgs),
    /// Show what is indexed, which walks are under way and what they found
    Status(StatusArgs),
}

const VERIFY_HELP: &str = concat!(
    "Reported: comments that a complete index lacks, has twice or elsewhere than their parents say;\n\
     index rows without a comment; ancestors that contradict the parents; counts and tombstones\n\
     that the comments contradict. Roots whose parent is missing are counted, not reported: they\n\
     are where they belong.\n\n",
    walk_help!(),
    "\n\nExamples:\n  \
     threadline index verify --report verify.json\n  \
     threadline index verify --discussion 3781903433912320512"
);

const REPAIR_HELP: &str = concat!(
    "While rows of an index are replaced, its discussion is read linearly. What is left wrong in the\n\
     end is reported, and is a fault to tell us about.\n\n",
    walk_help!()
);

#[derive(Args, Debug)]
struct BuildArgs {
    #[command(flatten)]
    walk: WalkArgs,
    /// Build a layout with this depth limit beside the one in use: 1 is "roots and replies"
    #[arg(long, value_name = "LEVELS", value_parser = clap::value_parser!(u16).range(1..=16))]
    depth: Option<u16>,
    /// Go over complete indexes as well
    #[arg(long)]
    all: bool,
}

#[derive(Args, Debug)]
struct FlipArgs {
    #[command(flatten)]
    walk: WalkArgs,
    /// The depth limit of the layout to use
    #[arg(long, value_name = "LEVELS", value_parser = clap::value_parser!(u16).range(1..=16))]
    depth: u16,
}

impl IndexCommand {
    pub(crate) fn run(&self) -> Result<ExitCode, Failure> {
        match &self.act {
            IndexAct::Build(args) => {
                let settings = BuildSettings {
                    depth_limit: args.depth,
                    all: args.all,
                };
                args.walk.walk(|app| BuildJob {
                    service: app.service().clone(),
                    settings,
                })
            }
            IndexAct::Verify(args) => args.walk(|app| audit(app, AuditKind::Verify)),
            IndexAct::Repair(args) => args.walk(|app| audit(app, AuditKind::Repair)),
            IndexAct::Flip(args) => args
                .walk
                .walk(|app| layouts(app, LayoutAct::Flip(args.depth))),
            IndexAct::Drop(args) => args.walk(|app| layouts(app, LayoutAct::Drop)),
            IndexAct::Status(args) => args.run(),
        }
    }
}

fn audit(app: &App, kind: AuditKind) -> AuditJob {
    AuditJob {
        service: app.service().clone(),
        kind,
    }
}

fn layouts(app: &App, act: LayoutAct) -> LayoutJob {
    LayoutJob {
        service: app.service().clone(),
        act,
    }
}
