import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { runCommandLine } from '../../../lib/cli/command-line.ts';
import { readChanges } from '../../../lib/report/collect/snapshots.ts';
import { collectChanges } from '../../../lib/snapshot/changes/change.ts';
import { changesBetween } from '../../../lib/snapshot/changes/changes-between.ts';
import { foldersOf, runOfKey, workFolder } from '../../../lib/snapshot/keys.ts';
import {
  type Manifest,
  manifestOf,
  type PublishedRun,
  publishedRuns,
  readLatest,
} from '../../../lib/snapshot/manifest.ts';
import type { Store } from '../../../lib/store/store.ts';
import { createFakeTerminal } from '../../cli/fake-terminal.ts';

const PLACE = 'calculations';
const { signal } = new AbortController();

/** The counts of a run according to its manifest or to a reader: records, and changes by kind. */
type Counts = readonly [records: number, added?: number, removed?: number, changed?: number];

const byManifest = ({ records, changes }: Manifest): Counts =>
  changes === null ? [records] : [records, changes.added, changes.removed, changes.changed];

/** Every difference between a reader of published runs and their manifests; [] if all agree. */
export async function disagreements(store: Store): Promise<readonly string[]> {
  const found: string[] = [];
  const runs = await publishedRuns(store, PLACE);
  const listed = runs.length === 0 ? '{"runs":[]}' : await commandLine(store, 'runs', PLACE, '--json');
  const say = (run: string, reader: string, got: Counts, expected: Counts) => {
    if (String(got) !== String(expected))
      found.push(`${run}: ${reader} has ${got}, its manifest ${expected}`);
  };
  for (const published of runs) {
    const { run, manifest: key } = published;
    const manifest = await manifestOf(store, key, { place: PLACE, run });
    const expected = byManifest(manifest);
    say(run, 'lines', [await linesOf(store, manifest)], [manifest.records]);
    say(run, 'runs', countsInList(listed, run), expected);
    say(run, 'diff', await countsOfDiff(store, published, manifest), expected);
    for (const fault of await faultsOfReport(store, manifest)) found.push(`${run}: report: ${fault}`);
  }
  return found;
}

/** The same for SQL, which takes as long as a hundred of the other readers. */
export async function disagreementsOfSql(store: Store): Promise<readonly string[]> {
  const count = (table: string, only = 'true') =>
    `(SELECT count(*) FROM ${table} c WHERE c.run = r.run AND ${only})`;
  const kinds = ['added', 'removed', 'changed'];
  const sql = `SELECT run, concat_ws(',', records, ${kinds.map((kind) => `coalesce(${kind}, 0)`)}) AS said,
    concat_ws(',', ${count('all_calculations')}, ${kinds.map((kind) => count('changes', `change = '${kind}'`))}) AS got
    FROM runs r`;
  type Row = Readonly<Record<'run' | 'said' | 'got', string>>;
  const rows = JSON.parse(await commandLine(store, 'query', sql, '--json')) as readonly Row[];
  return rows.flatMap(({ run, said, got }) =>
    said === got ? [] : [`${run}: SQL has ${got}, its manifest ${said}`],
  );
}

/** The keys that no run needs: their run has neither been published nor objects under `work/`, or was pruned. */
export async function leftovers(store: Store): Promise<readonly string[]> {
  const isKept = new Set((await publishedRuns(store, PLACE)).map(({ run }) => run));
  for await (const folder of store.folders(`work/${PLACE}/`)) isKept.add(folder.split('/').at(-1) ?? '');
  const { removed = [] } = (await readLatest(store, PLACE)) ?? {};
  for (const run of removed) isKept.delete(run);
  const keys: string[] = [];
  for (const run of removed)
    for await (const { key } of store.list(workFolder(PLACE, { id: run }))) keys.push(key);
  for (const prefix of foldersOf(`${PLACE}/dt=`))
    for await (const { key } of store.list(prefix)) if (!isKept.has(runOfKey(key) ?? '')) keys.push(key);
  return keys;
}

async function commandLine(store: Store, ...argv: readonly string[]): Promise<string> {
  const { terminal, out, err } = createFakeTerminal();
  const code = await runCommandLine(argv, { ...terminal, openStore: async () => store });
  if (code !== 0) throw new Error(`${argv.join(' ')} exits with ${code}: ${err()}`);
  return out();
}

/** The number of lines in all parts. Throws if a part is missing or altered. */
async function linesOf(store: Store, { parts }: Manifest): Promise<number> {
  let lines = 0;
  for (const { key, sha256 } of parts) {
    const body = (await store.get(key))?.body ?? Buffer.alloc(0);
    if (createHash('sha256').update(body).digest('hex') !== sha256) throw new Error(`${key} is not whole`);
    lines += gunzipSync(body).toString().split('\n').length - 1;
  }
  return lines;
}

type Listed = { readonly run: string } & Readonly<
  Record<'records' | 'added' | 'removed' | 'changed', number | null>
>;

function countsInList(json: string, name: string): Counts {
  const all = JSON.parse(json) as { runs: readonly Listed[] } | readonly Listed[];
  const found = ('runs' in all ? all.runs : all).find(({ run }) => run === name);
  const { records = null, added = null, removed = null, changed = null } = found ?? {};
  return added === null ? [Number(records)] : [Number(records), added, Number(removed), Number(changed)];
}

/** The counts of the stored changes that `diff` shows; NaN if it had to compare the runs. */
async function countsOfDiff(
  store: Store,
  { run }: PublishedRun,
  { records, changes }: Manifest,
): Promise<Counts> {
  if (changes === null) return [records];
  const found = await changesBetween({ store, place: PLACE, now: run, memoryBytes: 1e6 });
  if (found.kind !== 'found') throw new Error(`${run} is unknown to diff`);
  const { steps, isStored, old } = found;
  if (steps === undefined || !isStored) return [Number.NaN];
  const { counts, changes: first } = await collectChanges(steps, 1_000);
  const others = first.filter((change) => 'before' in change && !change.before.includes(`of ${old}`));
  return [records + others.length, counts.added, counts.removed, counts.changed];
}

async function faultsOfReport(store: Store, manifest: Manifest): Promise<readonly string[]> {
  const faults: string[] = [];
  const addFault = (fault: string) => void faults.push(fault);
  const facts = await readChanges({ store, place: PLACE, manifest, addFault, signal });
  const { added = 0, removed = 0, changed = 0 } = manifest.changes ?? {};
  const expected = added + removed + changed;
  if (facts !== undefined && facts.listed.length !== expected)
    faults.push(`lists ${facts.listed.length} changes, its manifest ${expected}`);
  return faults;
}
