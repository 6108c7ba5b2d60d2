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
}

interface RecordEventRow {
  readonly subject: 'record';
  /** The global function that registers a handler. `hooks.d.ts` declares it. */
  readonly register: `on${string}`;
  readonly action: 'create' | 'update' | 'delete';
  /** A before-handler can refuse the write; an after-handler runs once the write is committed. */
  readonly when: 'before' | 'after';
  /** True when what handlers assign to the record's fields is written. */
  readonly canChange: boolean;
  readonly hasPrevious: boolean;
}

/**
 * All events by name. Another one of a record is a row here and a declaration in `hooks.d.ts`. One of another subject has
 * a row type and an entry in `EventPayloads` besides; the compiler then names the places that handle records only.
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
} as const satisfies Record<string, RecordEventRow>;

/** The name of an event. */
export type HookEventName = keyof typeof hookEvents;

/** The names of the events of one subject. */
export type EventNameOf<Subject extends keyof EventPayloads> = {
  [Name in HookEventName]: (typeof hookEvents)[Name]['subject'] extends Subject ? Name : never;
}[HookEventName];

/** The names of all events. */
export const hookEventNames: readonly HookEventName[] = Object.keys(hookEvents).filter(isEventName);

function isEventName(name: string): name is HookEventName {
  return Object.hasOwn(hookEvents, name);
}
