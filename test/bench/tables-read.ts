import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { printJson } from '../../lib/base/json/json.ts';
import { summaryKey } from '../../lib/jobs/texts/batch/batch.ts';
import { printPart } from '../../lib/jobs/texts/batch/part.ts';
import { startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { readLastPublication } from '../../lib/snapshot/publish/last-publication.ts';
import { createDirectoryStore } from '../../lib/store/directory.ts';
import { printStored } from '../../lib/store/stored-json.ts';
import { tableNameOf } from '../../lib/tables/catalog/glue-tables.ts';
import { parquetOfRun } from '../../lib/tables/made/made-files.ts';
import { makeTables } from '../../lib/tables/make/make-tables.ts';
import { savedQueries } from '../../lib/tables/saved-queries.ts';
import { publishLines } from '../conformance/sql/publish-lines.ts';
import { summaryOf } from '../jobs/summary-of.ts';
import { openQueryEngine, type QueryEngine } from '../tables/engine.ts';
import { truthOf } from '../tables/runs.ts';
import type { Bench, Row } from './bench.ts';
import { median } from './measured-process.ts';

/** `TABLES_READ_RECORDS=5000 npm run bench -- tables-read` measures another size: so many calculations. */
const CALCULATIONS = Number(process.env['TABLES_READ_RECORDS'] ?? 50_000);

/** Others in proportion: cards, files, jobs, and chunks of a hundred texts. */
const CARDS = Math.ceil(CALCULATIONS / 5);
const FILES_PER_SET = Math.ceil(CALCULATIONS / 100);
const JOBS = Math.ceil(CALCULATIONS / 10);
const CHUNKS = Math.ceil(CALCULATIONS / 50);

const PART_RECORDS = 10_000;
const ROUNDS = 3;
const DAY_MS = 86_400_000;

/** What saved queries read, and how long they take, over Parquet and over lines: DuckDB on the files of a directory. */
export const tablesRead: Bench = {
  name: 'tables-read',
  async *run() {
    const folder = await mkdtemp(join(tmpdir(), 'bench-'));
    try {
      await fill(folder);
      const lines = await openQueryEngine(folder);
      const parquet = await openQueryEngine(folder);
      for (const view of await parquetViews(folder)) await parquet.run(view);
      // Changes are lines alone.
      for (const { name, sql } of savedQueries())
        if (!/FROM changes/.test(sql)) yield await measure(name, { lines, parquet });
      for (const engine of [lines, parquet]) engine.close();
    } finally {
      await rm(folder, { recursive: true });
    }
  },
};

async function measure(
  name: string,
  engines: Readonly<Record<'lines' | 'parquet', QueryEngine>>,
): Promise<Row> {
  const lines = await take(() => engines.lines.saved(name));
  const parquet = await take(() => engines.parquet.saved(name));
  if (lines.rows !== parquet.rows)
    throw new Error(`${name}: expected ${lines.rows} rows, got ${parquet.rows}`);
  const shown = ({ mb, seconds }: Took) => `${mb.toFixed(2)} MB in ${seconds.toFixed(2)} s`;
  return {
    measured: `${name}: Parquet, lines`,
    value: `${shown(parquet)}, ${shown(lines)}: ${(lines.mb / parquet.mb).toFixed(0)} times fewer bytes`,
  };
}

type Took = { readonly mb: number; readonly seconds: number; readonly rows: number };

/** The bytes that this process has read, by all of its threads, for one query, and the median of its times. */
async function take(query: () => Promise<readonly unknown[]>): Promise<Took> {
  const before = await bytesRead();
  const { length: rows } = await query();
  const mb = ((await bytesRead()) - before) / 1e6;
  const seconds: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const startedMs = performance.now();
    await query();
    seconds.push((performance.now() - startedMs) / 1_000);
  }
  return { mb, seconds: median(seconds), rows };
}

/** From files, whether the system had them in memory or not. Linux only. */
async function bytesRead(): Promise<number> {
  const counts = await readFile('/proc/self/io', 'utf8');
  return Number(/^rchar: (\d+)/m.exec(counts)?.[1]);
}

async function parquetViews(folder: string): Promise<readonly string[]> {
  const store = createDirectoryStore(folder);
  const latest = await Promise.all(
    (['calculations', 'cards', 'files'] as const).map(async (place) => {
      const { manifest } = await readLastPublication(store, place);
      const made = manifest === undefined ? [] : await parquetOfRun(store, place, manifest);
      const files = made.flatMap((file) => (file === undefined ? [] : `'${join(folder, file.key)}'`));
      return `CREATE OR REPLACE VIEW stored_latest_${tableNameOf(place)} AS SELECT *, '' AS dt, '' AS run FROM read_parquet([${files}])`;
    }),
  );
  const of = (path: string) => `read_parquet('${join(folder, 'parquet', path)}'`;
  return [
    ...latest,
    `CREATE OR REPLACE VIEW stored_jobs AS SELECT * FROM ${of('results/*/*/*.parquet')}, hive_partitioning = true,
      hive_types = {type: VARCHAR, dt: VARCHAR})`,
    `CREATE OR REPLACE VIEW stored_scores AS SELECT * FROM ${of('scores/*/*.parquet')})`,
  ];
}

