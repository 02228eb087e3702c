import { gunzipSync } from 'node:zlib';
import * as z from 'zod/mini';
import { hashOf, textOf } from '../../job-plan.ts';
import { batchName } from '../batches.ts';
import type { PlannedBatch } from '../plan.ts';
import type { Finished } from './promises.ts';

/** Maximum number of rows in a chunk. */
const ROWS = 100;

const counts = {
  rows: z.number(),
  scored: z.number(),
  failed: z.number(),
  bad: z.number(),
  erased: z.number(),
};

const summarySchema = z.object({
  ...counts,
  chunks: z.number(),
  calls: z.number(),
  parts: z.array(z.object({ key: z.string(), rows: z.number() })),
});

const rowSchema = z.object({
  batch: z.string(),
  chunk: z.number(),
  line: z.number(),
  id: z.string(),
  columns: z.optional(z.object({ number: z.string() })),
  textHash: z.optional(z.string()),
  sentiment: z.optional(z.string()),
  error: z.optional(z.string()),
  erased: z.optional(z.literal(true)),
});

type PartRow = z.infer<typeof rowSchema>;

/** Why a row may have no score: it was cancelled, or the batch's maximum number of calls was reached. */
type Excuse = 'cancelled' | 'limited';

/**
 * **Every job ends in one visible result**, and no row of a batch is lost. Its summary names existing parts, which hold
 * each row once, with a score or with an error that has an explanation. Returns the number of calls in each summary.
 */
export async function checkBatches(ended: Finished): Promise<ReadonlyMap<string, number>> {
  const { plan, sent, broken } = ended;
  const calls = new Map<string, number>();
  for (const [index, planned] of plan.batches.entries()) {
    const number = index + 1;
    const name = batchName(number);
    const wrong = (what: string) => broken(`Every job ends in one visible result: ${name} ${what}`);
    const summary = await summaryOf(name, ended);
    if (summary === undefined) {
      broken(`It recovers by itself: ${name} has no summary`);
      continue;
    }
    calls.set(name, summary.calls);
    const rows = await rowsOf(name, summary, ended, wrong);
    checkCounts(summary, rows, planned, wrong);
    const excuses: Excuse[] = [
      ...(sent.batches.cancelled.has(number) ? ['cancelled' as const] : []),
      ...(planned.maxCalls === undefined ? [] : ['limited' as const]),
    ];
    for (const [at, text] of planned.texts.entries())
      checkRow(rows[at], { at, text, number, excuses }, ended);
    checkLimit(planned, ended, wrong);
  }
  return calls;
}

async function summaryOf(name: string, { scene }: Finished) {
  const stored = await scene.store.get(`scores/${name}/_summary.json`);
  return stored && summarySchema.parse(JSON.parse(String(stored.body)));
}

type Wrong = (what: string) => void;

/** The rows of all parts. Checks that each row is there once, in the order of the source. */
async function rowsOf(
  name: string,
  { parts }: z.infer<typeof summarySchema>,
  { scene }: Finished,
  wrong: Wrong,
): Promise<readonly PartRow[]> {
  const rows: PartRow[] = [];
  for (const [chunk, part] of parts.entries()) {
    const stored = await scene.store.get(part.key);
    if (stored === undefined) {
      wrong(`names ${part.key}, which is gone`);
      continue;
    }
    const lines = String(gunzipSync(stored.body)).trimEnd().split('\n');
    if (lines.length !== part.rows) wrong(`says that ${part.key} has ${part.rows} rows, not ${lines.length}`);
    for (const line of lines) {
      const row = rowSchema.parse(JSON.parse(line));
      if (row.batch !== name || row.chunk !== chunk) wrong(`has a row of ${row.batch}, chunk ${row.chunk}`);
      rows.push(row);
    }
  }
  const named = new Set(parts.map(({ key }) => key));
  for await (const { key } of scene.store.list(`scores/${name}/part-`))
    if (!named.has(key)) wrong(`does not name ${key}, whose rows SQL would read twice`);
  const lines = rows.map(({ line }) => line);
  if (lines.some((line, at) => line !== at + 1)) wrong(`has the lines ${lines.join(' ')}`);
  return rows;
}

function checkCounts(
  summary: z.infer<typeof summarySchema>,
  rows: readonly PartRow[],
  { texts }: PlannedBatch,
  wrong: Wrong,
): void {
  const bad = texts.filter((text) => text === undefined).length;
  const erased = rows.filter((row) => row.erased).length;
  const scored = rows.filter(({ sentiment }) => sentiment !== undefined).length;
  const found = { rows: texts.length, scored, failed: texts.length - bad - erased - scored, bad, erased };
  for (const [what, count] of Object.entries(found))
    if (summary[what as keyof typeof found] !== count)
      wrong(`counts ${summary[what as keyof typeof found]} ${what} rows, not ${count}`);
  const chunks = Math.ceil(texts.length / ROWS);
  if (summary.chunks !== chunks || summary.parts.length !== chunks)
    wrong(`has ${summary.parts.length} parts of ${summary.chunks} chunks, not ${chunks}`);
}

type Expected = {
  readonly at: number;
  readonly text: number | undefined;
  readonly number: number;
  readonly excuses: readonly Excuse[];
};

function checkRow(row: PartRow | undefined, expected: Expected, { scene, sent, broken }: Finished): void {
  const { at, text, number, excuses } = expected;
  const name = `line ${at + 1} of ${batchName(number)}`;
  const split = sent.batches.split.get(number);
  const forgotten = (text === undefined ? undefined : sent.batches.forgotten.get(text)) ?? [];
  // A batch that is split while a text is being forgotten may still contain it.
  const isForgotten = forgotten.some(({ fromMs }) => split !== undefined && split.doneMs < fromMs);
  const wrong = (what: string) => broken(`No row is lost silently: ${name} ${what}: ${JSON.stringify(row)}`);
  if (row === undefined) return;
  if (row.id !== `row-${at + 1}`) wrong('has another id');
  if (text === undefined) {
    if (row.error !== 'the text is blank') wrong('is blank');
    return;
  }
  if (row.erased) {
    if (forgotten.length === 0) wrong('was not forgotten');
    return;
  }
  if (isForgotten) wrong(`was forgotten`);
  if (row.textHash !== hashOf(text) || row.columns?.number !== String(text)) wrong(`is of text ${text}`);
  if (row.sentiment !== undefined) {
    if (scene.platform.executionsOf(textOf(text)).length === 0) wrong('was never scored');
    return;
  }
  const isDoubtful = scene.platform.troubled.has(`text ${text}`);
  if (excuses.length === 0 && !isDoubtful) wrong('failed, and nothing explains it');
}

/** Checks the maximum of calls of a batch. Only texts that no other batch or job has are counted. */
function checkLimit({ texts, maxCalls }: PlannedBatch, { plan, scene }: Finished, wrong: Wrong): void {
  if (maxCalls === undefined) return;
  const others = new Set([
    ...plan.batches.filter((batch) => batch.texts !== texts).flatMap((batch) => batch.texts),
    ...plan.jobs.flatMap(({ job }) => (job.type === 'score' ? job.texts : [])),
  ]);
  const own = new Set(
    texts.filter((text) => text !== undefined && !others.has(text)).map((text) => `text ${text}`),
  );
  const calls = Array.from(own, (text) => scene.platform.executionsOf(text).length).reduce(
    (a, b) => a + b,
    0,
  );
  if (calls > maxCalls) wrong(`made ${calls} calls, and may make ${maxCalls}`);
}
