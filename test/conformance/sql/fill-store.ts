import type { AwsEnvironment } from '../../../lib/base/aws/client-config.ts';
import { printJson } from '../../../lib/base/json/json.ts';
import { storeRefused, writeResult } from '../../../lib/jobs/result.ts';
import { summaryKey } from '../../../lib/jobs/texts/batch/batch.ts';
import { printPart } from '../../../lib/jobs/texts/batch/chunk-objects.ts';
import { storeFormula } from '../../../lib/model/formulas/formula-log.ts';
import { renewModel } from '../../../lib/model/index.ts';
import { startPlatform } from '../../../lib/sandbox/platform/start-platform.ts';
import { type Place, splitPlace } from '../../../lib/snapshot/keys.ts';
import { readLastPublication } from '../../../lib/snapshot/publish/publish-parts.ts';
import { type Source, sources } from '../../../lib/snapshot/sources/sources.ts';
import type { Store } from '../../../lib/store/store.ts';
import { printStored } from '../../../lib/store/stored-json.ts';
import { parquetOfRun } from '../../../lib/tables/parquet/part-files.ts';
import { gluePartitions } from '../../../lib/tables/partitions/glue-partitions.ts';
import { summaryOf as summaryOfParts } from '../../jobs/summary-of.ts';
import { truthOf } from '../../tables/runs.ts';
import { oddRecords } from './odd-records.ts';
import { publishLines } from './publish-lines.ts';

/** A narrowed place that a schedule publishes at. */
export const NARROWED = 'calculations.mine' satisfies Place;

/** A published run: its records, and the keys of its Parquet. */
export type RunOf = {
  readonly dt: string;
  readonly run: string;
  readonly lines: readonly string[];
  readonly parquet: readonly string[];
};

export type Filled = Readonly<Record<Source | typeof NARROWED, readonly RunOf[]>>;

export type StoreToFill = {
  readonly store: Store;
  readonly database: string;
  readonly environment: AwsEnvironment;
  readonly seed: number;
};

const DAYS_AGO = [9, 6, 1] as const;

/** Publishes three runs of each source with odd records, and stores jobs, scores and rejected messages. */
export async function fillStore({ store, database, environment, seed }: StoreToFill): Promise<Filled> {
  const partitions = gluePartitions({ database, location: store.location, environment });
  await using sandbox = await startPlatform({
    calculations: 60,
    datasets: 5,
    cards: 20,
    fileSets: 2,
    filesPerSet: 12,
    dataFiles: 5,
  });
  const filled = Object.fromEntries([...sources, NARROWED].map((place) => [place, []])) as unknown as Record<
    Source | typeof NARROWED,
    RunOf[]
  >;
  let calculation = '';
  for (const [round, days] of DAYS_AGO.entries()) {
    const startedAt = `${dayOf(days)}T06:00:00.000Z`;
    const records = recordsOf(sandbox);
    calculation = String(JSON.parse(records.calculations?.[0] ?? '{}').id);
    for (const place of [...sources, NARROWED] as const) {
      const { source } = splitPlace(place);
      const id = `${startedAt.replaceAll(/[-:]|\.\d+/g, '')}-${round}aaaaa`;
      const parts = [records[source] ?? [], oddRecords(source, seed + round)];
      await publishLines({ store, place, run: { id, startedAt }, partitions, parts });
      const { manifest, broken } = await readLastPublication(store, place);
      if (manifest === undefined) throw new Error(`expected a run of ${place}, got ${broken ?? 'none'}`);
      const made = await parquetOfRun(store, place, manifest);
      const parquet = made.flatMap((file) => file?.key ?? []);
      filled[place].push({ dt: dayOf(days), run: id, lines: parts.flat(), parquet });
    }
    sandbox.churn(30);
  }
  await storeJobs(store);
  await storeScores(store);
  await storeFormula(store, formulaOf(calculation));
  const addFault = (fault: string) => {
    throw new Error(fault);
  };
  await renewModel({ store, now: Date.now, addFault });
  return filled;
}

type Records = Readonly<Partial<Record<Source, readonly string[]>>>;

function recordsOf(sandbox: Awaited<ReturnType<typeof startPlatform>>): Records {
  const truth = truthOf(sandbox);
  const owned = (name: string, records: ReadonlyMap<string, object>) =>
    [...records].map(([key, record]) => printJson({ [name]: key.split(' ')[0], ...record }));
  return {
    calculations: [...sandbox.calculations()],
    files: owned('_filesetId', truth.files),
    cards: owned('_datasetId', truth.cards),
    'data-files': sandbox.state.dataFileIds.map((id) => printJson(sandbox.state.dataFile(id))),
  };
}

