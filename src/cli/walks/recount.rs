//! `threadline recount`: the stored counts, from the comments.

use std::process::ExitCode;

use clap::Args;

use super::{WalkArgs, walk_help};
use crate::cli::Failure;
use crate::worker::jobs::audit::{AuditJob, AuditKind};

/// Count every discussion from its comments, and mend the counts that are wrong
#[derive(Args, Debug)]
#[command(after_help = concat!(
    "Counts are kept with every write; this is for after a fault, or for trust. People may write\n\
     meanwhile. `threadline index verify` compares without a change.\n\n",
    walk_help!(),
    "\n\nExample:\n  threadline recount --rate 50000"
))]
pub(crate) struct RecountCommand {
    #[command(flatten)]
    walk: WalkArgs,
}

impl RecountCommand {
    pub(crate) fn run(&self) -> Result<ExitCode, Failure> {
        self.walk.walk(|app| AuditJob {
            service: app.service().clone(),
            kind: AuditKind::Recount,
        })
    }
}
