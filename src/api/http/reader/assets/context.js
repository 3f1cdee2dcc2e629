// The surroundings of one comment, as a list whose ends are open: further pages go on from them.

/** Fills a view's empty thread with a comment, what is above it and what is around it. */
export function takeContext(view, context) {
  const { focus, before, after, gapBefore, gapAfter } = context;
  const ends = {
    start: gapBefore?.cursor ?? null, hasBefore: Boolean(gapBefore), before: gapBefore,
    end: gapAfter?.cursor ?? null, hasAfter: Boolean(gapAfter), after: gapAfter,
  };
  if (view.thread.threaded && focus.root) {
    takeBranch(view, context, ends);
    return;
  }
  Object.assign(view.edge, ends);
  for (const node of [...before, focus, ...after]) view.thread.addRoot(node, node.replies ?? null);
}

/** A reply: its root, its ancestors, its neighbours in the branch. */
function takeBranch(view, { focus, before, after, ancestors }, ends) {
  const { thread } = view;
  const root = thread.addRoot(focus.root);
  const above = (ancestors?.edges ?? []).map((edge) => edge.node);
  for (const node of [...above, ...before, focus, ...after]) {
    if (node.id !== root.id) thread.place(node, root);
  }
  root.branch = { ...ends, total: null };
  thread.drawBranch(root);
}
