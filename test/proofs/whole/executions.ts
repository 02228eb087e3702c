import { AwsError } from '../../../lib/base/aws/fault.ts';
import { parseExecutionInput } from '../../../lib/jobs/types/snapshot/open-snapshots.ts';
import {
  afterStepFailure,
  type DurableSteps,
  takeDurableSnapshot,
} from '../../../lib/snapshot/durable/durable-snapshot.ts';
import type { StartExecution } from '../../../lib/snapshot/durable/start-execution.ts';
import { pageRows } from './plan.ts';
import type { Scene } from './scene.ts';
import { HOST, openSession, type Session } from './session.ts';
import type { Process } from './world.ts';

/** An entry that is stored for an execution, in order. `result` is JSON. */
type Entry =
  | { readonly kind: 'wait' }
  | { readonly kind: 'step'; readonly name: string; readonly result: string }
  | { readonly kind: 'failed'; readonly name: string; readonly error: unknown };

/** How an invocation ended: the execution is over, or another invocation follows after a while. */
type Invoked =
  | { readonly kind: 'over'; readonly how: string }
  | { readonly kind: 'again'; readonly afterMs: number };

const LIMIT_MS = 900_000;
const MARGIN_MS = 60_000;
/** Delay before the service invokes a dead function again. */
const AFTER_DEATH_MS = 2_000;

/** The durable executions of snapshots. Each name is started only once, even if the start is repeated. */
export function createExecutions(scene: () => Scene) {
  const started = new Map<string, string | undefined>();
  const read = new Map<string, number[]>();

  const run = async (name: string, input: unknown): Promise<void> => {
    const { world } = scene();
    const entries: Entry[] = [];
    const failures = { count: 0 };
    const offsets: number[] = [];
    read.set(name, offsets);
    for (let number = 1; ; number += 1) {
      const process = world.start(`${name.slice(0, 18)}#${number}`);
      const invoked = await invoke({ process, input, entries, failures }, scene());
      world.end(process, invoked.kind === 'over' ? `ends ${invoked.how}` : 'suspends');
      offsets.push(...scene().platform.offsetsOf(process));
      if (invoked.kind === 'over') {
        started.set(name, invoked.how);
        return;
      }
      await world.clock.sleep(invoked.afterMs);
    }
  };

  return {
    /** The executions that were started, and how each ended; undefined while it runs. */
    started: (): ReadonlyMap<string, string | undefined> => started,
    /** The offsets of the pages that each execution got in its scan, in order. */
    read: read as ReadonlyMap<string, readonly number[]>,
    startFrom:
      (process: Process): StartExecution =>
      async ({ name, input }) => {
        const label = `start ${name}`;
        await scene().world.act(process, {
          label,
          border: 'executions',
          timeoutMs: 10_000,
          perform: () => {
            if (started.has(name)) return;
            started.set(name, undefined);
            void run(name, JSON.parse(input));
          },
          failure: (kind) =>
            new AwsError(
              'snapshot-function',
              label,
              kind === 'busy'
                ? Object.assign(new Error(kind), {
                    name: 'TooManyRequestsException',
                    $metadata: { httpStatusCode: 429 },
                  })
                : Object.assign(new Error(kind), { code: 'ECONNRESET' }),
            ),
        });
      },
  };
}

export type Executions = ReturnType<typeof createExecutions>;

type Invocation = {
  readonly process: Process;
  readonly input: unknown;
  readonly entries: Entry[];
  /** The number of failures of the current step. */
  readonly failures: { count: number };
};

/** Runs one invocation: from the beginning, with the stored results, until it waits, fails, dies or ends. */
function invoke(invocation: Invocation, scene: Scene): Promise<Invoked> {
  const { process, input } = invocation;
  const { world } = scene;
  const session = openSession(process, scene, {
    reserve: 'single',
    skewMs: world.dice.pick(world.plan.skewsMs),
  });
  const endsMs = world.sinceStartMs() + LIMIT_MS;
  return new Promise((resolve) => {
    process.onEnd.push(() => resolve({ kind: 'again', afterMs: AFTER_DEATH_MS }));
    void world.clock.sleep(LIMIT_MS).then(() => world.end(process, 'reaches its time limit'));
    const remainingMs = () => Math.floor(endsMs - world.sinceStartMs());
    const steps = stepsOf(invocation, scene, {
      remainingMs,
      suspend: (afterMs) => resolve({ kind: 'again', afterMs }),
    });
    takeDurableSnapshot(parseExecutionInput(input), steps, optionsOf(session, scene)).then(
      ({ kind, run }) => resolve({ kind: 'over', how: `${kind} ${run}` }),
      (error: unknown) => resolve({ kind: 'over', how: `stopped: ${String(error)}` }),
    );
  });
}

type Powers = { readonly remainingMs: () => number; readonly suspend: (afterMs: number) => void };

function stepsOf(
  { process, entries, failures }: Invocation,
  { world }: Scene,
  { remainingMs, suspend }: Powers,
): DurableSteps {
  let at = 0;
  const never = () => new Promise<never>(() => undefined);
  const next = (): Entry | undefined => {
    at += 1;
    return entries[at - 1];
  };
  return {
    limitMs: LIMIT_MS,
    remainingMs,
    async step<T>(name: string, act: () => Promise<T>): Promise<T> {
      const before = next();
      if (before?.kind === 'failed') throw before.error;
      if (before?.kind === 'step') return JSON.parse(before.result) as T;
      try {
        const result = JSON.stringify(await act());
        await world.troubles(process, `${name}, before its result is stored`);
        entries.push({ kind: 'step', name, result });
        failures.count = 0;
        return JSON.parse(result) as T;
      } catch (error) {
        failures.count += 1;
        const after = afterStepFailure(error, failures.count, world.diceFor(process).fraction());
        world.log(process.name, `${name} fails, ${after.kind}: ${String(error)}`);
        if (after.kind === 'retry') {
          suspend(Math.max(1_000, after.delayMs));
          return never();
        }
        entries.push({ kind: 'failed', name, error });
        throw error;
      }
    },
    async wait(ms) {
      if (next() !== undefined) return;
      entries.push({ kind: 'wait' });
      suspend(ms);
      await never();
    },
  };
}

const optionsOf = (session: Session, { world }: Scene) => ({
  call: session.callWith({ budgetMs: 60_000 }),
  store: session.store,
  compression:
    (['gzip', 'zstd'] as const)[Math.floor(world.sinceStartMs() / world.plan.compressionLastsMs) % 2] ??
    'gzip',
  host: HOST,
  callCounts: session.counts,
  paceCounts: session.pace.counts,
  now: session.now,
  random: session.random,
  sleep: session.sleep,
  sliceMs: world.plan.sliceMs,
  marginMs: MARGIN_MS,
  pageRows: pageRows(world.plan),
});