/** Unusual texts and JSON that the platform or users may send. */
const ODD_JSON = [
  '{"a":[1.0,1,1e400,123456789012345678901234567890],"A":{"b":null,"b":2}}',
  '"text, not an object"',
  '[1,"ünï 😀",{"x":"\\ud800"}]',
  'true',
  'null',
  '{"deep":[[[[{"k":"\\u0000\\n"}]]]]}',
] as const;

async function storeJobs(store: Store): Promise<void> {
  const row = (
    id: string,
    type: string,
    days: number,
  ): Omit<Parameters<typeof writeResult>[1], 'outcome' | 'state'> => ({
    id,
    type,
    dt: dayOf(days),
    fence: 1,
    attempts: 2,
    takeovers: 0,
    createdAt: Date.parse(dayOf(days)),
    finishedAt: Date.parse(dayOf(days)) + 1,
    sender: 'AIDAEXAMPLE',
  });
  for (const [at, response] of ODD_JSON.entries()) {
    const id = ['_hidden', '.dot', 'CAPITALS', 'a:b', 'plain', 'z.'][at] ?? `${at}`;
    await writeResult(store, {
      ...row(id, 'run-function', 2),
      state: 'DONE',
      outcome: { status: 'done', response: response.replace(',', ',\n') },
    });
  }
  await writeResult(store, {
    ...row('failed', 'update-formula', 3),
    state: 'FAILED',
    outcome: { status: 'failed', error: { kind: 'status', message: 'no \ud800 "quoted"\n', status: 500 } },
  });
  const costs = { calls: 2, cached: 1, paidAgain: 0, tokens: { input: 10, output: 2, total: 12 } };
  for (const chunk of [0, 1])
    await writeResult(store, {
      ...row(`May.chunk-0000${chunk}`, 'score', 8 - 7 * chunk),
      state: 'DONE',
      outcome: { status: 'done', response: JSON.stringify({ batch: 'May', chunk, ...costs }) },
    });
  for (const [at, body] of ODD_JSON.entries())
    await storeRefused(store, { messageId: `Message-${at}`, body, sender: 'A', receipt: 'r', receives: 1 }, [
      'no \ud800 type',
      'line\nend',
    ]);
}

/** The id of a batch that has not finished, and so has no summary. */
const UNFINISHED = 'by-command';

const formulaOf = (calculationId: string) => ({
  calculationId,
  finishedAtMs: Date.parse(dayOf(2)),
  response: printJson({
    id: Number(calculationId),
    name: 'Cost',
    expression: '1 + 1',
    status: 'VALID',
    lastModified: 1_700_000_000_123,
  }),
});

async function storeScores(store: Store): Promise<void> {
  const about = (line: number) => ({
    id: `Row ${line}`,
    line,
    columns: { Channel: 'ünï', channel: '' },
    textHash: 'h',
  });
  const may = [
    printPart({ batch: 'May', chunk: 0 }, [
      { ...about(1), topicSentiments: { delivery: 'NEGATIVE', price: 'VERY_NEGATIVE' }, model: 'm' },
      { ...about(2), topicSentiments: { delivery: 'POSITIVE', odd: { a: 1 }, number: 1 } },
      { line: 3, error: 'no text' },
      { id: '4', line: 4, erased: true },
    ]),
    printPart({ batch: 'May', chunk: 1 }, [
      { ...about(5), topicSentiments: 'odd', sentiment: 'negative' },
      { ...about(6), topicSentiments: [1], sentiment: 'negative' },
      { ...about(7), sentiment: 'Positive' },
    ]),
  ];
  const june = [printPart({ batch: 'june', chunk: 0 }, [{ ...about(8), sentiment: 'NEUTRAL' }])];
  const parts = [
    ...may,
    ...june,
    printPart({ batch: UNFINISHED, chunk: 0 }, [{ ...about(1), sentiment: 'NEGATIVE', model: null }]),
  ];
  for (const part of parts) await store.put(part.key, part.body);
  await store.put(summaryKey('May'), summaryOf('May', may));
  await store.put(summaryKey('june'), summaryOf('june', june));
}

const summaryOf = (batch: string, parts: readonly { readonly key: string }[]): Buffer =>
  printStored(
    summaryOfParts(
      batch,
      parts.map(({ key }) => ({ key, rows: 1 })),
    ),
  );

const DAY_MS = 86_400_000;
const now = Date.now();
const dayOf = (daysAgo: number) => new Date(now - daysAgo * DAY_MS).toISOString().slice(0, 10);
