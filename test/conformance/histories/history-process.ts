import { openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { sleep } from '../../../lib/base/async.ts';
import { openTable } from '../../../lib/table/index.ts';
import { createDice } from '../../proofs/dice.ts';
import { type Fault, faultyTable } from './faults.ts';
import { jobClient } from './job-client.ts';
import { paceClient } from './pace-client.ts';
import { textClient } from './text-client.ts';

/*
 * One of several concurrent clients that take random steps on the same rows. It writes each call and each response as a
 * line of a file, with the time of a clock that all processes share. It may be killed at any time.
 */

const { values } = parseArgs({
  options: {
    table: { type: 'string', default: '' },
    folder: { type: 'string', default: '' },
    name: { type: 'string', default: '' },
    from: { type: 'string', default: '0' },
    to: { type: 'string', default: '0' },
    seed: { type: 'string', default: '0' },
    steps: { type: 'string', default: '8' },
    began: { type: 'string', default: '0' },
    fault: { type: 'string' },
  },
});
const fault = values.fault as Fault | undefined;
const { table } = await openTable(values.table, process.env, { attempts: 1 });
const file = openSync(join(values.folder, `${values.name}.ndjson`), 'a');
const offsetMs = createDice(Number(values.seed)).below(4_000) - 2_000;
/** This clock runs fifty times as fast as the machine's, so that leases end within a history. */
const nowMs = () => 1_700_000_000_000 + (Date.now() - Number(values.began)) * 50 + offsetMs;
let calls = 0;
const newId = () => {
  calls += 1;
  return `${values.name}-${calls}`;
};

const clients = { job: jobClient, text: textClient, pace: paceClient };

await Promise.all(
  Array.from({ length: Number(values.to) - Number(values.from) }, (_, at) =>
    follow(Number(values.from) + at),
  ),
);

async function follow(at: number): Promise<void> {
  const kind = (['job', 'text', 'job', 'pace'] as const)[at % 4] ?? 'job';
  const history = `${kind}-${at}`;
  const dice = createDice(Number(values.seed) * 100_003 + at);
  const step = clients[kind]({
    history,
    dice,
    fault,
    nowMs,
    folder: values.folder,
    table: faultyTable(table, dice, isBlind(kind)),
    record: (line) => write({ history, kind, ...line }),
    newId,
  });
  for (let steps = 0; steps < Number(values.steps); steps += 1) {
    await sleep(dice.below(25));
    await step();
  }
}

function isBlind(kind: string): boolean {
  return (kind === 'job' && fault === 'blind-writes') || (kind === 'pace' && fault === 'stale-line');
}

function write(line: object): void {
  writeSync(file, `${JSON.stringify({ ...line, at: Number(process.hrtime.bigint() / 1_000n) })}\n`);
}
