// Relays the questions that API processes ask one another, and the responses. The supervisor reads neither.
import type { PeerReport, PeerRequest } from './protocol.ts';

/** The connection of one API process to the others. */
export interface PeerClient {
  handle: (request: PeerRequest) => void;
  /** To be called when the process has exited. */
  close: () => void;
}

interface PeerMember {
  send: (report: PeerReport) => void;
}

interface Question {
  asker: PeerMember;
  waiting: Set<PeerMember>;
  responses: string[];
  timer: NodeJS.Timeout;
}

/** A process that takes longer is left out. Milliseconds. */
const responseTimeoutMs = 1_000;

/** The API processes that serve, and the questions under way between them. */
export class PeerRelay {
  readonly #members = new Set<PeerMember>();
  readonly #questions = new Map<string, Question>();

  /** Adds an API process that serves from now on. */
  join(send: PeerMember['send']): PeerClient {
    const member = { send };
    this.#members.add(member);
    return {
      handle: (request) => {
        if (request.type === 'peers_ask') this.#ask(member, request);
        else this.#respond(member, request);
      },
      close: () => {
        this.#members.delete(member);
        for (const [id, question] of this.#questions) {
          if (question.asker === member) this.#end(id, question);
          else this.#remove(id, question, member);
        }
      },
    };
  }

  #ask(asker: PeerMember, { id, question }: { id: string; question: string }): void {
    const waiting = new Set([...this.#members].filter((member) => member !== asker));
    const timer = setTimeout(() => this.#end(id, asked), responseTimeoutMs);
    const asked = { asker, waiting, responses: [], timer };
    this.#questions.set(id, asked);
    for (const member of waiting) member.send({ type: 'peer_asked', id, question });
    if (waiting.size === 0) this.#end(id, asked);
  }

  #respond(member: PeerMember, { id, response }: { id: string; response: string }): void {
    const question = this.#questions.get(id);
    if (question === undefined || !question.waiting.has(member)) return;
    question.responses.push(response);
    this.#remove(id, question, member);
  }

  #remove(id: string, question: Question, member: PeerMember): void {
    if (question.waiting.delete(member) && question.waiting.size === 0) this.#end(id, question);
  }

  #end(id: string, { asker, responses, timer }: Question): void {
    clearTimeout(timer);
    this.#questions.delete(id);
    if (this.#members.has(asker)) asker.send({ type: 'peers_responded', id, responses });
  }
}
