//! What texts pass before they are written, from the settings.

use std::path::Path;
use std::sync::Arc;

use crate::config;
use crate::domain::words::{WordFilter, WordList};
use crate::hooks::spam::SpamHook;
use crate::hooks::spam_http::{SpamHttp, SpamHttpSettings};
use crate::service::gate::Gate;

/// Why the gate cannot be made. Each message names the setting.
#[derive(Debug, thiserror::Error)]
pub enum GateError {
    /// A file of words cannot be read.
    #[error("moderation.{setting} = \"{path}\": {cause}")]
    File {
        /// The setting's name.
        setting: &'static str,
        /// Its value.
        path: String,
        /// What the system said.
        cause: std::io::Error,
    },
    /// There are too many words.
    #[error("moderation.{setting}: {cause}")]
    Words {
        /// The setting's name.
        setting: &'static str,
        /// What is wrong.
        cause: String,
    },
    /// The hook cannot be called.
    #[error("moderation.spam_hook_url: {0}")]
    Hook(String),
}

pub(super) fn gate(settings: &config::Moderation) -> Result<Gate, GateError> {
    let hold = words(
        &settings.words_hold,
        settings.words_hold_file.as_deref(),
        ("words_hold", "words_hold_file"),
    )?;
    let refuse = words(
        &settings.words_refuse,
        settings.words_refuse_file.as_deref(),
        ("words_refuse", "words_refuse_file"),
    )?;
    let spam = match &settings.spam_hook_url {
        None => None,
        Some(url) => Some((hook(url, settings)?, settings.spam_hook_on_failure)),
    };
    Ok(Gate {
        words: WordFilter { hold, refuse },
        spam,
    })
}

fn hook(
    url: &config::StoreUrl,
    settings: &config::Moderation,
) -> Result<Arc<dyn SpamHook>, GateError> {
    let url = url.reveal().parse();
    let url = url.map_err(|error: url::ParseError| GateError::Hook(error.to_string()))?;
    let settings = SpamHttpSettings {
        url,
        timeout: settings.spam_hook_timeout.get(),
        calls_max: settings.spam_hook_calls_max,
    };
    let hook = SpamHttp::new(settings).map_err(|error| GateError::Hook(error.to_string()))?;
    Ok(Arc::new(hook))
}

/// The words of a setting and of its file: one a line, `#` before a comment.
fn words(
    listed: &[String],
    file: Option<&Path>,
    (setting, file_setting): (&'static str, &'static str),
) -> Result<WordList, GateError> {
    let mut words = listed.to_vec();
    if let Some(path) = file {
        let text = std::fs::read_to_string(path).map_err(|cause| GateError::File {
            setting: file_setting,
            path: path.display().to_string(),
            cause,
        })?;
        let lines = text.lines().map(str::trim);
        words.extend(
            lines
                .filter(|line| !line.is_empty() && !line.starts_with('#'))
                .map(str::to_owned),
        );
    }
    WordList::new(&words).map_err(|cause| GateError::Words {
        setting,
        cause: cause.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::domain::body::{Body, BodyFormat};
    use crate::domain::moderation::Verdict;

    fn gate_of(settings: &str) -> Result<Gate, GateError> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("threadline.toml");
        std::fs::write(&file, settings).unwrap();
        let config = Config::load_from(Some(&file), []).unwrap().config;
        gate(&config.moderation)
    }

    #[test]
    fn the_default_gate_is_open() {
        let gate = gate_of("").unwrap();
        assert!(gate.words.is_empty() && gate.spam.is_none());
    }

    #[test]
    fn words_come_from_the_setting_and_from_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("words.txt");
        std::fs::write(&file, "# a comment\nfrom file\n\n  spaced  \n").unwrap();
        let settings = format!(
            "[moderation]\nwords_refuse = ['listed']\nwords_refuse_file = '{}'\n",
            file.display()
        );
        let gate = gate_of(&settings).unwrap();
        let judge = |text| gate.words.judge(&Body::read(text, BodyFormat::Plain));
        for text in ["listed", "it is FROM  file", "spaced"] {
            assert_eq!(judge(text), Verdict::Refuse, "{text}");
        }
        assert_eq!(judge("a comment"), Verdict::Publish);
    }

    #[test]
    fn a_missing_file_of_words_is_named_with_its_setting() {
        let error = gate_of("[moderation]\nwords_hold_file = '/nowhere/words'\n").unwrap_err();
        let error = error.to_string();
        assert!(error.starts_with("moderation.words_hold_file = \"/nowhere/words\""));
    }

    #[test]
    fn a_hook_is_made_from_its_settings() {
        let gate = gate_of(
            "[moderation]\nspam_hook_url = 'https://u:key@spam.example/judge'\nspam_hook_on_failure = 'refuse'\n",
        );
        let gate = gate.unwrap();
        assert!(!format!("{gate:?}").contains("key"));
        assert_eq!(
            gate.spam.map(|(_, on_failure)| on_failure),
            Some(Verdict::Refuse)
        );
    }
}
