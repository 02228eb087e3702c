import { once } from 'node:events';
import { sleep } from '../../lib/base/async.ts';
import { createFleetPace } from '../../lib/pace/fleet-pace.ts';
import { createTableBudget } from '../../lib/pace/stored-budget.ts';
import { createPlatform } from '../../lib/platform/open-calls.ts';
import { fixedToken } from '../../lib/platform/token.ts';
import { createDynamoClient, createDynamoTable } from '../../lib/table/dynamo-table.ts';
import { onDateOf } from '../../lib/table/open-table.ts';
import { TICK_MS, type WorkerPlan, type WorkerReport, type WorkerStart } from './pace-fleet.ts';

/*
 * One worker of the bench. It gets its plan as its argument, and its start and end by messages. It reports its counts
 * by messages.
 */

const REPORT_EVERY_MS = 250;

let startedMs = Number.POSITIVE_INFINITY;
const plan = JSON.parse(process.argv[2] ?? '') as WorkerPlan;
const requested = { writes: 0, reads: 0 };
const succeededByTick: Record<string, number> = {};
const pace = createFleetPace({
  rate: plan.rate,
  concurrency: plan.concurrency,
  item: countedItem(plan.settings),
  now,
});
const platform = createPlatform({
  baseUrl: plan.settings['PLATFORM_BASE_URL'] ?? '',
  token: fixedToken(plan.settings['PLATFORM_TOKEN'] ?? ''),
  pace,
  observe: (event) => {
    if (event.kind !== 'request' || event.status !== 200) return;
    const tick = Math.floor(Date.now() / TICK_MS);
    succeededByTick[tick] = (succeededByTick[tick] ?? 0) + 1;
  },
});

// Starting the SDK takes longer than a block, and is not measured.
await warmUp();
// The first call of a process waits for its clock, and is not measured.
await pace.run(async () => undefined);
requested.reads = 0;
process.send?.('ready');
const [{ startAtMs, endAtMs }] = (await once(process, 'message')) as [WorkerStart];
startedMs = startAtMs;
await sleep(startAtMs - Date.now());
const reporting = setInterval(sendReport, REPORT_EVERY_MS);
const work = plan.kind === 'idle' ? idle() : Promise.all(Array.from({ length: plan.loops }, keepBusy));
await Promise.race([work, sleep(endAtMs - Date.now())]);
clearInterval(reporting);
await new Promise<void>((resolve) => process.send?.(report(), undefined, undefined, () => resolve()));
process.exit(0);

async function warmUp(): Promise<void> {
  const item = countedItem(plan.settings);
  for (let attempt = 1; ; attempt += 1) {
    try {
      await item.read();
      return;
    } catch (error) {
      // Many processes that start at the same time are slow.
      if (attempt === 10) throw error;
    }
  }
}

function report(): WorkerReport {
  return { ...requested, ...pace.counts(), succeededByTick };
}

function sendReport(): void {
  process.send?.(report());
}

async function callOnce(): Promise<void> {
  const { sentMs } = plan.faults ?? {};
  const beforeSend = sentMs === undefined ? undefined : () => sleep(sentMs);
  await platform.calculations.search({ sort: { field: 'id', ascending: true }, limit: 1 }, { beforeSend });
}

async function keepBusy(): Promise<void> {
  while (Date.now() < endAtMs) await callOnce();
}

/** Makes occasional calls. */
async function idle(): Promise<void> {
  while (Date.now() < endAtMs) {
    await callOnce();
    await sleep(5_000);
  }
}

function now(): number {
  return Date.now() + (plan.faults?.skewMs ?? 0);
}

function isTableUnavailable(): boolean {
  const { fromMs, untilMs } = plan.faults?.tableUnavailable ?? { fromMs: 0, untilMs: 0 };
  const atMs = Date.now() - startedMs;
  return atMs >= fromMs && atMs < untilMs;
}

function countedItem(settings: WorkerPlan['settings']) {
  const client = createDynamoClient(settings, { attempts: 2, timeoutMs: 1_000 });
  client.middlewareStack.add(
    (next, context) => (args) => {
      requested[context.commandName === 'GetItemCommand' ? 'reads' : 'writes'] += 1;
      if (isTableUnavailable())
        throw Object.assign(new Error('the table is unavailable'), { code: 'ECONNREFUSED' });
      return next(args);
    },
    { step: 'initialize' },
  );
  const tableName = settings['SYNC_TABLE'] ?? '';
  const { host } = new URL(settings['PLATFORM_BASE_URL'] ?? '');
  const table = createDynamoTable({ tableName, environment: settings, client });
  return createTableBudget({ table, host, onDate: onDateOf(client, now) });
}
