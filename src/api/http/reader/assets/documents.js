// What the page asks for. Fields that a page does not show are not asked for.

export const COMMENT = `fragment Comment on Comment {
  id createdAt editedAt revision state depth
  author { id name }
  body { html text }
  parent { id state author { id name } body { text } }
  viewerCan { reply edit delete moderate }
}`;

// What an event tells: the same for everybody, so nothing about this viewer.
const TOLD = `fragment Told on Comment {
  id createdAt editedAt revision state depth root { id }
  author { id name }
  body { html text }
  parent { id state author { id name } body { text } }
}`;

const DISCUSSION = `fragment Discussion on Discussion {
  id title url entity { type id } state premoderated createdAt
  counts { visible roots replies }
}`;

const PINS = `fragment Pins on Discussion {
  pinned { id author { id name } body { text } }
}`;

const REPLIES = `fragment Replies on CommentConnection {
  totalCount
  edges { cursor node { ...Comment } }
  pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
}`;

const PAGE = `fragment Page on CommentConnection {
  mode modeReason totalCount
  edges { cursor node { ...Comment } replies(first: $replies) { ...Replies } }
  pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
}`;

const WINDOW = `$mode: CommentsMode!, $order: CommentOrder!, $replies: Int!,
  $first: Int, $after: String, $last: Int, $before: String`;
const COMMENTS = `comments(mode: $mode, order: $order, first: $first, after: $after,
  last: $last, before: $before) { ...Page }`;

export const VIEWER = `query Viewer { viewer { role user { id name } replies(first: 1) { unreadCount } } }`;

/** A discussion by id, address or entity, with its first page. */
export const OPEN = `query Open($id: ID, $url: URL, $entity: EntityInput, ${WINDOW}) {
  discussion(id: $id, url: $url, entity: $entity) { ...Discussion ...Pins viewerCan { comment moderate } viewerSeenAt newComments { count atLeast } liveCursor ${COMMENTS} }
} ${DISCUSSION} ${PINS} ${PAGE} ${REPLIES} ${COMMENT}`;

/** Another page of the same. */
export const MORE = `query More($id: ID!, ${WINDOW}) {
  discussion(id: $id) { counts { visible roots replies } ${COMMENTS} }
} ${PAGE} ${REPLIES} ${COMMENT}`;

/** A page of a branch. */
export const MORE_REPLIES = `query MoreReplies($id: ID!, $first: Int, $after: String, $last: Int, $before: String) {
  comment(id: $id) {
    id replies(first: $first, after: $after, last: $last, before: $before) { ...Replies }
  }
} ${REPLIES} ${COMMENT}`;

/** The way to one comment. */
export const CONTEXT = `query Context($id: ID!, $comment: ID!, $siblings: Int!, $replies: Int!) {
  discussion(id: $id) { ...Discussion ...Pins viewerCan { comment moderate } viewerSeenAt newComments { count atLeast } liveCursor
    context(comment: $comment, siblings: $siblings) {
      mode modeReason
      focus { ...Comment root { ...Comment } replies(first: $replies) { ...Replies } }
      ancestors(last: 20) { totalCount edges { node { ...Comment } } pageInfo { hasPreviousPage } }
      before { ...Comment replies(first: $replies) { ...Replies } }
      after { ...Comment replies(first: $replies) { ...Replies } }
      gapBefore { count atLeast cursor }
      gapAfter { count atLeast cursor }
    }
  }
} ${DISCUSSION} ${PINS} ${REPLIES} ${COMMENT}`;

export const EVENTS = `subscription Events($discussion: ID!, $after: ID) {
  commentEvents(discussion: $discussion, after: $after) {
    id kind commentId comment { ...Told } discussion { ...Discussion ...Pins }
  }
} ${TOLD} ${DISCUSSION} ${PINS}`;

/** A discussion without its comments. */
export const FACTS = `query Facts($id: ID!) {
  discussion(id: $id) { ...Discussion ...Pins }
} ${DISCUSSION} ${PINS}`;

/** Comments that are shown, anew. */
export const AGAIN = `query Again($ids: [ID!]!) { nodes(ids: $ids) { ...Comment } } ${COMMENT}`;

/** How much hangs below those that head a branch. */
export const BRANCHES = `query Branches($ids: [ID!]!) {
  nodes(ids: $ids) { ... on Comment { id counts { visible } } }
}`;

export const ONE = `query One($id: ID!) {
  comment(id: $id) { ...Comment root { id } body { html text source format } }
} ${COMMENT}`;

const WRITTEN = `__typename
  ... on CommentWritten { comment { ...Comment root { id } discussion { ...Discussion } } readAfter replayed }
  ... on CommentRefused { reason code message limit actual comment { ...Comment body { html text source format } } }`;

const write = (name, input, extra = "") =>
  `mutation ${name[0].toUpperCase() + name.slice(1)}($input: ${input}!) {
    ${name}(input: $input) { ${WRITTEN} } } ${COMMENT} ${DISCUSSION} ${extra}`;

export const CREATE = write("createComment", "CreateCommentInput");
export const EDIT = write("editComment", "EditCommentInput");
export const DELETE = write("deleteComment", "DeleteCommentInput");
export const HIDE = write("hideComment", "ModerateCommentInput");
export const RESTORE = write("restoreComment", "ModerateCommentInput");
export const APPROVE = write("approveComment", "ModerateCommentInput");

export const SET_STATE = `mutation SetState($discussion: ID!, $state: DiscussionState!) {
  setDiscussionState(discussion: $discussion, state: $state) { ...Discussion }
} ${DISCUSSION}`;

export const SET_PREMODERATION = `mutation SetPremoderation($discussion: ID!, $premoderated: Boolean!) {
  setPremoderation(discussion: $discussion, premoderated: $premoderated) { ...Discussion }
} ${DISCUSSION}`;

export const PIN = `mutation Pin($input: PinCommentsInput!) { pinComments(input: $input) { __typename
  ... on DiscussionWritten { readAfter discussion { ...Discussion ...Pins } }
  ... on CommentRefused { reason code message limit actual } } } ${DISCUSSION} ${PINS}`;

export const REPORT = `mutation Report($input: ReportCommentInput!) { reportComment(input: $input) { __typename
  ... on CommentReported { repeated }
  ... on CommentRefused { reason code message limit actual } } }`;

export const DISMISS = `mutation Dismiss($input: DismissReportsInput!) { dismissReports(input: $input) { __typename
  ... on ReportsDismissed { dismissed }
  ... on CommentRefused { reason code message limit actual } } }`;

export const QUEUE = `query Queue($first: Int, $after: String, $discussion: ID, $kind: QueueKind, $reason: ReportReason) {
  moderationQueue(first: $first, after: $after, discussion: $discussion, kind: $kind, reason: $reason) {
    totalCount pageInfo { hasNextPage endCursor }
    edges { node { kinds since reportCount
      reports(first: 10) { id reason text }
      comment { ...Comment discussion { id title url } } } }
  }
} ${COMMENT}`;

export const LIST = `query List($first: Int, $after: String, $last: Int, $before: String) {
  discussions(first: $first, after: $after, last: $last, before: $before) {
    edges { cursor node { ...Discussion } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
  }
} ${DISCUSSION}`;
