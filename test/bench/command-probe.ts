import { writeSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

/*
 * Loaded into a command by `--import`. At its end, writes to pipe 3 its CPU time in milliseconds, and how long each
 * commit of SQLite blocked its event loop.
 */

const blockedMs: number[] = [];
const exec = DatabaseSync.prototype.exec;

DatabaseSync.prototype.exec = function timed(sql) {
  const startedMs = performance.now();
  exec.call(this, sql);
  if (sql === 'COMMIT') blockedMs.push(performance.now() - startedMs);
};

process.on('exit', () => {
  const { user, system } = process.cpuUsage();
  writeSync(3, JSON.stringify({ cpuMs: (user + system) / 1_000, blockedMs }));
});
