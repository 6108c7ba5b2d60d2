// What is left of a condition once a request has been put into it, and what of that the body still has to decide.
import type { Reach } from './condition.ts';

/** A condition in which only tests are negated, and what is unknown does not pass. */
export type Reduced<Rest> =
  | { kind: 'constant'; passes: boolean }
  | { kind: 'and' | 'or'; parts: readonly Reduced<Rest>[] }
  | Some<Rest>
  | Rest;

/** True when one of the related records passes the part; negated, when all of them do. */
export interface Some<Rest> {
  kind: 'some';
  reach: Reach;
  part: Reduced<Rest>;
  negated: boolean;
}

/** A part that the body decides, which only `foldEarly` leaves. */
export function findOpen<Rest extends { kind: string }>(reduced: Reduced<Rest>): Reduced<Rest> | undefined {
  if (reduced.kind === 'open') return reduced;
  if (isSome(reduced)) return findOpen(reduced.part);
  if (!isJoined(reduced)) return undefined;
  return reduced.parts.map((part) => findOpen(part)).find((part) => part !== undefined);
}

function isSome<Rest extends { kind: string }>(reduced: Reduced<Rest>): reduced is Some<Rest> {
  return reduced.kind === 'some';
}

function isJoined<Rest extends { kind: string }>(
  reduced: Reduced<Rest>,
): reduced is { kind: 'and' | 'or'; parts: readonly Reduced<Rest>[] } {
  return reduced.kind === 'and' || reduced.kind === 'or';
}
