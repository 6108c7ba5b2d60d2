// The events that hook files register handlers for: one table, from which the runner and the API derive what they know of them.
import type { HookRecord } from './calls.ts';

/** The subject of an event, and the payload that its invocations carry. */
export interface EventPayloads {
  /** A write of a record. */
  readonly record: {
    readonly collection: string;
    /** Before a create or update: as it would be stored. Of a delete: what is deleted. */
    readonly record: HookRecord;
    /** As it was; null for an event whose row says `hasPrevious: false`. */
    readonly previous: HookRecord | null;
  };
  /** An end-user who comes in: for the first time, or again. */
  readonly user: {
    readonly user: { readonly id: string; readonly email: string; readonly verified: boolean };
    /** `profile` for a user who is made along with a record of an `auth` collection. */
    readonly method: 'password' | 'otp' | 'oauth' | 'profile';
    /** The profile that is created along with the user, as it would be stored; null for none. */
    readonly record: HookRecord | null;
  };
}

interface EventRow {
  readonly subject: keyof EventPayloads;
  /** The global function that registers a handler. `hooks.d.ts` or `users.d.ts` declares it. */
  readonly register: `on${string}`;
  readonly action: 'create' | 'update' | 'delete' | 'register' | 'login';
  /** A before-handler can refuse the write; an after-handler runs once the write is committed. */
  readonly when: 'before' | 'after';
  /** True when what handlers assign to the record's fields is written. */
  readonly canChange: boolean;
  readonly hasPrevious: boolean;
}

/**
 * All events by name. Another one of a record or a user is a row here and a declaration in `hooks.d.ts` or `users.d.ts`.
 * One of another subject has an entry in `EventPayloads` besides; the compiler then names the places that do not handle it.
 */
export const hookEvents = {
  before_create: {
    subject: 'record',
    register: 'onRecordBeforeCreate',
    action: 'create',
    when: 'before',
    canChange: true,
    hasPrevious: false,
  },
  after_create: {
    subject: 'record',
    register: 'onRecordAfterCreate',
    action: 'create',
    when: 'after',
    canChange: false,
    hasPrevious: false,
  },
  before_update: {
    subject: 'record',
    register: 'onRecordBeforeUpdate',
    action: 'update',
    when: 'before',
    canChange: true,
    hasPrevious: true,
  },
  after_update: {
    subject: 'record',
    register: 'onRecordAfterUpdate',
    action: 'update',
    when: 'after',
    canChange: false,
    hasPrevious: true,
  },
  before_delete: {
    subject: 'record',
    register: 'onRecordBeforeDelete',
    action: 'delete',
    when: 'before',
    canChange: false,
    hasPrevious: false,
  },
  after_delete: {
    subject: 'record',
    register: 'onRecordAfterDelete',
    action: 'delete',
    when: 'after',
    canChange: false,
    hasPrevious: false,
  },
  before_register: {
    subject: 'user',
    register: 'onUserBeforeRegister',
    action: 'register',
    when: 'before',
    canChange: true,
    hasPrevious: false,
  },
  after_login: {
    subject: 'user',
    register: 'onUserAfterLogin',
    action: 'login',
    when: 'after',
    canChange: false,
    hasPrevious: false,
  },
} as const satisfies Record<string, EventRow>;

/** The name of an event. */
export type HookEventName = keyof typeof hookEvents;

/** The names of the events of one subject. */
export type EventNameOf<Subject extends keyof EventPayloads> = {
  [Name in HookEventName]: (typeof hookEvents)[Name]['subject'] extends Subject ? Name : never;
}[HookEventName];

/** The names of all events. */
export const hookEventNames: readonly HookEventName[] = Object.keys(hookEvents).filter(isEventName);

/** True for an event of a record, which has a collection. */
export function isRecordEvent(name: HookEventName): name is EventNameOf<'record'> {
  return hookEvents[name].subject === 'record';
}

function isEventName(name: string): name is HookEventName {
  return Object.hasOwn(hookEvents, name);
}
