//! The settings in the terms of the parts that they are for.
//!
//! The configuration has been checked as a whole before; nothing is judged here.

use std::time::Duration;

use crate::api::http::settings::{
    AuthSettings, CorsSettings, HttpSettings, LiveSettings, RequestLimits,
};
use crate::config::{self, Config};
use crate::domain::text::TextLimits;
use crate::service;

/// What the HTTP edge needs to know.
pub(super) fn http(config: &Config) -> HttpSettings {
    HttpSettings {
        limits: limits(&config.server),
        auth: auth(&config.auth),
        cors: CorsSettings {
            origins: config.server.cors_origins.clone(),
        },
        live: LiveSettings {
            connections_max: config.live.connections_max,
            operations_max: config.live.operations_per_socket_max,
            init_ms: whole_ms(config.live.init_timeout.get()),
            keepalive_ms: whole_ms(config.live.keepalive_interval.get()),
            send_ms: whole_ms(config.live.send_timeout.get()),
        },
        console: config.server.graphiql,
    }
}

fn limits(server: &config::Server) -> RequestLimits {
    RequestLimits {
        body_bytes_max: server.body_bytes_max,
        document_bytes_max: server.document_bytes_max,
        tokens_max: server.document_tokens_max,
        nesting_max: server.document_nesting_max,
        selection_levels_max: server.selection_levels_max,
        expanded_selections_max: server.expanded_selections_max,
        aliases_max: server.aliases_max,
        root_fields_max: server.root_fields_max,
        directives_max: server.directives_max,
        body_read_ms: whole_ms(server.body_read_timeout.get()),
        operation_ms: whole_ms(server.operation_timeout.get()),
        errors_max: server.errors_max,
    }
}

fn auth(auth: &config::Auth) -> AuthSettings {
    AuthSettings {
        hs256_secret: auth.hs256_secret.clone(),
        jwks_url: auth.jwks_url.as_ref().map(ToString::to_string),
        jwks_file: auth.jwks_file.clone(),
        issuer: auth.issuer.clone(),
        audiences: auth.audiences.clone(),
        leeway_s: whole_s(auth.clock_leeway.get()),
        jwks_fetch_ms: whole_ms(auth.jwks_fetch_timeout.get()),
        jwks_refetch_s: whole_s(auth.jwks_refetch_interval.get()),
        jwks_age_max_s: whole_s(auth.jwks_age_max.get()),
        development: auth.development,
    }
}

/// What the rules need to know.
pub(super) fn service(comments: &config::Comments) -> service::Settings {
    service::Settings {
        text: TextLimits {
            body_scalars_max: comments.body_scalars_max,
            body_bytes_max: comments.body_bytes_max,
            ..TextLimits::default()
        },
        comments_per_discussion_max: as_count(comments.comments_per_discussion_max),
        page_size_default: as_size(comments.page_size_default),
        page_size_max: as_size(comments.page_size_max),
        index_on_read_max: as_count(comments.index_on_read_max),
        posting_key_ttl: comments.posting_key_ttl.get(),
        first_comment_opens_discussion: comments.first_comment_opens_discussion,
        url_query_parameters_kept: comments.url_query_parameters_kept.clone(),
        ..service::Settings::default()
    }
}

fn as_count(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

fn as_size(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn whole_ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Rounded up, so that a short time does not become none.
fn whole_s(time: Duration) -> u32 {
    u32::try_from(time.as_millis().div_ceil(1_000)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(settings: &str) -> Config {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("threadline.toml");
        std::fs::write(&file, settings).unwrap();
        Config::load_from(Some(&file), []).unwrap().config
    }

    #[test]
    fn the_default_file_and_the_parts_agree_on_defaults() {
        let config = Config::defaults().unwrap();
        let (http, parts) = (http(&config), HttpSettings::default());
        assert_eq!(http.limits, parts.limits);
        assert_eq!(http.cors, parts.cors);
        assert_eq!(http.auth.leeway_s, parts.auth.leeway_s);
        assert_eq!(http.auth.jwks_fetch_ms, parts.auth.jwks_fetch_ms);
        assert_eq!(http.auth.jwks_refetch_s, parts.auth.jwks_refetch_s);
        assert_eq!(http.auth.jwks_age_max_s, parts.auth.jwks_age_max_s);
        let (ours, parts) = (service(&config.comments), service::Settings::default());
        assert_eq!(format!("{ours:?}"), format!("{parts:?}"));
    }

    #[test]
    fn every_setting_of_the_edge_arrives_where_it_is_meant_to() {
        let config = config(
            "[server]\ngraphiql = false\ncors_origins = ['https://example.org']\n\
             body_bytes_max = 2001\ndocument_bytes_max = 2000\ndocument_tokens_max = 101\n\
             document_nesting_max = 9\nselection_levels_max = 5\nexpanded_selections_max = 51\n\
             aliases_max = 1\nroot_fields_max = 2\ndirectives_max = 3\nerrors_max = 4\n\
             body_read_timeout = '101ms'\noperation_timeout = '102ms'\n\
             [auth]\ndevelopment = false\njwks_url = 'https://id.example.org/keys'\n\
             jwks_fetch_timeout = '103ms'\njwks_refetch_interval = '1500ms'\njwks_age_max = '2m'\n\
             issuer = 'me'\naudiences = ['you']\nclock_leeway = '7s'\n",
        );
        let settings = http(&config);
        let limits = RequestLimits {
            body_bytes_max: 2_001,
            document_bytes_max: 2_000,
            tokens_max: 101,
            nesting_max: 9,
            selection_levels_max: 5,
            expanded_selections_max: 51,
            aliases_max: 1,
            root_fields_max: 2,
            directives_max: 3,
            body_read_ms: 101,
            operation_ms: 102,
            errors_max: 4,
        };
        assert_eq!(settings.limits, limits);
        assert!(!settings.console && !settings.auth.development);
        assert_eq!(settings.cors.origins, ["https://example.org"]);
        let auth = settings.auth;
        assert_eq!(
            auth.jwks_url.as_deref(),
            Some("https://id.example.org/keys")
        );
        assert_eq!((auth.jwks_fetch_ms, auth.jwks_refetch_s), (103, 2));
        assert_eq!((auth.jwks_age_max_s, auth.leeway_s), (120, 7));
        assert_eq!(auth.issuer.as_deref(), Some("me"));
        assert_eq!(auth.audiences, ["you"]);
    }

    #[test]
    fn every_setting_of_comments_arrives_where_it_is_meant_to() {
        let config = config(
            "[comments]\nbody_scalars_max = 11\nbody_bytes_max = 12\n\
             comments_per_discussion_max = 13\npage_size_default = 14\npage_size_max = 15\n\
             index_on_read_max = 16\nposting_key_ttl = '17m'\n\
             first_comment_opens_discussion = false\nurl_query_parameters_kept = ['id']\n",
        );
        let settings = service(&config.comments);
        assert_eq!(settings.text.body_scalars_max, 11);
        assert_eq!(settings.text.body_bytes_max, 12);
        assert_eq!(settings.comments_per_discussion_max, 13);
        assert_eq!(settings.page_size_default, 14);
        assert_eq!(settings.page_size_max, 15);
        assert_eq!(settings.index_on_read_max, 16);
        assert_eq!(settings.posting_key_ttl, Duration::from_mins(17));
        assert!(!settings.first_comment_opens_discussion);
        assert_eq!(settings.url_query_parameters_kept, ["id"]);
    }
}
