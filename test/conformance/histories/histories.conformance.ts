import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempDisposableSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { sleep } from '../../../lib/base/async.ts';
import { enginesOf } from '../../base/aws/engines.ts';
import { startDynamo } from '../../table/start-dynamo.ts';
import { type Fault, faults } from './faults.ts';

/*
 * Clients in separate processes take random steps on the same rows of jobs, texts and the budget. Requests are lost or
 * late, clocks differ by seconds, and a process is killed and replaced. Then porcupine searches for a sequential order
 * of the steps that yields the same responses. `HISTORIES=10000` runs more histories than the default.
 */

const { porcupine, dynamoDb } = enginesOf(process.env);

/** Number of concurrent histories. They share the connections, and a batch takes a few seconds. */
const BATCH = 250;

const BATCHES = Math.ceil(Number(process.env['HISTORIES'] ?? 1_000) / BATCH);

/**
 * How many batches may run until a fault is found. The rarest, a stale line, was found 4 to 17 times in each of six
 * batches, so the chance that two batches both lack it is below one in a thousand.
 */
const MAX_FAULTY_BATCHES = 2;

type Verdict = {
  readonly histories: number;
  readonly operations: number;
  readonly violations: readonly string[];
  readonly undecided: readonly string[];
};

test(
  `${BATCHES * BATCH} histories of requests to single rows are valid, although requests are lost or late, clocks wrong and processes killed`,
  async () => {
    for (let batch = 0; batch < BATCHES; batch += 1) {
      const { violations, undecided, histories, operations } = await judged({ seed: 1_000 * (batch + 1) });
      expect(violations, `violations in batch ${batch}`).toEqual([]);
      expect(undecided, `undecided in batch ${batch}`).toEqual([]);
      expect(histories, `histories in batch ${batch}`).toBe(BATCH);
      expect(operations).toBeGreaterThan(20 * BATCH);
    }
  },
  BATCHES * 120_000,
);

test.each(faults)(
  'a client with the fault %s is detected',
  async (fault) => {
    let violations: readonly string[] = [];
    for (let batch = 1; batch <= MAX_FAULTY_BATCHES && violations.length === 0; batch += 1)
      ({ violations } = await judged({ seed: 77 * batch, fault }));

    const found = new Set(violations.map((name) => name.split('-')[0]));
    const kind = { 'held-text': 'text', 'stale-line': 'pace' }[fault as string] ?? 'job';
    expect([...found]).toEqual([kind]);
  },
  MAX_FAULTY_BATCHES * 120_000,
);

async function judged({ seed, fault }: { readonly seed: number; readonly fault?: Fault }): Promise<Verdict> {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'histories-'));
  await using table = await openTable(folder.path);
  const began = String(Date.now());
  const start = (name: string, own: number) =>
    client({
      ...table,
      folder: folder.path,
      name,
      began,
      seed: seed + own,
      fault: name === 'a' ? fault : undefined,
    });
  const clients = [start('a', 1), start('b', 2), start('c', 3)] as const;
  const [first, second, third] = clients;
  await untilWritten(join(folder.path, 'c.ndjson'), 40_000);
  third.child.kill('SIGKILL');
  const fourth = start('d', 4);
  await Promise.all([first.ended, second.ended, fourth.ended]);
  const verdict = await check(folder.path);
  if (fault === undefined) await printLines(folder.path, [...verdict.violations, ...verdict.undecided]);
  return verdict;
}

/** Prints the calls and responses of these histories, since they cannot be reproduced. */
async function printLines(folder: string, names: readonly string[]): Promise<void> {
  for (const file of names.length > 0 ? await filesOf(folder) : [])
    for (const line of (await readFile(file, 'utf8')).split('\n'))
      if (names.some((name) => line.includes(`"history":"${name}"`))) console.error(line);
}

const filesOf = async (folder: string): Promise<readonly string[]> =>
  (await readdir(folder)).filter((file) => file.endsWith('.ndjson')).map((file) => join(folder, file));

async function openTable(folder: string) {
  if (dynamoDb === undefined)
    return { table: `sqlite:${join(folder, 'table.db')}`, environment: {}, async [Symbol.asyncDispose]() {} };
  const dynamo = await startDynamo();
  await dynamo.createTable('histories');
  return {
    table: 'histories',
    environment: dynamo.environment,
    [Symbol.asyncDispose]: () => dynamo.close(),
  };
}

type Client = {
  readonly table: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly folder: string;
  readonly name: string;
  readonly began: string;
  readonly seed: number;
  readonly fault: Fault | undefined;
};

function client({ table, environment, folder, name, began, seed, fault }: Client) {
  const script = join(import.meta.dirname, 'history-process.ts');
  const options = { table, folder, name, began, seed: String(seed), to: String(BATCH), fault };
  const words = Object.entries(options).flatMap(([option, value]) =>
    value === undefined ? [] : [`--${option}=${value}`],
  );
  const child = spawn(process.execPath, [script, ...words], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const ended = once(child, 'exit').then(([code]) => {
    if (code !== 0) throw new Error(`client ${name} ended with ${code}`);
  });
  ended.catch(() => {});
  return { child, ended };
}

async function untilWritten(file: string, bytes: number): Promise<void> {
  for (;;) {
    const written = await stat(file).catch(() => undefined);
    if ((written?.size ?? 0) >= bytes) return;
    await sleep(20);
  }
}

async function check(folder: string): Promise<Verdict> {
  const [command, ...args] = porcupine?.command ?? [''];
  const checker = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  // The last line of a killed process may be incomplete, so each file ends with an extra line break.
  for (const file of await filesOf(folder)) checker.stdin.write(`${await readFile(file, 'utf8')}\n`);
  checker.stdin.end();
  return JSON.parse(await text(checker.stdout));
}
