// Live changes of the app's records, over one WebSocket for all that the page shows.
import { paths, renew } from './api.js';

const watches = new Map(); // { collection, filter, changed } by the id of the subscription
const listeners = new Set();
let socket;
let lastId = 0;
let delay = 500;

/**
 * Calls `changed` whenever a record changes that the caller may list and that passes the filter, and once the stream has begun:
 * what was read before then may be old. Returns a function that ends it.
 */
export function watch(collection, filter, changed) {
  const id = String(++lastId);
  watches.set(id, { collection, filter, changed });
  if (socket?.readyState === WebSocket.OPEN) subscribe(id);
  else open();
  return () => {
    watches.delete(id);
    if (socket?.readyState === WebSocket.OPEN) say({ type: 'unsubscribe', id });
  };
}

/** Calls `changed` with true when the connection is there, and with false when it is lost. */
export function onConnection(changed) {
  listeners.add(changed);
  changed(socket?.readyState === WebSocket.OPEN);
}

/** Ends the connection of somebody who signs out. */
export function disconnect() {
  watches.clear();
  socket?.close();
  socket = undefined;
}

const say = (message) => socket.send(JSON.stringify(message));

function subscribe(id) {
  const { collection, filter } = watches.get(id);
  say({ type: 'subscribe', id, collection, ...(filter && { filter }) });
}

function open() {
  if (socket !== undefined) return;
  const opened = new WebSocket(`${location.origin.replace(/^http/, 'ws')}${paths.app}/realtime`);
  socket = opened;
  opened.onopen = () => {
    delay = 500;
    listeners.forEach((changed) => changed(true));
    for (const id of watches.keys()) subscribe(id);
  };
  opened.onmessage = ({ data }) => {
    const { type, id, event, record } = JSON.parse(data);
    // An error ends a subscription: reading the list anew says why.
    if (['subscribed', 'event', 'reset', 'error'].includes(type)) watches.get(id)?.changed({ event, record });
  };
  opened.onclose = ({ code }) => again(opened, code);
}

async function again(closed, code) {
  if (socket !== closed) return;
  socket = undefined;
  listeners.forEach((changed) => changed(false));
  // 4401: the access token has expired. A handshake that fails, as with an expired cookie, has no code of its own.
  if (code === 4401 || code === 1006) await renew();
  if (code !== 4401) await new Promise((resolve) => setTimeout(resolve, delay = Math.min(delay * 2, 15_000)));
  if (watches.size > 0) open();
}

/** Runs `work` soon, once for all calls of a moment, and never twice at a time. */
export function soon(work) {
  let timer;
  let running = Promise.resolve();
  return () => {
    clearTimeout(timer);
    timer = setTimeout(() => running = running.then(work), 60);
  };
}
