import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { folderOfEach } from '../folder-of-each.ts';

const folder = folderOfEach();

test('Ctrl-C ends the tour immediately and quietly, and leaves no process behind', async () => {
  const child = spawn(process.execPath, [resolve('lib/cli/tour/start.ts')], {
    cwd: folder.path,
    // A terminal sends Ctrl-C to a whole process group, so the tour gets its own.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const group = -(child.pid ?? 0);
  const stderr = text(child.stderr);
  let shown = '';
  child.stdout.on('data', (chunk: Buffer) => {
    shown += chunk.toString();
  });
  while (!shown.includes('$ platform-sync')) await once(child.stdout, 'data');
  const interruptedMs = performance.now();
  process.kill(group, 'SIGINT');

  const [code, signal] = await once(child, 'exit');
  const endedAfterMs = performance.now() - interruptedMs;
  await delay(500);

  expect({ code, signal }).toEqual({ code: 130, signal: null });
  // The whole tour takes longer on any machine.
  expect(endedAfterMs).toBeLessThan(15_000);
  expect(await stderr).toBe('');
  // Even on a fast machine, few of the steps can have begun.
  expect(shown).toContain('1/9');
  expect(shown).not.toContain('3/9');
  expect(() => process.kill(group, 0)).toThrow('ESRCH');
});
