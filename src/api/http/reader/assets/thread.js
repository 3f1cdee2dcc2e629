// The comments that are shown: each once, by its id, in the order of their dates.
//
// In threads a reply lies under what it answers. Where that is not loaded, or deeper than a phone
// can show, it lies in its branch with a line that says whom it answers; when the other arrives,
// the reply moves under it.

import { drawComment, redraw } from "./comment.js";
import { button, el } from "./dom.js";
import { count } from "./words.js";

/** Levels that are drawn one in another. */
const LEVELS_MAX = 4;

export class Thread {
  /** `acts(node)`: the buttons of a comment; `marksOf(node)`: badges; `moreReplies(item, back)`. */
  constructor({ threaded, newestFirst, acts, marksOf, moreReplies, discussion }) {
    Object.assign(this, { threaded, newestFirst, acts, marksOf, moreReplies, discussion });
    this.list = el("ol", { class: threaded ? "comments threads" : "comments by-date" });
    this.items = new Map();
    this.waiting = new Map();
  }

  get(id) {
    return this.items.get(id);
  }

  /** A page of the list; `ahead`: it comes before what is shown. */
  addPage(edges, ahead = false) {
    const ordered = ahead ? [...edges].reverse() : edges;
    const added = ordered.map(({ node, replies }) => this.addRoot(node, replies, ahead));
    return ahead ? added.reverse() : added;
  }

  addRoot(node, replies = null, ahead = false) {
    const item = this.place(node, null, ahead);
    if (replies) this.setBranch(item, replies, ahead);
    return item;
  }

  /** A page of a branch, and where it lies. */
  setBranch(root, page, ahead = false) {
    const branch = root.branch ?? { start: null, end: null, hasBefore: false, hasAfter: false };
    const isFirst = root.branch === undefined || root.branch === null;
    root.branch = branch;
    const nodes = page.edges.map((edge) => edge.node);
    for (const node of ahead && !isFirst ? nodes.reverse() : nodes) this.place(node, root, ahead && !isFirst);
    if (isFirst || ahead) [branch.start, branch.hasBefore] = [page.pageInfo.startCursor ?? branch.start, page.pageInfo.hasPreviousPage];
    if (isFirst || !ahead) [branch.end, branch.hasAfter] = [page.pageInfo.endCursor ?? branch.end, page.pageInfo.hasNextPage];
    branch.total = page.totalCount ?? branch.total ?? null;
    this.drawBranch(root);
  }

  /** Puts a comment where it belongs, or draws it anew where it is. */
  place(node, root, ahead = false) {
    const known = this.items.get(node.id);
    if (known) {
      this.update(node);
      return known;
    }
    const item = { id: node.id, node, root, level: 0, nested: false, kids: null, li: null, branch: null };
    this.items.set(node.id, item);
    item.li = el("li", { class: "item" });
    this.insert(item, ahead);
    item.article = drawComment(node, this.drawing(item));
    item.li.prepend(item.article);
    this.gather(item);
    return item;
  }

  drawing(item) {
    return {
      discussion: this.discussion,
      acts: this.acts,
      marks: { ...this.marksOf?.(item.node), isSending: item.sending ?? null },
      answersWhom: item.node.parent && !item.nested,
    };
  }

  insert(item, ahead) {
    const { root } = item;
    let into = root ? this.kidsOf(root) : this.list;
    const parent = root && item.node.parent ? this.items.get(item.node.parent.id) : null;
    item.nested = Boolean(parent) && (parent === root || parent.level < LEVELS_MAX);
    if (parent && item.nested) {
      into = this.kidsOf(parent);
      item.level = parent.level + 1;
    } else if (parent) {
      into = parent.li.parentElement;
      item.level = parent.level;
    } else if (root) {
      item.level = 1;
      if (item.node.parent) this.wait(item);
    }
    const flip = into === this.list && this.newestFirst ? -1 : 1;
    const time = flip * Date.parse(item.node.createdAt);
    item.time = time;
    item.li.item = item;
    let before = null;
    for (let at = into.lastElementChild; at; at = at.previousElementSibling) {
      const other = at.item?.time;
      if (other !== undefined && (ahead ? other < time : other <= time)) break;
      before = at;
    }
    into.insertBefore(item.li, before);
  }

