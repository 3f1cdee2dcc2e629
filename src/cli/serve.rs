//! `threadline serve`: the gateway, until it is told to stop.
//!
//! SIGINT and SIGTERM let what runs end within `server.shutdown_timeout`; a second one ends at once.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use clap::Args;

use super::signals::Stop;
use super::{ConfigFile, Failure, output};
use crate::app::{App, AppBuilder};
use crate::config::Config;
use crate::import::synthetic::KNOWN_URL;
use crate::telemetry::{self, Metrics};

/// Start the gateway
#[derive(Args, Debug)]
pub(crate) struct ServeCommand {
    #[command(flatten)]
    config: ConfigFile,
    /// Put a small made-up community into the stores first; a second time adds nothing
    #[arg(long)]
    seed: bool,
}

impl ServeCommand {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let config = self.config.load()?.config;
        let metrics = telemetry::init(&config.telemetry).map_err(Failure::other)?;
        super::runtime()?.block_on(self.serve(config, metrics))
    }

    async fn serve(&self, config: Config, metrics: Metrics) -> Result<(), Failure> {
        let mut stop = Stop::listen().map_err(Failure::other)?;
        let builder = AppBuilder::new(config).metrics(metrics).seeded(self.seed);
        let app = tokio::select! {
            started = builder.start() => started.map_err(Failure::other)?,
            name = stop.asked() => {
                tracing::info!(signal = name, "stopped while starting");
                return Ok(());
            }
        };
        output::print(&welcome(&app))?;
        let name = stop.asked().await;
        tracing::info!(signal = name, "stopping; a second signal stops at once");
        tokio::select! {
            ended = app.shutdown() => if ended {
                Ok(())
            } else {
                Err(Failure::other("some requests did not end within server.shutdown_timeout"))
            },
            name = stop.asked() => Err(Failure::other(format!("stopped at once by a second {name}"))),
        }
    }
}

/// Where to go from here, for the person who started it.
fn welcome(app: &App) -> String {
    let listen = app.config().server.listen;
    let base = format!("http://{}", local(app.address().unwrap_or(listen)));
    let mut lines = vec![
        format!("threadline {} is ready.", env!("CARGO_PKG_VERSION")),
        String::new(),
        format!("  GraphQL     {base}/graphql"),
    ];
    if app.config().server.reader {
        lines.push(format!("  Reader      {base}/ in a browser"));
    }
    if app.config().server.graphiql {
        lines.push(format!("  Query page  {base}/graphql in a browser"));
    }
    lines.push(format!("  Health      {base}/readyz"));
    lines.push(format!("  Metrics     {base}/metrics"));
    if let Some(seeded) = app.seeded() {
        lines.push(String::new());
        lines.push(if seeded.comments_new == 0 {
            "The made-up community was there already. Ask for its first discussion:".to_owned()
        } else {
            format!(
                "A made-up community is there: {} comments in {} discussions. Ask for the first:",
                seeded.comments_new, seeded.discussions
            )
        });
        lines.push(String::new());
        lines.push(question(&base));
    }
    lines.push(String::new());
    lines.join("\n")
}

/// A first question, to be pasted into a shell. It names a client, since clients that are not known
/// get one line of comments.
fn question(base: &str) -> String {
    let query = format!(
        "{{ discussion(url: \\\"{KNOWN_URL}\\\") {{ title comments(first: 3) {{ mode edges {{ \
         node {{ author {{ name }} body {{ text }} }} replies(first: 2) {{ edges {{ \
         node {{ author {{ name }} body {{ text }} }} }} }} }} }} }} }}"
    );
    [
        format!("  curl -s {base}/graphql -H 'content-type: application/json' \\"),
        "    -H 'x-client-name: reader' -H 'x-client-version: 1.0.0' \\".to_owned(),
        format!("    -d '{{\"query\": \"{query}\"}}'"),
    ]
    .join("\n")
}

/// Where this machine finds an address; one that stands for all of them is no place to go to.
fn local(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip @ (IpAddr::V4(_) | IpAddr::V6(_)) => ip,
    };
    SocketAddr::new(ip, address.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_stands_for_all_is_shown_as_this_machine() {
        for (bound, shown) in [
            ("0.0.0.0:80", "127.0.0.1:80"),
            ("[::]:80", "[::1]:80"),
            ("192.0.2.1:80", "192.0.2.1:80"),
        ] {
            assert_eq!(local(bound.parse().unwrap()).to_string(), shown);
        }
    }

    #[test]
    fn the_first_question_is_json_inside_of_its_quotes() {
        let text = question("http://127.0.0.1:8080");
        let body = text
            .split_once("-d '")
            .unwrap()
            .1
            .strip_suffix('\'')
            .unwrap();
        let body: serde_json::Value = serde_json::from_str(body).unwrap();
        let query = body["query"].as_str().unwrap();
        assert!(
            query.contains("url: \"https://blog.example.com/hello\""),
            "{query}"
        );
    }
}
