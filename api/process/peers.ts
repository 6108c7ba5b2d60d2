// Queries between the API processes of one server, which the supervisor passes on.
import { randomUUID } from 'node:crypto';
import type { PeerReport, PeerRequest } from '../../supervisor/protocol.ts';

/** The parts that `ApiPeers` depends on. */
export interface PeersOptions {
  send: (request: PeerRequest) => void;
  /** True when this is the only process. */
  isAlone: boolean;
  /** Responds to a query of another process. */
  respond: (question: string) => Promise<string>;
}

/** The supervisor has given up by then. */
const timeoutMs = 2_000;

/** The other API processes. */
export class ApiPeers {
  readonly #options: PeersOptions;
  readonly #pending = new Map<string, (responses: readonly string[]) => void>();

  constructor(options: PeersOptions) {
    this.#options = options;
  }

  /** True when there are no others. */
  get isAlone(): boolean {
    return this.#options.isAlone;
  }

  /** Queries all others. Resolves with the responses that arrive in time. Never throws. */
  async query(question: string): Promise<readonly string[]> {
    if (this.isAlone) return [];
    const id = randomUUID();
    const { promise, resolve } = Promise.withResolvers<readonly string[]>();
    this.#pending.set(id, resolve);
    const timeout = setTimeout(() => resolve([]), timeoutMs);
    this.#options.send({ type: 'peers_ask', id, question });
    return await promise.finally(() => {
      clearTimeout(timeout);
      this.#pending.delete(id);
    });
  }

  /** Takes a message of the supervisor. A query that fails here gets no response: its sender goes on without it. */
  receive(report: PeerReport): void {
    if (report.type === 'peers_responded') return this.#pending.get(report.id)?.(report.responses);
    const { id, question } = report;
    this.#options.respond(question).then(
      (response) => this.#options.send({ type: 'peers_response', id, response }),
      () => undefined,
    );
  }
}
