//! What `threadline import` says and asks of each system: where its file comes from, and what only
//! this format needs to be told.

use clap::Args;
use indicatif::ProgressBar;
use url::Url;

use super::Failure;
use super::import::FileArgs;
use crate::import::isso::{self, IssoReader};
use crate::import::wxr::{self, WxrOptions};
use crate::import::{self, ExportReader};
use crate::tasks::Tasks;

pub(super) const WXR_ABOUT: &str = "\
A WordPress export (WXR, \"WordPress eXtended RSS\"): one XML file with the posts and their comments

To get it, open Tools > Export in the site's administration and choose \"All content\", or run
`wp export --stdout` on its server. Several files of one site are imported one after the other.

Every published post and page becomes a discussion, found by its address. Left out, each with its
reason in the report: spam; comments in the trash; pingbacks and trackbacks (--pings keeps them);
notes of shops and editors; drafts, private and password-protected pages with their comments
(--unpublished keeps them); pictures and menus that nobody wrote about. Comments that wait for a
moderator wait here too. Line ends and empty lines stay what WordPress makes of them.

Times are taken from the GMT fields. Where these are zero, the local time counts, in the zone of
--zone: a time that clocks were put forward over lies behind the gap, of one that came twice the
first is taken, and both are in the report. Without --zone local times are read as UTC, and the
report counts them.

A site without permalinks has addresses such as /?p=12. For them, set
comments.url_query_parameters_kept = [\"p\", \"page_id\"] before the import.

Examples:
  threadline import wxr blog.WordPress.2024-05-01.xml --dry-run --report report.json
  threadline import wxr export.xml.gz --zone Europe/Helsinki
  wp export --stdout | threadline import wxr - --rewrite-url https://old.example=https://new.example";

pub(super) const REMARK42_ABOUT: &str = "\
A remark42 backup: lines of JSON, usually in a .gz file

remark42 writes one a day into its backup folder (var/backup/backup-SITE-DATE.gz), and another on
`remark42 backup -s SITE`. A backup holds one site.

Every page becomes a discussion, found by its address; read-only pages stay closed. Texts are taken
as readers saw them. Deleted comments stay as markers where others answer them. Votes, pins and
pictures of people are not taken over.

Examples:
  threadline import remark42 backup-blog-20240501.gz --dry-run
  threadline import remark42 backup.gz --rewrite-url https://old.example/blog=https://new.example";

pub(super) const ISSO_ABOUT: &str = "\
An Isso database: the SQLite file that `dbpath` of its configuration names

Isso may go on running: the file is read as it is at that moment and never changed. A compressed file
or standard input is first copied to a temporary file.

Isso knows pages only by their path, so the site has to be told with --site; a thread with a name of
its own (data-isso-id) that is no path is imported without an address and reported. Comments that wait
for a moderator wait here too; deleted ones stay as markers where others answer them. Votes, mail
addresses and addresses of the network are not taken over.

Examples:
  threadline import isso /var/lib/isso/comments.db --site https://blog.example --dry-run
  zstd -dc comments.db.zst | threadline import isso - --site https://blog.example";

pub(super) const DISQUS_ABOUT: &str = "\
A Disqus export: one XML file with `<thread>` and `<post>`, usually in a .gz file

To get it, open https://SHORTNAME.disqus.com/admin/discussions/export/ as an administrator; the file
is sent by mail.

Every thread becomes a discussion, found by its address, also one whose `<id/>` is empty. Spam is
left out; deleted posts stay as markers where others answer them.

Examples:
  threadline import disqus SHORTNAME-2024-05-01.xml.gz --dry-run --report report.json
  threadline import disqus export.xml --rewrite-url http://old.example=https://new.example/blog";

/// What a WordPress export needs.
#[derive(Args, Debug)]
pub(super) struct WxrArgs {
    #[command(flatten)]
    pub(super) file: FileArgs,
    /// The site's time zone, such as `Europe/Helsinki` or `+02:00`, for rows without a GMT time
    #[arg(long, value_name = "ZONE", value_parser = wxr::zone)]
    zone: Option<wxr::TimeZone>,
    /// Import pingbacks, trackbacks and webmentions as comments
    #[arg(long)]
    pings: bool,
    /// Import drafts, private and password-protected pages too: everyone can read them then
    #[arg(long)]
    unpublished: bool,
}

impl WxrArgs {
    pub(super) fn reader(&self, bar: &ProgressBar) -> Result<Box<dyn ExportReader>, Failure> {
        let options = WxrOptions {
            zone: self.zone.clone(),
            pings: self.pings,
            unpublished: self.unpublished,
        };
        Ok(import::wxr(self.file.input(bar)?, options))
    }
}

/// What an Isso database needs.
#[derive(Args, Debug)]
pub(super) struct IssoArgs {
    #[command(flatten)]
    pub(super) file: FileArgs,
    /// Where the pages are, such as `https://blog.example`
    #[arg(long, value_name = "URL", value_parser = site)]
    site: Url,
}

impl IssoArgs {
    pub(super) fn reader(
        &self,
        bar: &ProgressBar,
        tasks: &Tasks,
    ) -> Result<Box<dyn ExportReader>, Failure> {
        let file = &self.file.file;
        let failed = |error| Failure::other(format!("cannot read {}: {error}", file.display()));
        let site = self.site.clone();
        if !self.file.is_stdin() && isso::is_database(file).map_err(failed)? {
            return Ok(Box::new(IssoReader::open(file.clone(), site, tasks)));
        }
        let copied = IssoReader::copied(self.file.input(bar)?, site, tasks);
        Ok(Box::new(copied.map_err(failed)?))
    }
}

pub(super) fn site(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| error.to_string())?;
    if matches!(url.scheme(), "http" | "https") {
        Ok(url)
    } else {
        Err("it begins with http:// or https://".to_owned())
    }
}
