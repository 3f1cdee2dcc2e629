//! What `threadline import` says and asks of forums and of files with names of their own.

use std::path::{Path, PathBuf};

use clap::Args;
use indicatif::ProgressBar;
use url::Url;

use super::Failure;
use super::import::FileArgs;
use super::import_formats::site;
use crate::import::discourse::{DiscourseOptions, DiscourseReader};
use crate::import::jsonl::map::{FieldMap, Mapping};
use crate::import::jsonl::mapped::MappedReader;
use crate::import::reddit::RedditOptions;
use crate::import::{self, ExportReader, Format, input};

pub(super) const DISCOURSE_ABOUT: &str = "\
Posts of a Discourse forum, as its API gives them: one JSON object a line

A line is one post, a whole topic as https://FORUM/t/ID.json?include_raw=1 gives it, or a list of posts
as https://FORUM/posts.json gives it; of each, several may stand on one line. To get them, ask for
/posts.json?before=ID again and again, each time before the smallest id so far, with an API key of an
administrator if closed categories are wanted too. A topic's document holds its first 20 posts only:
ask for ?page=2 and so on, or add &print=true. Documents over several lines go through `jq -c .` first.

Every topic becomes a discussion, found below --site at /t/SLUG/ID. Its opening post is a comment like
any other. The Markdown source (`raw`) is taken where it is there, else the HTML. Deleted posts stay as
markers where others answer them; whispers and posts hidden by flags are hidden here; notices such as
\"closed the topic\" are left out. Of a post that stands in the file twice the version with the later
`updated_at` is taken. Likes, badges and polls are not taken over.

Posts may be longer than comments are here: raise comments.body_scalars_max and comments.body_bytes_max
before the import, or find them in the report as too long.

