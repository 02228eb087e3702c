import type { Store } from '../../lib/store/store.ts';

/** A deployed stack, or one on this machine, as far as the smoke test needs it. */
export type Deployment = {
  readonly store: Store;
  /** Sends a job to the queue of all job types. */
  send(job: object): Promise<void>;
  /** Sends an event to the bus, and returns its id. */
  emit(event: SmokeEvent): Promise<string>;
  /** Runs a query, and returns the number of rows; undefined without Athena. */
  readonly query: ((sql: string) => Promise<number>) | undefined;
  /** The names of red alarms; undefined without CloudWatch. */
  readonly redAlarms: (() => Promise<readonly string[]>) | undefined;
  /** Waits a while, in which started work continues. */
  wait(): Promise<void>;
};

type SmokeEvent = {
  readonly source: string;
  readonly detailType: string;
  readonly detail: Readonly<Record<string, unknown>>;
};

/** Facts that only the operator knows: without them, the step is skipped. */
export type SmokeInputs = {
  /** A harmless job of a code function: package, version, name and input. */
  readonly job?: Readonly<Record<string, unknown>> | undefined;
  /** An event that matches a rule of the stack. */
  readonly event?: SmokeEvent | undefined;
};

export type Report = {
  readonly step: string;
  readonly outcome: 'passed' | 'failed' | 'skipped';
  readonly says: string;
};

/** Thrown by a step that cannot be run here, so that it does not count as passed. */
class Skipped extends Error {}

type Smoke = Deployment & SmokeInputs & { readonly now: () => number; readonly timeoutMs: number };

/** The steps. Each does one thing as users do, and returns the outcome in words. It throws if it failed, or `Skipped`. */
const steps = {
  async snapshot(smoke) {
    const id = `smoke-${smoke.now()}`;
    // The snapshot has a separate place and finds nothing, so that published data does not change. The search is always
    // the same, since a run with another selection would be refused.
    const name = 'smoke-of-no-calculation';
    await smoke.send({ version: 1, type: 'snapshot', source: 'calculations', name, as: 'smoke', id });
    const since = new Date(smoke.now() - CLOCKS_DIFFER_MS).toISOString();
    const { run } = await until(smoke, 'calculations.smoke/latest.json', async () => {
      const latest = await read(smoke, 'calculations.smoke/latest.json');
      return latest !== undefined && String(latest['startedAt']) > since ? latest : undefined;
    });
    return `published run ${run}`;
  },
  async score(smoke) {
    const id = `smoke-score-${smoke.now()}`;
    await smoke.send({ version: 1, type: 'score', id, texts: [{ id: 'a', text: 'This is wonderful!' }] });
    return done(await resultOf(smoke, 'score', id));
  },
  async function(smoke) {
    if (smoke.job === undefined) throw new Skipped('no --job was given');
    const id = `smoke-function-${smoke.now()}`;
    await smoke.send({ ...smoke.job, version: 1, type: 'run-function', id });
    return done(await resultOf(smoke, 'run-function', id));
  },
  async event(smoke) {
    if (smoke.event === undefined) throw new Skipped('no --event was given');
    const id = await smoke.emit(smoke.event);
    return done(await resultOf(smoke, 'run-function', id));
  },
  async query({ query }) {
    if (query === undefined) throw new Skipped('there is no Athena here');
    return `${await query('SELECT count(*) FROM calculations')} rows`;
  },
  async alarms({ redAlarms }) {
    if (redAlarms === undefined) throw new Skipped('there is no CloudWatch here');
    const red = await redAlarms();
    if (red.length > 0) throw new Error(`expected no red alarm, got ${red.join(', ')}`);
    return 'none is red';
  },
} as const satisfies Readonly<Record<string, (smoke: Smoke) => Promise<string>>>;

/** Maximum difference between the clocks of a laptop and of Lambda. */
const CLOCKS_DIFFER_MS = 60_000;

/** Runs all steps one after another, and reports each. A failed step does not stop the next ones. */
export async function* smokeTest(smoke: Smoke): AsyncGenerator<Report> {
  for (const [step, take] of Object.entries(steps)) {
    try {
      yield { step, outcome: 'passed', says: await take(smoke) };
    } catch (error) {
      const says = error instanceof Error ? error.message : String(error);
      yield { step, outcome: error instanceof Skipped ? 'skipped' : 'failed', says };
    }
  }
}

type Json = Readonly<Record<string, unknown>>;

async function read({ store }: Smoke, key: string): Promise<Json | undefined> {
  const object = await store.get(key);
  return object && JSON.parse(object.body.toString());
}

/** Waits for the result of a job. The id of an event's job ends with the event's id, after its rule's name. */
const resultOf = (smoke: Smoke, type: string, id: string): Promise<Json> =>
  until(smoke, `the result of ${id}`, async () => {
    for await (const { key } of smoke.store.list(`results/${type}/`))
      if (key.endsWith(`/${id}.json`) || key.endsWith(`.${id}.json`)) return read(smoke, key);
    return undefined;
  });

function done({ status, error }: Json): string {
  if (status !== 'done')
    throw new Error(`expected a job that is done, got ${status}: ${JSON.stringify(error)}`);
  return 'done';
}

async function until<T>(smoke: Smoke, what: string, find: () => Promise<T | undefined>): Promise<T> {
  const end = smoke.now() + smoke.timeoutMs;
  for (;;) {
    const found = await find();
    if (found !== undefined) return found;
    if (smoke.now() > end)
      throw new Error(`expected ${what} within ${smoke.timeoutMs / 1_000} s, got nothing`);
    await smoke.wait();
  }
}
