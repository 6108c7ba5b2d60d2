// Everything a feature may need, built once in main.ts and handed down; a function asks for a `Pick` of it.
import type { Databases } from '../storage/databases.ts';
import type { Config } from '../supervisor/protocol.ts';
import type { AccessTokens } from './auth/tokens.ts';
import type { Observe } from './observe.ts';
import type { Definitions } from './target.ts';

/** The parts of one API process. */
export interface Deps {
  config: Config;
  /** The clock; requests read it once. */
  now: () => Date;
  /** A new v7 UUID. */
  newId: () => string;
  databases: Databases;
  definitions: Definitions;
  tokens: AccessTokens;
  observe: Observe;
  /** Whether the first-run setup is complete; turns true once and stays. */
  setup: { initialized: boolean };
}