Examples:
  threadline import discourse posts.jsonl.zst --site https://forum.example --dry-run
  jq -c . topics/*.json | threadline import discourse - --site https://forum.example";

pub(super) const REDDIT_ABOUT: &str = "\
Comments of Reddit: a table (CSV) or a dump of JSON lines, told apart by the first byte

A table has a header with the columns id, post_id (or link_id), parent_id, author, body, created_utc
(seconds) and perhaps edited, in any order; others are passed. The table of --posts has id, title,
created_utc and perhaps permalink, subreddit, text (or selftext), author, locked. A dump is a file of
Pushshift or Arctic Shift, such as RC_2024-01.zst or SUBREDDIT_comments.zst; submissions may stand in
the same file or in that of --posts (RS_2024-01.zst). Such a dump may need 2 GB of memory to unpack.

Every submission becomes a discussion, found by its address on Reddit (--rewrite-url puts another site
in its place). Comments whose submission is in no file open a discussion without title and address. The
text of a submission is what is discussed and is not imported; --with-submission-texts makes it the
first comment. Texts that say [deleted] or [removed] stay as markers where others answer them; what
deleted accounts wrote is kept without a name. Entities (&gt;) are taken back once. Votes are not taken
over.

Examples:
  threadline import reddit comments.csv --posts posts.csv --dry-run --report report.json
  threadline import reddit rust_comments.zst --posts rust_submissions.zst --with-submission-texts";

pub(super) const JSONL_ABOUT: &str = "\
JSON lines: our own format, or any other whose fields --map names

Our own format has discussions and comments in any order, one JSON object a line. Of a discussion only
`id` is needed, of a comment `id`, `discussion`, `created_at` and `body`. An unknown field is an error.

  {\"type\":\"discussion\",\"id\":\"d1\",\"title\":\"…\",\"url\":\"https://…\",\"entity\":{\"type\":\"article\",\"id\":\"7\"},
   \"created_at\":\"2024-05-01T12:00:00Z\",\"closed\":false}
  {\"type\":\"comment\",\"id\":\"c1\",\"discussion\":\"d1\",\"parent\":null,\"author\":{\"id\":\"u1\",\"name\":\"Ann\"},
   \"created_at\":1714564800000,\"edited_at\":null,\"format\":\"markdown\",\"body\":\"…\",\"state\":\"published\"}

Its times are RFC 3339 or ms since 1970; `format` is plain (the default), markdown or html; `state` is
published (the default), pending, hidden, deleted or spam.

With --map every line is a comment, and its fields have the names that the map says: OURS=THEIRS, where
THEIRS may lead into an object (author.name), or OURS:=VALUE for what all rows have in common. Ours are
  id, discussion, created_at, body      needed; ids may be numbers
  parent, edited_at, format, state      as above
  author                                what the author is known by; an address is kept as a hash only
  name                                  what the author is called; else that is what `author` says
  deleted, hidden                       whatever is neither empty nor false nor 0 says yes
  title, url, entity_type, entity_id    of the discussion, from the first row that has any of them;
                                        without url or entity_id no page shows the discussion
Times are RFC 3339 with an offset, or numbers: below 100,000,000,000 seconds since 1970, else ms. Fields
that are not named are passed. A named field that no row has is an error, and nothing is imported.

Examples:
  threadline import jsonl - --source forum < comments.jsonl
  threadline import jsonl list.jsonl.zst --source list --map id=id,parent=parent,discussion=root \\
    --map author=author,created_at=ts,title=subject,body=body,entity_type:=list-thread,entity_id=root";

/// What posts of Discourse need.
#[derive(Args, Debug)]
pub(super) struct DiscourseArgs {
    #[command(flatten)]
    pub(super) file: FileArgs,
    /// Where the forum is or was, such as `https://forum.example`
    #[arg(long, value_name = "URL", value_parser = site)]
    site: Url,
}

impl DiscourseArgs {
    pub(super) fn reader(&self, bar: &ProgressBar) -> Result<Box<dyn ExportReader>, Failure> {
        let options = DiscourseOptions {
            site: Some(self.site.clone()),
        };
        let reader = DiscourseReader::new(self.file.input(bar)?, options);
        Ok(Box::new(reader))
    }
}

/// What comments of Reddit need.
#[derive(Args, Debug)]
pub(super) struct RedditArgs {
    #[command(flatten)]
    pub(super) file: FileArgs,
    /// The submissions
    #[arg(long, value_name = "FILE")]
    posts: Option<PathBuf>,
    /// Make the text of each submission its first comment
    #[arg(long)]
    with_submission_texts: bool,
}

impl RedditArgs {
    pub(super) fn reader(&self, bar: &ProgressBar) -> Result<Box<dyn ExportReader>, Failure> {
        let is_stdin = |file: &PathBuf| file == Path::new("-");
        if self.file.is_stdin() && self.posts.as_ref().is_some_and(is_stdin) {
            return Err(Failure::other(
                "only one of the files can be standard input",
            ));
        }
        let comments = self.file.input(bar)?;
        let posts = self.posts.as_ref().map(|posts| {
            // The bar is about the larger file.
            input::open(posts, &ProgressBar::hidden()).map_err(|error| {
                Failure::other(format!("cannot read {}: {error}", posts.display()))
            })
        });
        let options = RedditOptions {
            with_submission_texts: self.with_submission_texts,
        };
        Ok(import::reddit(comments, posts.transpose()?, options))
    }
}

/// What lines of JSON need.
#[derive(Args, Debug)]
pub(super) struct JsonlArgs {
    #[command(flatten)]
    pub(super) file: FileArgs,
    /// Read a foreign file, in which our field has that name; may be given several times
    #[arg(long, value_name = "OURS=THEIRS,…", value_delimiter = ',')]
    map: Vec<Mapping>,
    /// Bring rows that `threadline export` wrote back as they were, under their ids
    ///
    /// Discussions and comments keep their ids, comments also authors, revisions and states, and
    /// what was imported is known by where it came from: importing the first export again adds
    /// nothing. The file is believed, so restore only what you exported yourself. Rows that are
    /// there already stay as they are; a discussion whose id another one holds gets its own and is
    /// reported. Not in an export, and so not restored: the log of changes, posting keys, and which
    /// sign-in belongs to which user (the users' store needs a copy of its own for that).
    #[arg(long, verbatim_doc_comment, conflicts_with = "map")]
    pub(super) restore: bool,
}

impl JsonlArgs {
    pub(super) fn reader(&self, bar: &ProgressBar) -> Result<Box<dyn ExportReader>, Failure> {
        if self.map.is_empty() {
            return Ok(Format::Jsonl.reader(self.file.input(bar)?));
        }
        let map = FieldMap::new(self.map.clone()).map_err(Failure::other)?;
        let reader = MappedReader::new(self.file.input(bar)?, map);
        Ok(Box::new(reader))
    }
}
