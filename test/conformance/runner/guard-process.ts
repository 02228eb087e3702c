import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';

/*
 * Reads what to watch from standard input, one line of JSON each. The input ends when the process that writes it ends:
 * then everything that is still watched is killed or removed.
 */

const groups = new Set<number>();
const folders = new Set<string>();

for await (const line of createInterface({ input: process.stdin })) {
  const { act, group, folder } = JSON.parse(line);
  const change = act === 'watch' ? 'add' : 'delete';
  if (group !== undefined) groups[change](group);
  if (folder !== undefined) folders[change](folder);
}
for (const group of groups) {
  try {
    process.kill(-group, 'SIGKILL');
  } catch {}
}
// A killed program may still write to its open files for a moment.
for (const folder of folders)
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
