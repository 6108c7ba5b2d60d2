// A program that logs more than a terminal takes which nobody reads, and ends.
import { setTimeout as pause } from 'node:timers/promises';
import { logObserver } from '../../api/logging/events.ts';

const observe = logObserver({ level: 'info', format: 'json', now: () => new Date() });
for (let number = 0; number < 3_000; number++) {
  observe({ type: 'background_failed', task: `number ${number}`, error: 'x'.repeat(93) });
}
// By then it is being written, which no event tells.
await pause(100);
process.exit(0);