async function fill(folder: string): Promise<void> {
  const store = createDirectoryStore(folder);
  await using sandbox = await startPlatform({
    calculations: CALCULATIONS,
    datasets: 200,
    cards: CARDS,
    fileSets: 10,
    filesPerSet: FILES_PER_SET,
    dataFiles: 0,
  });
  const truth = truthOf(sandbox);
  const owned = (name: string, records: ReadonlyMap<string, object>) =>
    [...records].map(([key, record]) => printJson({ [name]: key.split(' ')[0], ...record }));
  const startedAt = `${dayOf(1)}T06:00:00.000Z`;
  const run = { id: `${startedAt.replaceAll(/[-:]|\.\d+/g, '')}-aaaaaa`, startedAt };
  const partitions = { add: async () => undefined, remove: async () => undefined };
  for (const [place, lines] of [
    ['calculations', [...sandbox.calculations()]],
    ['cards', owned('_datasetId', truth.cards)],
    ['files', owned('_filesetId', truth.files)],
  ] as const)
    await publishLines({ store, place, run, partitions, parts: inParts(lines) });
  await fillJobs(folder);
  const making = { store, groups: ['results', 'scores'], resultsDays: 90, now: Date.now } as const;
  for await (const outcome of makeTables({
    ...making,
    isOver: () => false,
    isDry: false,
    warn: () => undefined,
  }))
    if (outcome.kind === 'skipped') throw new Error(outcome.why);
}

const inParts = (lines: readonly string[]): readonly (readonly string[])[] =>
  Array.from({ length: Math.ceil(lines.length / PART_RECORDS) }, (_, part) =>
    lines.slice(part * PART_RECORDS, (part + 1) * PART_RECORDS),
  );

/** Jobs of ten days, of which every tenth failed, and one batch of scored texts with the jobs of its chunks. */
async function fillJobs(folder: string): Promise<void> {
  const write = async (key: string, body: Buffer | string) => {
    await mkdir(dirname(join(folder, key)), { recursive: true });
    await writeFile(join(folder, key), body);
  };
  const result = (type: string, id: string, day: string, rest: object) =>
    write(
      `results/${type}/dt=${day}/${id}.json`,
      `${JSON.stringify({ version: 1, id, type, attempts: 1, startedAt: day, finishedAt: day, sender: 'A', ...rest })}\n`,
    );
  for (let at = 0; at < JOBS; at += 1)
    await result(
      'run-function',
      `job-${at}`,
      dayOf(1 + (at % 10)),
      at % 10 === 0
        ? { status: 'failed', error: { kind: 'status', status: 500, message: 'no' } }
        : { status: 'done', response: { rows: at, text: 'a response of some length '.repeat(20) } },
    );
  const keys: string[] = [];
  for (let chunk = 0; chunk < CHUNKS; chunk += 1) {
    const part = printPart({ batch: 'b1', chunk }, textsOf(chunk));
    keys.push(part.key);
    await write(part.key, part.body);
    const costs = { calls: 100, cached: 0, paidAgain: 0, tokens: { input: 900, output: 90, total: 990 } };
    const response = { batch: 'b1', chunk, ...costs };
    await result('score', `b1.chunk-${chunk}`, dayOf(1 + (chunk % 10)), { status: 'done', response });
  }
  await write(
    summaryKey('b1'),
    printStored(
      summaryOf(
        'b1',
        keys.map((key) => ({ key, rows: 100 })),
      ),
    ),
  );
}

const SENTIMENTS = ['VERY_NEGATIVE', 'NEGATIVE', 'NEUTRAL', 'POSITIVE'] as const;

const textsOf = (chunk: number) =>
  Array.from({ length: 100 }, (_, at) => ({
    id: `row-${chunk * 100 + at}`,
    line: chunk * 100 + at,
    columns: { channel: at % 2 === 0 ? 'mail' : 'phone', region: `region ${at % 7}` },
    textHash: `${(chunk * 100 + at) * 2_654_435_761}`,
    topicSentiments: { delivery: SENTIMENTS[at % 4], price: SENTIMENTS[(at * 3 + chunk) % 4] },
    sentiment: SENTIMENTS[(at + chunk) % 4],
    model: 'm1',
  }));

const now = Date.now();
const dayOf = (daysAgo: number) => new Date(now - daysAgo * DAY_MS).toISOString().slice(0, 10);
