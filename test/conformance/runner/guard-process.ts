import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';

/*
 * Reads what to watch from standard input, a line of JSON each. Its end is the end of the process that wrote it: then
 * everything that is still watched is killed or removed.
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
// What a killed program had open may still be written for a moment.
for (const folder of folders)
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
