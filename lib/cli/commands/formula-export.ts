import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readAhead } from '../../base/index.ts';
import { describedFormulas, openModel } from '../../model/index.ts';
import { compareIds } from '../../platform/index.ts';
import { errorCode, makeFolder, type Store } from '../../store/index.ts';
import type { Run } from '../command.ts';
import { fileError, UsageError } from '../errors/usage-error.ts';
import { MAX_LINES } from '../formula/change-set.ts';
import { openStoreOf } from '../options/from-settings.ts';
import { counted, firstOf, shown } from '../terminal/terminal.ts';

const CONCURRENCY = 16;

/**
 * Writes a file for each known formula, and removes the files of formulas that no longer exist. Does not change files
 * of other programs.
 */
export default (async ([folder], { at }, terminal) => {
  const { signal } = terminal;
  const formulas = await knownFormulas(await openStoreOf(terminal, at), signal);
  if (formulas.length === 0)
    throw new UsageError(
      'expected formulas in the store, got none; to store formulas: platform-sync formula import FILE',
    );
  const folderStats = await makeFolder(folder, (path) => mkdir(path).then(() => undefined))
    .then(() => stat(folder))
    .catch((error: unknown) => {
      throw fileError(folder, 'a folder that can be written', error);
    });
  if (!folderStats.isDirectory()) throw fileError(folder, 'a folder that can be written', 'a file');
  const found = { written: 0, unchanged: 0, removed: 0, left: [] as string[] };
  const write = async ({ id, text }: (typeof formulas)[number]) => {
    const file = join(folder, `${id}.sql`);
    const there = await readFile(file, 'utf8').catch(unlessMissing);
    if (there === text) found.unchanged += 1;
    else if (there !== undefined && !isOurs(there, id)) found.left.push(`${id}.sql`);
    else {
      // The rename makes the file appear complete. It is not flushed to disk, since it can be written again.
      await writeFile(`${file}.partial`, text);
      await rename(`${file}.partial`, file);
      found.written += 1;
    }
  };
  await Array.fromAsync(readAhead({ items: formulas, read: write, concurrency: CONCURRENCY, signal }));
  const ids = new Set(formulas.map(({ id }) => id));
  for (const name of await readdir(folder)) {
    const id = /^(\d+)\.sql$/.exec(name)?.[1];
    if (id === undefined || ids.has(id)) continue;
    const file = join(folder, name);
    // A file that cannot be read is treated as another program's.
    if (!isOurs(await readFile(file, 'utf8').catch(() => ''), id)) continue;
    await rm(file);
    found.removed += 1;
  }
  const { written, unchanged, removed, left } = found;
  for (const line of firstOf(
    left.map((name) => `${name} is unchanged, since this command did not write it`),
    MAX_LINES,
  ))
    terminal.err(shown(line));
  return {
    json: { folder, formulas: formulas.length, ...found },
    words: `${folder}: ${counted(formulas.length, 'formula')}: ${written} written, ${unchanged} unchanged, ${removed} removed`,
    ended: left.length === 0 ? 'done' : 'incomplete',
  };
}) satisfies Run<'formula export'>;

const headOf = (id: string): string => `-- platform-sync formula ${id}\n`;

/** Whether this command wrote a file for the calculation, according to its first line. */
const isOurs = (text: string, id: string): boolean => text.startsWith(headOf(id));

/** Ignores the error of a file that does not exist. */
function unlessMissing(error: unknown): undefined {
  if (errorCode(error) !== 'ENOENT') throw error;
}

/** The known formulas in the order of their ids, each with the text of its file. */
async function knownFormulas(store: Store, signal: AbortSignal) {
  const { model } = await openModel({ store, now: Date.now, signal });
  return [...describedFormulas(model)]
    .filter(({ id }) => /^\d+$/.test(id))
    .sort((a, b) => compareIds(a.id, b.id))
    .map(({ id, name, expression }) => ({
      id,
      text: `${headOf(id)}${name === null ? '' : `-- name: ${shown(name)}\n`}${expression}\n`,
    }));
}
