//! What is discussed: twelve topics, each with its language and the shape of its branches.
//!
//! The shapes cover what a page may meet: lone roots, short branches, one of 120 replies, a chain
//! 30 deep, a closed discussion, keys by address, by entity, and by both.

use super::texts::{self, Voice};
use super::{KNOWN_ENTITY, KNOWN_URL};

/// A root and what hangs below it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Branch {
    /// So many replies, some of them to each other.
    Replies(usize),
    /// So many replies, each to the one before it.
    Chain(usize),
}

impl Branch {
    pub(super) const fn replies(self) -> usize {
        match self {
            Self::Replies(replies) | Self::Chain(replies) => replies,
        }
    }
}

/// A discussion of the community.
#[derive(Clone, Copy, Debug)]
pub(super) struct Topic {
    /// Its id in the source.
    pub(super) slug: &'static str,
    /// In its language.
    pub(super) title: &'static str,
    /// The address of what is discussed.
    pub(super) url: Option<&'static str>,
    /// Type and id of what is discussed.
    pub(super) entity: Option<(&'static str, &'static str)>,
    /// What people say.
    pub(super) voice: &'static Voice,
    /// Oldest first.
    pub(super) branches: &'static [Branch],
    /// Whether it is read only.
    pub(super) is_closed: bool,
}

use Branch::{Chain, Replies};

/// The discussions, oldest first.
pub(super) const TOPICS: [Topic; 12] = [
    Topic {
        slug: "hello",
        title: "Hello, and welcome to the new comments",
        url: Some(KNOWN_URL),
        entity: Some(KNOWN_ENTITY),
        voice: &texts::HELLO,
        branches: &[
            Replies(1),
            Replies(4),
            Replies(5),
            Replies(6),
            Replies(7),
            Replies(8),
            Replies(9),
            Replies(10),
            Replies(11),
            Replies(12),
            Replies(0),
            Replies(0),
            Replies(2),
            Replies(0),
            Replies(3),
        ],
        is_closed: false,
    },
    Topic {
        slug: "sunday-bread",
        title: "Which bread do you bake on Sundays?",
        url: Some("https://blog.example.com/2026/01/sunday-bread"),
        entity: Some(("post", "2")),
        voice: &texts::BREAD,
        branches: &[Replies(1), Replies(120), Replies(0), Replies(4)],
        is_closed: false,
    },
    Topic {
        slug: "kniga",
        title: "Какая книга не отпускала вас всю зиму?",
        url: Some("https://blog.example.com/ru/kniga-zimy"),
        entity: Some(("post", "3")),
        voice: &texts::KNIGA,
        branches: &[Chain(30), Replies(1), Replies(5), Replies(0), Replies(4)],
        is_closed: false,
    },
    Topic {
        slug: "balcon",
        title: "¿Qué plantas aguantan en un balcón con sombra?",
        url: Some("https://blog.example.com/es/balcon"),
        entity: Some(("post", "4")),
        voice: &texts::BALCON,
        branches: &[
            Replies(6),
            Replies(8),
            Replies(1),
            Replies(0),
            Replies(12),
            Replies(10),
        ],
        is_closed: false,
    },
    Topic {
        slug: "nachtzug",
        title: "Mit dem Nachtzug nach Wien: lohnt sich das?",
        url: Some("https://blog.example.com/de/nachtzug"),
        entity: Some(("post", "5")),
        voice: &texts::NACHTZUG,
        branches: &[
            Replies(9),
            Replies(5),
            Replies(0),
            Replies(7),
            Replies(1),
            Replies(12),
        ],
        is_closed: false,
    },
    Topic {
        slug: "asagohan",
        title: "朝ごはんに何を食べますか？",
        url: Some("https://blog.example.com/ja/asagohan"),
        entity: Some(("post", "6")),
        voice: &texts::ASAGOHAN,
        branches: &[
            Replies(4),
            Replies(11),
            Replies(1),
            Replies(6),
            Replies(0),
            Replies(9),
        ],
        is_closed: false,
    },
    Topic {
        slug: "almashy",
        title: "ما أفضل وقت للمشي في المدينة؟",
        url: Some("https://blog.example.com/ar/walking"),
        entity: Some(("post", "7")),
        voice: &texts::ALMASHY,
        branches: &[
            Replies(7),
            Replies(4),
            Replies(10),
            Replies(1),
            Replies(0),
            Replies(8),
        ],
        is_closed: false,
    },
    Topic {
        slug: "horef",
        title: "איזה מרק אתם מבשלים בחורף?",
        url: Some("https://blog.example.com/he/winter-soup"),
        entity: Some(("post", "8")),
        voice: &texts::HOREF,
        branches: &[
            Replies(5),
            Replies(8),
            Replies(0),
            Replies(1),
            Replies(6),
            Replies(11),
        ],
        is_closed: false,
    },
    Topic {
        slug: "harbour-fog",
        title: "📷 Photo of the week: fog over the harbour 🌫️",
        url: None,
        entity: Some(("photo", "314")),
        voice: &texts::HARBOUR,
        branches: &[
            Replies(3),
            Replies(7),
            Replies(0),
            Replies(0),
            Replies(9),
            Replies(1),
            Replies(12),
        ],
        is_closed: false,
    },
    Topic {
        slug: "velo",
        title: "Le vélo en ville : vos meilleures astuces",
        url: Some("https://blog.example.com/fr/velo?page=1"),
        entity: None,
        voice: &texts::VELO,
        branches: &[
            Replies(10),
            Replies(4),
            Replies(6),
            Replies(0),
            Replies(1),
            Replies(8),
        ],
        is_closed: false,
    },
    Topic {
        slug: "trilha",
        title: "Que trilha vocês recomendam para quem está começando?",
        url: Some("https://blog.example.com/pt/trilhas"),
        entity: Some(("post", "11")),
        voice: &texts::TRILHA,
        branches: &[Replies(5), Chain(8), Replies(12), Replies(0), Replies(9)],
        is_closed: false,
    },
    Topic {
        slug: "old-site",
        title: "From the archive: how we moved the old site",
        url: Some("https://blog.example.com/2025/old-site"),
        entity: Some(("post", "12")),
        voice: &texts::OLD_SITE,
        branches: &[Replies(1)],
        is_closed: true,
    },
];
