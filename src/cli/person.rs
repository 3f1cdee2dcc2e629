//! `threadline person`: what is kept of one person, written down or erased.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use tokio::io::BufWriter;

use super::{ConfigFile, Failure, output};
use crate::app::{App, AppBuilder};
use crate::domain::ids::UserId;
use crate::domain::ids::opaque::decode_user;
use crate::export::export_person;
use crate::telemetry;

/// Write down or erase everything that is kept of one person
#[derive(Args, Debug)]
pub(crate) struct PersonCommand {
    #[command(subcommand)]
    act: Act,
}

#[derive(Debug, Subcommand)]
enum Act {
    Export(ExportPerson),
    Erase(ErasePerson),
}

/// Write everything that is kept of a person as JSON lines
#[derive(Args, Debug)]
#[command(
    after_help = "A line each for profile, sign-ins, comments with all earlier texts (pending and \
                  hidden ones too), reports made, blocks, bans received and marks.\n\n\
                  Examples:\n  threadline person export 42 ann.jsonl\n  \
                  threadline person export VXNlcjo0Mg -"
)]
struct ExportPerson {
    #[command(flatten)]
    config: ConfigFile,
    /// The person's id: as GraphQL shows it, or decimal
    #[arg(value_parser = user_id)]
    user: UserId,
    /// The file to write, which must not be there; `-` is standard output
    file: PathBuf,
}

/// Erase everything of a person; it cannot be undone
#[derive(Args, Debug)]
#[command(
    after_help = "Their comments become tombstones, their name, sign-ins, blocks, marks, posting \
                  keys and earlier texts go; what they reported stays without them. It goes in \
                  small steps while the gateway serves, and may be run again after anything. At its \
                  end the stores' files are rewritten, so that nothing is left in them: that takes \
                  as long as copying them and twice their size of free disk, and writes of a gateway \
                  over the same files may be refused as busy meanwhile."
)]
struct ErasePerson {
    #[command(flatten)]
    config: ConfigFile,
    /// The person's id: as GraphQL shows it, or decimal
    #[arg(value_parser = user_id)]
    user: UserId,
}

impl PersonCommand {
    pub(crate) fn run(&self) -> Result<ExitCode, Failure> {
        let config = match &self.act {
            Act::Export(export) => &export.config,
            Act::Erase(erase) => &erase.config,
        };
        let config = config.load()?.config;
        telemetry::init(&config.telemetry).map_err(Failure::other)?;
        super::runtime()?.block_on(async {
            let app = AppBuilder::new(config)
                .build()
                .await
                .map_err(Failure::other)?;
            let done = match &self.act {
                Act::Export(export) => export.run(&app).await,
                Act::Erase(erase) => erase.run(&app).await,
            };
            app.shutdown().await;
            done.map(|()| ExitCode::SUCCESS)
        })
    }
}

impl ExportPerson {
    async fn run(&self, app: &App) -> Result<(), Failure> {
        let ports = app.service().ports();
        if self.file == Path::new("-") {
            let mut out = BufWriter::new(tokio::io::stdout());
            let written = export_person(ports, self.user, &mut out).await;
            return written.map(drop).map_err(Failure::other);
        }
        let file = tokio::fs::File::create_new(&self.file).await;
        let file = file.map_err(|error| {
            Failure::other(format!("cannot write {}: {error}", self.file.display()))
        })?;
        let written = export_person(ports, self.user, &mut BufWriter::new(file)).await;
        let lines = written.map_err(Failure::other)?;
        output::print(&format!(
            "{lines} lines written to {}\n",
            self.file.display()
        ))
    }
}

impl ErasePerson {
    async fn run(&self, app: &App) -> Result<(), Failure> {
        let buried = app.service().erase_person(self.user).await;
        let buried = buried.map_err(Failure::other)?;
        output::print(&format!(
            "erased: {buried} comments buried, and everything else of the person is gone\n"
        ))
    }
}

fn user_id(text: &str) -> Result<UserId, String> {
    decode_user(text).map_err(|error| error.to_string())
}
