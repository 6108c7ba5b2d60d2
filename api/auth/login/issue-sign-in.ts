// The tokens of a completed sign-in.
import type { Deps } from '../../deps.ts';
import type { TokenPair } from '../sessions/cookies.ts';
import { issueTokens, type SessionDraft } from '../sessions/sessions.ts';
import type { Attempt } from './attempt.ts';
import { signKnownClient } from './known-client.ts';

/** Issues the tokens of a session whose row is stored, and marks the client as one that has signed in. */
export async function issueSignIn(
  deps: Pick<Deps, 'tokens' | 'secrets' | 'newId'>,
  { subject }: Attempt,
  draft: SessionDraft,
): Promise<TokenPair> {
  return { ...await issueTokens(deps, draft), knownClient: signKnownClient(deps, subject) };
}
