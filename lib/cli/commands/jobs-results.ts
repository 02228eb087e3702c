import { printJson } from '../../base/json/index.ts';
import { storedResults } from '../../jobs/index.ts';
import { csvHead, csvLine, csvOutput, writeTextFile } from '../../text/index.ts';
import type { Run } from '../command.ts';
import { checkedOutputFile } from '../options/files.ts';
import { openStoreOf } from '../options/from-settings.ts';
import { counted, number, shown } from '../terminal/terminal.ts';

type StoredResult = Extract<
  Awaited<ReturnType<ReturnType<typeof storedResults>['next']>>['value'],
  { readonly text: string }
>;

/** Writes the selected results to a file. Exits with 3 if one of them cannot be read. Needs only the store. */
export default (async (_, { output: file, type, since: sinceMs, ...wishes }, terminal) => {
  const { signal, err } = terminal;
  const format = await checkedOutputFile(file);
  const store = await openStoreOf(terminal);
  const counts = { results: 0, byStatus: new Map<string, number>(), broken: 0 };
  async function* results(): AsyncGenerator<StoredResult> {
    for await (const result of storedResults(store, { type, sinceMs, signal })) {
      if (result.value === undefined) {
        counts.broken += 1;
        err(shown(`platform-sync: ${result.key} is not the result of a job; it is skipped`));
        continue;
      }
      counts.results += 1;
      const status = String(result.value['status']);
      counts.byStatus.set(status, (counts.byStatus.get(status) ?? 0) + 1);
      yield result;
    }
  }
  const form = format.format === 'csv' ? csvOutput(format, {}, wishes) : undefined;
  const { isGzipped } = format;
  await writeTextFile(file, () => linesOf(results(), form), { isGzipped, isMarked: form?.isMarked, signal });
  const byStatus = Object.fromEntries([...counts.byStatus].toSorted());
  const words = Object.entries(byStatus).map(([status, count]) => `${number(count)} ${status}`);
  const { results: written, broken } = counts;
  return {
    json: { file, results: written, byStatus, broken },
    words: `${file}: ${counted(written, 'result')}${words.length === 0 ? '' : `: ${words.join(', ')}`}`,
    ended: broken === 0 ? 'done' : 'incomplete',
  };
}) satisfies Run<'jobs results'>;

const COLUMNS = 'id,type,status,attempts,startedAt,finishedAt,sender,note,error,response'.split(',');

async function* linesOf(
  results: AsyncIterable<StoredResult>,
  form: ReturnType<typeof csvOutput> | undefined,
): AsyncGenerator<string> {
  if (form !== undefined) yield csvHead(COLUMNS, form);
  for await (const { text, value } of results)
    yield form === undefined
      ? `${text}\n`
      : csvLine(
          COLUMNS.map((name) => cellOf(value[name])),
          form,
        );
}

/** Converts a value for a cell: a string is unchanged, null becomes empty, and any other value becomes JSON. */
const cellOf = (value: unknown) =>
  typeof value === 'string' ? value : value === undefined || value === null ? '' : printJson(value);
