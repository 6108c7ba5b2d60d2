// A program that says more than fits into a pipe, on the supervisor's own way to standard output, and ends.
import { openStandardOutput } from '../../supervisor/standard-output.ts';

const { write: say } = openStandardOutput();
for (let number = 0; number < 3_000; number++) say(`${number} ${'x'.repeat(93)}\n`);
process.exit(0);
