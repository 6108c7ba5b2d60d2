// The other API processes of this server: asked through the supervisor, and answered.
import { randomUUID } from 'node:crypto';
import type { PeerReport, PeerRequest } from '../../supervisor/protocol.ts';

/** What the others depend on. */
export interface PeersOptions {
  send: (request: PeerRequest) => void;
  /** Whether this is the only process. */
  isAlone: boolean;
  /** What is answered to a question of another process. */
  answer: (question: string) => Promise<string>;
}

/** The supervisor has given up by then. Milliseconds. */
const patience = 2_000;

/** The other processes. */
export class ApiPeers {
  readonly #options: PeersOptions;
  readonly #asked = new Map<string, (answers: readonly string[]) => void>();

  constructor(options: PeersOptions) {
    this.#options = options;
  }

  /** Whether there are no others. */
  get isAlone(): boolean {
    return this.#options.isAlone;
  }

  /** What those answer that do so in time. Never throws. */
  async ask(question: string): Promise<readonly string[]> {
    if (this.isAlone) return [];
    const id = randomUUID();
    const { promise, resolve } = Promise.withResolvers<readonly string[]>();
    this.#asked.set(id, resolve);
    const late = setTimeout(() => resolve([]), patience);
    this.#options.send({ type: 'peers_ask', id, question });
    return await promise.finally(() => {
      clearTimeout(late);
      this.#asked.delete(id);
    });
  }

  /** Takes what the supervisor says of them. A question that cannot be answered has no answer. */
  receive(report: PeerReport): void {
    if (report.type === 'peers_answered') return this.#asked.get(report.id)?.(report.answers);
    const { id, question } = report;
    this.#options.answer(question).then(
      (answer) => this.#options.send({ type: 'peers_answer', id, answer }),
      () => 'whoever asked goes on without it',
    );
  }
}
