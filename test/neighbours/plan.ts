// What the attackers' process is asked to send, and what it tells of it.

/** Requests of some connections, sent again and again, each connection with one packet of them in flight. */
export interface Loop {
  /** Whole HTTP/1.1 requests, in turn. */
  requests: readonly string[];
  connections: number;
  /** Requests in one packet; 1 without it. */
  pipelined?: number;
  /** True for event streams and the like: the response has no end, and what comes of it is thrown away. */
  isHeld?: boolean;
}

/** Messages over WebSockets. */
export interface Chatter {
  path: string;
  sockets: number;
  message: string;
  /** Messages of each socket at once, every 30 ms. */
  burst: number;
}

/** All that one attack sends at once. */
export interface Load {
  loops?: readonly Loop[];
  chatter?: Chatter;
}

/** A load, and where and for how long it is sent. */
export interface AttackPlan extends Load {
  port: number;
  seconds: number;
}

/** Responses by status; `closed` counts connections that the server ended. */
export type Received = Record<string, number>;