  wait(item) {
    const id = item.node.parent.id;
    const others = this.waiting.get(id) ?? new Set();
    this.waiting.set(id, others.add(item));
  }

  /** What waited for this one to lie under it. */
  gather(item) {
    const others = this.waiting.get(item.id);
    if (!others) return;
    this.waiting.delete(item.id);
    for (const other of others) {
      this.insert(other, false);
      redraw(other.article, other.node, this.drawing(other));
    }
  }

  kidsOf(item) {
    if (!item.kids) {
      item.kids = el("ol", { class: "kids", "aria-label": "Replies" });
      item.li.append(item.kids);
    }
    return item.kids;
  }

  /** Draws what changed; forms stay. */
  update(node) {
    const item = this.items.get(node.id);
    if (!item || node.revision < item.node.revision) return item;
    const { viewerCan, ...facts } = node;
    const before = JSON.stringify(item.node);
    item.node = { ...item.node, ...facts, ...(viewerCan ? { viewerCan } : {}) };
    if (before === JSON.stringify(item.node)) return item;
    redraw(item.article, item.node, this.drawing(item));
    return item;
  }

  /** Says beside the name what is under way; null: nothing. */
  mark(item, text) {
    item.sending = text;
    redraw(item.article, item.node, this.drawing(item));
  }

  /** Draws all anew: rights or marks have changed. */
  redrawAll() {
    for (const item of this.items.values()) redraw(item.article, item.node, this.drawing(item));
  }

  /** Takes a comment and all below it away. Gives how many went. */
  remove(id) {
    const item = this.items.get(id);
    if (!item) return 0;
    const gone = [...this.items.values()].filter((other) => other === item || item.li.contains(other.li)
      || this.isBelow(other, item));
    const held = gone.some((other) => other.li.contains(document.activeElement));
    const next = held ? this.neighbour(item) : null;
    for (const other of gone) {
      other.li.remove();
      this.items.delete(other.id);
    }
    next?.article.focus({ preventScroll: true });
    return gone.length;
  }

  isBelow(other, item) {
    if (other.root === item) return true;
    for (let at = other; at; at = at.node.parent ? this.items.get(at.node.parent.id) : null) {
      if (at === item) return true;
      if (at.node.parent?.id === item.id) return true;
    }
    return false;
  }

  neighbour(item) {
    const near = item.li.nextElementSibling ?? item.li.previousElementSibling ?? item.li.parentElement?.closest("li.item");
    return near?.item ?? null;
  }

  /** The buttons of a branch: earlier and further replies, and folding it. */
  drawBranch(root) {
    const { branch } = root;
    const kids = this.kidsOf(root);
    const shown = this.repliesShown(root);
    const left = branch.total === null ? null : Math.max(branch.total - shown, 0);
    const held = root.bars?.some((bar) => bar.contains(document.activeElement));
    for (const bar of root.bars ?? []) bar.remove();
    const bar = (text, back) => el("div", { class: "branch-bar" },
      button(text, (event) => this.moreReplies(root, back, event.currentTarget), { class: "link" }));
    const both = branch.hasBefore && branch.hasAfter;
    const many = left && !both ? count(left, "more reply", "more replies") : "more replies";
    const early = left && !both ? count(left, "earlier reply", "earlier replies") : "earlier replies";
    const before = branch.hasBefore ? bar(`Show ${early}`, true) : null;
    const after = branch.hasAfter ? bar(`Show ${many}`, false) : null;
    if (before) root.li.insertBefore(before, kids);
    if (after) root.li.append(after);
    root.bars = [before, after].filter(Boolean);
    if (held) (root.bars[0]?.querySelector("button") ?? root.article).focus({ preventScroll: true });
    kids.hidden = shown === 0;
  }

  repliesShown(root) {
    let shown = 0;
    for (const item of this.items.values()) if (item.root === root) shown += 1;
    return shown;
  }
}
