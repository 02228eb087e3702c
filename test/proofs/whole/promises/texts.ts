import { hash } from 'node:crypto';
import * as z from 'zod/mini';
import { hashOf, textOf } from '../../job-plan.ts';
import { keysByName } from './jobs.ts';
import type { Finished } from './promises.ts';

/** The checked members of a text's row. */
const rowSchema = z.object({
  state: z.string(),
  textHash: z.string(),
  sends: z.number(),
  payer: z.optional(z.string()),
});

const resultSchema = z.object({
  response: z.object({
    results: z.array(z.object({ calls: z.number(), error: z.optional(z.string()) })),
  }),
});

/**
 * **No send is repeated blindly**: a text is paid for once, and every call that may have cost money is counted, in the
 * cache or, for a failed text, in its result. `ofBatches`: the number of calls in each batch's summary.
 */
export async function checkTexts(ended: Finished, ofBatches: ReadonlyMap<string, number>) {
  const { plan, scene, sent, broken } = ended;
  const failed = await callsOfFailures(ended);
  const forgotten = new Set(
    [...sent.batches.forgotten.keys()].flatMap((text) => [textOf(text), hashOf(text)]),
  );
  const rows = (await Array.fromAsync(scene.table.rows.scan('score#')))
    .map(({ row }) => rowSchema.parse(row))
    // A job that was under way may have stored a forgotten text again, which its batch does not count.
    .filter(({ textHash }) => !forgotten.has(textHash));
  const sendsOf = new Map(rows.map(({ textHash, sends }) => [textHash, sends]));
  const inBatches = new Set(plan.batches.flatMap(({ texts }) => texts.map((text) => `text ${text}`)));
  const texts = scene.platform.texts();
  let [again, uncounted] = [0, 0];
  for (const text of texts) {
    const own = scene.platform.executionsOf(text);
    again += own.length - 1;
    if (forgotten.has(text)) continue;
    const sends = sendsOf.get(hash('sha256', text));
    const counted = (sends ?? 0) + (failed.get(text) ?? 0);
    // A batch has one count of calls for all its failed texts.
    if (inBatches.has(text)) uncounted += Math.max(0, own.length - counted);
    else if (sends === undefined && !failed.has(text))
      broken(`A text is paid for once: ${text} was scored, and has no row`);
    else if (counted < own.length)
      broken(`A text is paid for once: ${text} was scored ${own.length} times, and ${counted} were counted`);
    // A response that reached a process that had no fault since the request is never paid for again. While a process is
    // paused, its claim of a text expires.
    const sound = own.filter(
      ({ isKnown, process, troublesBefore }) => isKnown && process.troubles === troublesBefore,
    );
    if (sound.length > 1)
      broken(`A text is paid for once: ${text} was scored ${sound.length} times without any fault`);
  }
  const ofScored = (batch: string) =>
    rows
      .filter(({ state, payer }) => state === 'SCORED' && payer?.startsWith(`${batch}.`))
      .reduce((sum, { sends }) => sum + sends, 0);
  const ofFailed = Array.from(ofBatches, ([batch, all]) => Math.max(0, all - ofScored(batch)));
  if (uncounted > ofFailed.reduce((sum, each) => sum + each, 0))
    broken(
      `A text is paid for once: ${uncounted} calls are in no row, and in batches ${ofFailed.join(' + ')}`,
    );
  return { texts: texts.length, paidAgain: again };
}

/** The number of calls for failed texts, according to the results of their jobs. */
async function callsOfFailures({ plan, scene, sent }: Finished): Promise<ReadonlyMap<string, number>> {
  const calls = new Map<string, number>();
  const keys = await keysByName('results/score/', scene);
  for (const [index, { job }] of plan.jobs.entries()) {
    const [own] = keys.get(`${sent.ids.get(index + 1)}.json`) ?? [];
    if (job.type !== 'score' || own === undefined) continue;
    const result = resultSchema.safeParse(JSON.parse(String((await scene.store.get(own))?.body)));
    for (const [at, each] of (result.data?.response.results ?? []).entries()) {
      const text = textOf(job.texts[at] ?? 0);
      if (each.error !== undefined) calls.set(text, (calls.get(text) ?? 0) + each.calls);
    }
  }
  return calls;
}
