import { cancelBatch } from '../../../lib/jobs/cancel.ts';
import type { Worker } from '../../../lib/jobs/handle-message.ts';
import type { Queue } from '../../../lib/jobs/queue/queue.ts';
import { redriveBatch } from '../../../lib/jobs/redrive.ts';
import { splitBatch } from '../../../lib/jobs/texts/batch/score-file.ts';
import { createScoreCache } from '../../../lib/jobs/texts/cache/score-cache.ts';
import { forget } from '../../../lib/jobs/texts/forget.ts';
import type { InputRow } from '../../jobs/texts/fakes.ts';
import { hashOf, textOf } from '../job-plan.ts';
import type { Deed, Plan, PlannedBatch } from './plan.ts';
import type { Scene } from './scene.ts';
import { openSession, workerOf } from './session.ts';

/** When a command on a batch or text began and when it was done, in milliseconds from the start. */
type Commanded = { readonly fromMs: number; readonly doneMs: number };

/** The commands that people gave, by the number of the batch (from 1) or of the text. */
export type SentBatches = {
  readonly split: Map<number, Commanded>;
  readonly cancelled: Set<number>;
  readonly forgotten: Map<number, readonly Commanded[]>;
};

export const batchName = (number: number): string => `batch-${number}`;

const HOST = 'platform';
const AGAIN_MS = 5_000;

/** Runs a command in a separate process, and repeats it until it succeeds: it may fail or die at any point. */
async function command(
  name: string,
  scene: Scene,
  act: (parts: { readonly worker: Worker; readonly queue: Queue }) => Promise<unknown>,
): Promise<Commanded> {
  const { world, queue } = scene;
  const fromMs = world.sinceStartMs();
  for (let number = 1; ; number += 1) {
    const process = world.start(`${name}.${number}`);
    const died = new Promise<string>((resolve) => process.onEnd.push(() => resolve('died')));
    const worker = workerOf(openSession(process, scene, { skewMs: 0 }), scene);
    const ended = await Promise.race([
      act({ worker, queue: queue.queueFor(process) }).then(
        () => 'done',
        (error: unknown) => `fails: ${String(error)}`,
      ),
      died,
    ]);
    world.end(process, ended);
    if (ended === 'done') return { fromMs, doneMs: world.sinceStartMs() };
    await world.clock.sleep(AGAIN_MS);
  }
}

async function* rowsOf({ texts }: PlannedBatch): AsyncGenerator<InputRow> {
  for (const [index, text] of texts.entries()) {
    const line = index + 1;
    const id = `row-${line}`;
    if (text === undefined) yield { line, id, fault: 'the text is blank' };
    else yield { line, id, text: textOf(text), columns: { number: String(text) } };
  }
}

/** Splits the batches of the plan at their times. */
export function splitAsPlanned({ batches }: Plan, scene: Scene, sent: SentBatches): void {
  const split = async (planned: PlannedBatch, number: number) => {
    await scene.world.clock.sleep(planned.atMs);
    const { maxCalls } = planned;
    const request = { batch: batchName(number), request: {}, rows: () => rowsOf(planned), host: HOST };
    const done = await command(`split-${number}`, scene, async ({ worker, queue }) => {
      const cache = createScoreCache({ ...worker.batches, host: HOST, owner: 'split', attemptMs: 0 });
      const options = { ...worker.batches, cache, rate: scene.world.plan.rate, maxCalls };
      const answer = await splitBatch(request, {
        ...options,
        send: (messages) => queue.send(messages.map((message) => JSON.stringify(message))),
      });
      if (answer.kind === 'refused') throw new Error(answer.reasons.join('; '));
    });
    sent.split.set(number, done);
  };
  for (const [index, planned] of batches.entries()) void split(planned, index + 1);
}

/** A deed that concerns a batch or a text. */
type DeedOnBatch = Extract<Deed, { readonly kind: 'cancel batch' | 'redrive batch' | 'forget' }>;

export async function meddleWithBatch(deed: DeedOnBatch, scene: Scene, sent: SentBatches): Promise<void> {
  const name = `${deed.kind.replace(' ', '-')}-${Math.round(deed.atMs)}`;
  if (deed.kind === 'forget') {
    const { text } = deed;
    const done = await command(name, scene, ({ worker }) =>
      forget({ textHash: hashOf(text) }, worker.batches, { environment: {} }),
    );
    sent.forgotten.set(text, [...(sent.forgotten.get(text) ?? []), done]);
    return;
  }
  const batch = batchName(deed.batch);
  if (deed.kind === 'cancel batch') sent.cancelled.add(deed.batch);
  await command(name, scene, ({ worker, queue }) => {
    const { ledger, batches } = worker;
    return deed.kind === 'cancel batch'
      ? cancelBatch(batch, { ledger, batches })
      : redriveBatch(batch, { ledger, batches, store: batches.store, queue });
  });
}
