//! A discussion read whole, by date and as threads, and what must hold between the two.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use crate::client::Client;

const NODE: &str = "id depth state revision createdAt editedAt body { text } author { id name } \
     parent { id }";
const REST: &str = "query ($id: ID!, $after: String) { node(id: $id) { ... on Comment { \
     list: replies(first: 100, after: $after) ";
const INFO: &str = "pageInfo { hasNextPage endCursor }";

/// A discussion as its readers see it.
#[derive(Debug)]
pub(crate) struct Seen {
    /// Every listed comment by its id, as `NODE` reads it.
    pub(crate) comments: BTreeMap<String, Value>,
    /// Their ids by date.
    pub(crate) order: Vec<String>,
    /// `[total, published, visible, roots, replies]`.
    pub(crate) counts: [i64; 5],
}

/// Reads a discussion by date and as threads, and finds the same in both, with counts that agree.
pub(crate) async fn read(client: &Client, discussion: &Value) -> Seen {
    let linear = linear(client, discussion).await;
    let threaded = threaded(client, discussion).await;
    let order: Vec<String> = linear.iter().map(id_of).collect();
    let comments: BTreeMap<String, Value> = linear
        .into_iter()
        .map(|node| (id_of(&node), node))
        .collect();
    assert_eq!(
        comments.len(),
        order.len(),
        "listed twice by date: {order:?}"
    );
    let mut in_threads = BTreeMap::new();
    for node in threaded {
        let twice = in_threads.insert(id_of(&node), node);
        assert!(twice.is_none(), "listed twice in threads: {twice:?}");
    }
    for (id, node) in &comments {
        let other = in_threads.remove(id);
        assert_eq!(
            Some(node),
            other.as_ref(),
            "by date and in threads: {discussion}"
        );
    }
    assert!(in_threads.is_empty(), "only in threads: {in_threads:?}");
    let counts = counts(client, discussion).await;
    let published = comments
        .values()
        .filter(|node| node["state"] == "PUBLISHED");
    let (roots, replies): (Vec<&Value>, Vec<&Value>) =
        published.partition(|node| node["depth"] == 0);
    let listed = [roots.len() + replies.len(), roots.len(), replies.len()];
    let listed = listed.map(|count| i64::try_from(count).unwrap());
    assert_eq!(
        counts[2..],
        listed,
        "counts and lists disagree: {discussion}"
    );
    Seen {
        comments,
        order,
        counts,
    }
}

impl Seen {
    /// By date, every comment comes after what it answers, if that is listed.
    pub(crate) fn parents_come_first<'a>(&self, parent: impl Fn(&str) -> Option<&'a String>) {
        let places = self.order.iter().enumerate();
        let places: BTreeMap<&str, usize> = places.map(|(at, id)| (id.as_str(), at)).collect();
        for (at, id) in self.order.iter().enumerate() {
            let above = parent(id).and_then(|parent| places.get(parent.as_str()));
            assert!(
                above.is_none_or(|above| *above < at),
                "{id} before its parent"
            );
        }
    }
}

/// At most 100 comments by their ids; `Value::Null` in the place of each that cannot be seen.
pub(crate) async fn by_ids(client: &Client, ids: &[&str]) -> Vec<Value> {
    let query =
        format!("query ($ids: [ID!]!) {{ nodes(ids: $ids) {{ ... on Comment {{ {NODE} }} }} }}");
    let data = client.read(&query, json!({ "ids": ids })).await;
    let nodes = data["nodes"].as_array().unwrap();
    assert_eq!(nodes.len(), ids.len());
    nodes.clone()
}

/// Whether there is such a discussion.
pub(crate) async fn is_there(client: &Client, discussion: &Value) -> bool {
    let query = "query ($url: URL, $id: ID) { discussion(url: $url, id: $id) { id } }";
    let data = client.read(query, discussion.clone()).await;
    !data["discussion"].is_null()
}

fn id_of(node: &Value) -> String {
    node["id"].as_str().unwrap().to_owned()
}

