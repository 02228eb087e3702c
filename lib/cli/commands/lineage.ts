import { shownJson } from '../../base/index.ts';
import { lineageOf } from '../../report/index.ts';
import { writeTextFile } from '../../text/index.ts';
import type { Run } from '../command.ts';
import { checkWritable } from '../options/files.ts';
import { openStoreOf } from '../options/from-settings.ts';
import { counted, type Terminal } from '../terminal/terminal.ts';

/** Writes what uses what, for a data catalog. Needs only the store. */
export default (async (_, { format = 'openlineage', output = '-' }, terminal) => {
  if (output !== '-') await checkWritable(output);
  const { signal, out, err } = terminal;
  const store = await openStoreOf(terminal);
  const lineage = await lineageOf({ store, format, signal });
  if (lineage === undefined)
    throw new Error(
      `no calculations and no cards have been published in ${store.location}: first take a snapshot, such as platform-sync snapshot calculations`,
    );
  const { lines, runs } = lineage;
  let count = 0;
  async function* counting() {
    for await (const line of lines()) {
      count += 1;
      yield `${line}\n`;
    }
  }
  if (output === '-') await print(lines(), terminal);
  else await writeTextFile(output, counting, { isGzipped: /\.gz$/i.test(output), signal });
  const of = runs.map(({ place, manifest: { run } }) => `${place} (run ${run})`).join(', ');
  if (output === '-') err(`from ${of}`);
  else out(`${output}: ${counted(count, 'line')} from ${of}`);
  return 'done' as const;
}) satisfies Run<'lineage'>;

async function print(lines: AsyncIterable<string>, { out, width, drained }: Terminal): Promise<void> {
  for await (const line of lines) {
    out(width === undefined ? line : shownJson(line));
    if ((await drained?.()) === false) return;
  }
}
