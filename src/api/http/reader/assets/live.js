// The socket of one discussion. It comes back after every loss, from the last event that was
// applied, and gives each event once.

import { socketPayload } from "./identity.js";

const SEEN_MAX = 2_000;
const WAIT_MS = 1_000;
const WAIT_MAX_MS = 30_000;
/** Without an introduction answered within this, the connection counts as lost. */
const ACK_MS = 10_000;

export class Live {
  /** `event(event)`, `state("live" | "off")`. */
  constructor(query, discussion, after, { event, state }) {
    Object.assign(this, { query, discussion, after, event, state });
    this.seen = new Set();
    this.losses = 0;
    this.timer = 0;
  }

  start() {
    this.isStopped = false;
    this.connect();
    this.online = () => this.again(0);
    addEventListener("online", this.online);
  }

  stop() {
    this.isStopped = true;
    clearTimeout(this.timer);
    removeEventListener("online", this.online);
    this.socket?.close(1000);
    this.socket = null;
  }

  connect() {
    clearTimeout(this.timer);
    const address = new URL("/graphql", location.href);
    address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(address, "graphql-transport-ws");
    this.socket = socket;
    const late = setTimeout(() => socket.close(), ACK_MS);
    const send = (message) => socket.send(JSON.stringify(message));
    socket.onopen = () => send({ type: "connection_init", payload: socketPayload() });
    socket.onclose = () => {
      clearTimeout(late);
      if (this.socket === socket) this.lost();
    };
    socket.onmessage = ({ data }) => {
      if (this.socket !== socket) return;
      const message = JSON.parse(data);
      if (message.type === "ping") send({ type: "pong" });
      if (message.type === "connection_ack") {
        clearTimeout(late);
        const variables = { discussion: this.discussion, after: this.after };
        send({ type: "subscribe", id: "1", payload: { query: this.query, variables } });
        this.losses = 0;
        this.state("live");
      }
      if (message.type === "next") this.take(message.payload);
      if (message.type === "error" || message.type === "complete") socket.close(1000);
    };
  }

  take({ data }) {
    const event = data?.commentEvents;
    if (!event) return;
    this.after = event.id;
    if (this.seen.has(event.id)) return;
    this.seen.add(event.id);
    if (this.seen.size > SEEN_MAX) this.seen.delete(this.seen.values().next().value);
    this.event(event);
  }

  lost() {
    if (this.isStopped) return;
    this.state("off");
    // Up to half of the wait is chance, so that a restart is not met by everybody at once.
    const wait = Math.min(WAIT_MS * 2 ** this.losses, WAIT_MAX_MS);
    this.losses += 1;
    this.again(wait * (0.5 + Math.random() / 2));
  }

  again(wait) {
    clearTimeout(this.timer);
    if (this.isStopped || this.socket?.readyState === WebSocket.OPEN) return;
    this.timer = setTimeout(() => this.connect(), wait);
  }
}