/// Waits until a discussion that is too large to be indexed while it is read can be read in threads.
pub(crate) async fn until_threaded(client: &Client, discussion: &Value) {
    let query = "query ($url: URL, $id: ID) { discussion(url: $url, id: $id) { \
         comments(mode: THREADED, first: 1) { mode modeReason } } }";
    let threaded = async {
        loop {
            let data = client.read(query, discussion.clone()).await;
            let page = &data["discussion"]["comments"];
            if page["mode"] == "THREADED" {
                return;
            }
            assert_eq!(page["modeReason"], "INDEX", "{discussion}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let in_time = tokio::time::timeout(Duration::from_mins(1), threaded).await;
    assert!(in_time.is_ok(), "the index is never built: {discussion}");
}

async fn counts(client: &Client, discussion: &Value) -> [i64; 5] {
    let query = "query ($url: URL, $id: ID) { discussion(url: $url, id: $id) { counts { total \
         published visible roots replies } } }";
    let data = client.read(query, discussion.clone()).await;
    let counts = &data["discussion"]["counts"];
    ["total", "published", "visible", "roots", "replies"].map(|name| {
        let count = counts[name].as_i64();
        count.unwrap_or_else(|| panic!("{discussion}: {data}"))
    })
}

async fn linear(client: &Client, discussion: &Value) -> Vec<Value> {
    let arguments = "mode: LINEAR, first: 100";
    let pages = pages(client, discussion, arguments, "LINEAR", "").await;
    let mut nodes = Vec::new();
    for page in &pages {
        nodes.extend(nodes_of(page));
    }
    let total = pages[0]["totalCount"].as_u64().unwrap();
    assert_eq!(total, u64::try_from(nodes.len()).unwrap(), "{discussion}");
    nodes
}

async fn threaded(client: &Client, discussion: &Value) -> Vec<Value> {
    let replies = format!("replies(first: 20) {{ {INFO} edges {{ node {{ {NODE} }} }} }}");
    let arguments = "mode: THREADED, first: 100";
    let mut nodes = Vec::new();
    for page in pages(client, discussion, arguments, "THREADED", &replies).await {
        for edge in page["edges"].as_array().unwrap() {
            nodes.push(edge["node"].clone());
            nodes.extend(branch(client, edge).await);
        }
    }
    nodes
}

/// Everything below a root: what its edge has, and the pages after that.
async fn branch(client: &Client, edge: &Value) -> Vec<Value> {
    let mut page = edge["replies"].clone();
    let mut nodes = nodes_of(&page);
    while page["pageInfo"]["hasNextPage"] == true {
        let query = format!("{REST} {{ {INFO} edges {{ node {{ {NODE} }} }} }} }} }} }}");
        let variables = json!({
            "id": edge["node"]["id"], "after": page["pageInfo"]["endCursor"],
        });
        page = client.read(&query, variables).await["node"]["list"].clone();
        nodes.extend(nodes_of(&page));
    }
    nodes
}

/// Every page of a list.
async fn pages(
    client: &Client,
    discussion: &Value,
    arguments: &str,
    mode: &str,
    beside: &str,
) -> Vec<Value> {
    let query = format!(
        "query ($url: URL, $id: ID, $after: String) {{ discussion(url: $url, id: $id) {{ \
         comments({arguments}, after: $after) {{ mode modeReason totalCount {INFO} edges {{ \
         node {{ {NODE} }} {beside} }} }} }} }}"
    );
    let mut pages: Vec<Value> = Vec::new();
    let mut after = Value::Null;
    loop {
        let mut variables = discussion.clone();
        variables["after"] = after.clone();
        let data = client.read(&query, variables).await;
        let page = data["discussion"]["comments"].clone();
        assert_eq!(page["mode"], mode, "{discussion}: {}", page["modeReason"]);
        let info = page["pageInfo"].clone();
        pages.push(page);
        if info["hasNextPage"] == false {
            return pages;
        }
        after = info["endCursor"].clone();
    }
}

fn nodes_of(page: &Value) -> Vec<Value> {
    let edges = page["edges"].as_array();
    let edges = edges.unwrap_or_else(|| panic!("no page: {page}"));
    edges.iter().map(|edge| edge["node"].clone()).collect()
}
