// The scopes that `bulkhead login` asks for are all that the server knows.
import { expect, it } from 'vitest';
import { keyScopes } from '../../../api/contract/key-scopes.ts';
import { loginScopes } from '../../../supervisor/remote/scopes.ts';

it('are all scopes of each level', () => {
  const levels = ['server', 'workspace', 'app'] as const;
  for (const level of levels) {
    const known = Object.entries(keyScopes)
      .filter(([, { lowest }]) => levels.indexOf(lowest) >= levels.indexOf(level))
      .map(([scope]) => scope);
    expect([...loginScopes[level]].sort()).toEqual(known.sort());
  }
});
