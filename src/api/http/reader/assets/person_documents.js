// What the page asks about people: whom one blocks, bans, and who answered.

import { COMMENT } from "./documents.js";

const CHANGED = `__typename
  ... on UserChanged { user { id name viewerBlocks } }
  ... on UserRefused { reason message limit }`;

export const BLOCK = `mutation Block($user: ID!) { blockUser(user: $user) { ${CHANGED} } }`;
export const UNBLOCK = `mutation Unblock($user: ID!) { unblockUser(user: $user) { ${CHANGED} } }`;
export const BAN = `mutation Ban($input: BanUserInput!) { banUser(input: $input) { ${CHANGED} } }`;

export const BLOCKED = `query Blocked($first: Int, $after: String) { viewer {
  blocked(first: $first, after: $after) { edges { node { id name } } pageInfo { hasNextPage endCursor } } } }`;

export const REPLIES_TO_ME = `query RepliesToMe($first: Int, $after: String) { viewer {
  replies(first: $first, after: $after) {
    unreadCount pageInfo { hasNextPage endCursor }
    edges { node { isUnread comment { ...Comment discussion { id title url } } } } } }
} ${COMMENT}`;

export const MARK_READ = `mutation MarkRead($upTo: ID!) { markRepliesRead(upTo: $upTo) { unreadCount } }`;

export const SEEN = `mutation Seen($discussion: ID!, $upTo: ID!) {
  markDiscussionSeen(discussion: $discussion, upTo: $upTo) { id } }`;

export const ERASE = `mutation Erase($confirm: ID!) { eraseMyData(confirm: $confirm) { state } }`;
