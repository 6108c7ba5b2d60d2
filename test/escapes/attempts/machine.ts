// Attempts to learn of the machine, and to keep something: 124 to 163.
import { type Attempt, numbered } from './attempt.ts';

/** Names, sizes, users, memory; storage that could outlive the process. */
export const machineAttempts: readonly Attempt[] = numbered(124, [
  ['Deno.hostname', `Deno.hostname()`],
  ['Deno.osRelease', `typeof Deno.osRelease()`],
  ['Deno.osUptime', `typeof Deno.osUptime()`],
  ['Deno.loadavg', `typeof Deno.loadavg()`],
  ['Deno.systemMemoryInfo', `typeof Deno.systemMemoryInfo()`],
  ['Deno.networkInterfaces', `Deno.networkInterfaces().length >= 0`],
  ['Deno.uid', `typeof Deno.uid()`],
  ['Deno.gid', `typeof Deno.gid()`],
  ['Deno.execPath', `typeof Deno.execPath()`],
  ['Deno.memoryUsage', `typeof Deno.memoryUsage()`],
  ['Deno.pid', `typeof (Deno.pid + Deno.ppid)`],
  ['Deno.mainModule', `typeof Deno.mainModule`],
  ['process.argv', `typeof process.argv`],
  ['process.execPath', `typeof process.execPath`],
  ['navigator.hardwareConcurrency', `typeof navigator.hardwareConcurrency`],
  ['os.hostname', `(await import('node:os')).hostname()`],
  ['os.cpus', `(await import('node:os')).cpus().length >= 0`],
  ['os.userInfo', `typeof (await import('node:os')).userInfo()`],
  ['os.homedir', `typeof (await import('node:os')).homedir()`],
  ['os.tmpdir', `(await import('node:os')).tmpdir()`],
  ['os.networkInterfaces', `typeof (await import('node:os')).networkInterfaces()`],
  ['os.totalmem', `typeof (await import('node:os')).totalmem()`],
  ['os.uptime', `typeof (await import('node:os')).uptime()`],
  ['os.release', `typeof (await import('node:os')).release()`],
  ['process.report', `typeof process.report.getReport()`],
  ['process.constrainedMemory', `typeof process.constrainedMemory()`],
  ['v8.writeHeapSnapshot', `(await import('node:v8')).writeHeapSnapshot(SINK + '/heap')`],
  ['v8.getHeapSnapshot', `typeof (await import('node:v8')).getHeapSnapshot()`],
  [
    'natives syntax',
    `(async () => { (await import('node:v8')).setFlagsFromString('--allow-natives-syntax'); return eval('%GetHeapUsage()'); })()`,
  ],
  [
    'a larger heap',
    `(async () => {
      const v8 = await import('node:v8');
      const before = v8.getHeapStatistics().heap_size_limit;
      v8.setFlagsFromString('--max-heap-size=4096');
      return v8.getHeapStatistics().heap_size_limit > before;
    })()`,
  ],
  ['fine timers', `typeof performance.now()`],
  ['shared memory', `Atomics.add(new Int32Array(new SharedArrayBuffer(4)), 0, 1)`],
  ['localStorage', `localStorage.setItem('bait', 'kept')`],
  ['what localStorage kept', `localStorage.getItem('bait')`],
  ['caches', `caches.open('bait').then((c) => c.put('http://bait/', new Response('kept')))`],
  ['Deno.openKv', `typeof await Deno.openKv()`],
  ['a SQLite file', `typeof new (await import('node:sqlite')).DatabaseSync(SINK + '/db')`],
  [
    'SQLite attaches a file',
    `new (await import('node:sqlite')).DatabaseSync(':memory:').exec("ATTACH '" + SINK + "/db' AS a")`,
  ],
  [
    'SQLite spills into a folder',
    `(async () => {
      const db = new (await import('node:sqlite')).DatabaseSync(':memory:');
      db.exec("PRAGMA temp_store_directory = '" + SINK + "'");
      db.exec('PRAGMA temp_store = 1; PRAGMA cache_size = 10; CREATE TEMP TABLE t (x)');
      db.exec('WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) INSERT INTO t SELECT randomblob(1000) FROM n');
      return 'spilt';
    })()`,
  ],
  ['BroadcastChannel', `typeof new BroadcastChannel('bait')`],
]);
