//! What the made-up community promises, and that its texts would pass for people's.

use std::collections::{HashMap, HashSet};

use super::*;
use crate::domain::body;
use crate::domain::comment::CommentState;
use crate::domain::text::{TextLimits, check_body, check_name};
use crate::domain::urls::EntityRef;
use crate::store::comments::ImportComment;

fn all() -> Vec<(&'static Topic, Vec<ImportComment>)> {
    let topics = TOPICS.iter().enumerate();
    topics
        .map(|(number, topic)| (topic, plan::comments(number, topic)))
        .collect()
}

#[test]
fn the_community_has_about_six_hundred_comments_and_every_shape_it_promises() {
    let all = all();
    let count: usize = all.iter().map(|(_, comments)| comments.len()).sum();
    assert!((500..=700).contains(&count), "{count}");
    let deepest = all.iter().map(|(_, comments)| depth(comments)).max();
    assert_eq!(deepest, Some(30));
    let longest = TOPICS.iter().flat_map(|topic| topic.branches);
    assert_eq!(longest.map(|branch| branch.replies()).max(), Some(120));
    assert!(TOPICS.iter().any(|topic| topic.is_closed));
}

fn depth(comments: &[ImportComment]) -> usize {
    let mut depths: HashMap<&str, usize> = HashMap::new();
    for comment in comments {
        let parent = comment.parent_source_id.as_deref();
        let depth = parent.map_or(0, |parent| depths[parent] + 1);
        depths.insert(&comment.source_id, depth);
    }
    depths.into_values().max().unwrap_or_default()
}

#[test]
fn parents_come_first_ids_differ_and_nobody_answers_themselves() {
    for (topic, comments) in all() {
        let mut authors: HashMap<&str, UserId> = HashMap::new();
        for comment in &comments {
            if let Some(parent) = &comment.parent_source_id {
                let author = authors[parent.as_str()];
                assert!(
                    author != comment.author_id || author == UserId::NOBODY,
                    "{}",
                    comment.source_id
                );
            }
            let earlier = authors.insert(&comment.source_id, comment.author_id);
            assert_eq!(earlier, None, "{}: {}", topic.slug, comment.source_id);
        }
    }
}

#[test]
fn every_text_title_name_and_key_passes_the_rules_for_people() {
    let limits = TextLimits::default();
    for (topic, comments) in all() {
        crate::domain::text::check_title(topic.title).unwrap();
        if let Some(url) = topic.url {
            CanonicalUrl::parse(url, &[]).unwrap();
        }
        if let Some((kind, id)) = topic.entity {
            EntityRef::new(kind.to_owned(), id.to_owned()).unwrap();
        }
        for comment in comments
            .iter()
            .filter(|c| c.state == CommentState::Published)
        {
            check_body(&comment.body, &limits).unwrap();
            body::check(&comment.body, comment.format, &limits).unwrap();
        }
    }
    for name in PEOPLE {
        check_name(name).unwrap();
    }
}

#[test]
fn keys_are_claimed_once_and_the_known_one_is_the_first() {
    let urls: Vec<&str> = TOPICS.iter().filter_map(|topic| topic.url).collect();
    let entities: Vec<_> = TOPICS.iter().filter_map(|topic| topic.entity).collect();
    assert_eq!(urls.iter().collect::<HashSet<_>>().len(), urls.len());
    assert_eq!(
        entities.iter().collect::<HashSet<_>>().len(),
        entities.len()
    );
    assert_eq!(TOPICS[0].url, Some(KNOWN_URL));
    assert_eq!(TOPICS[0].entity, Some(KNOWN_ENTITY));
}

#[test]
fn buried_ones_are_empty_and_some_were_answered() {
    let mut answered = 0;
    for (_, comments) in all() {
        for comment in comments.iter().filter(|c| c.state == CommentState::Buried) {
            assert_eq!(
                (comment.body.as_str(), comment.author_id),
                ("", UserId::NOBODY)
            );
            let is_answered = comments
                .iter()
                .any(|other| other.parent_source_id.as_ref() == Some(&comment.source_id));
            answered += usize::from(is_answered);
        }
    }
    assert!(answered >= 5, "{answered}");
}
