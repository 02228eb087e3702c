import { setImmediate as settled } from 'node:timers/promises';
import type { Ask, Reply } from './asks.ts';
import { NoResponseError, type Outside } from './outside.ts';

/*
 * The explored code is real and asynchronous, so its state cannot be copied. But it is deterministic: its position
 * follows from how it was started and from the replies that it got, in order, with their times. So each history of
 * replies is run once and stored with what the code requests next. A state of the exploration only refers to the
 * histories of the runs under way.
 */

/** How a run of the explored code begins. `name` is unique among runs, since tokens are derived from it. */
export type Start<Role extends string = string> = {
  readonly name: string;
  readonly role: Role;
  readonly nowMs: number;
};

/** A request that has no reply yet. `number`: its position among the requests of its run, from 1. */
type UnderWay = { readonly number: number; readonly ask: Ask };

export type Answered = { readonly number: number; readonly reply: Reply; readonly nowMs: number };

type End = { readonly kind: 'returned' } | { readonly kind: 'threw'; readonly error: string };

export type History<S extends Start = Start> = {
  readonly id: number;
  readonly start: S;
  readonly underWay: readonly UnderWay[];
  /** Undefined while it runs. */
  readonly end: End | undefined;
  /** Whether a response of the platform that executed something has reached the code. */
  readonly hasHeard: boolean;
  /** Whether the code has looked for an outcome staged by another run and found none. */
  readonly hasLooked: boolean;
  /** The highest fence under which the code has written or tried to write; 0 before it has claimed. */
  readonly fence: number;
};

/** The explored code. Its promise settles when it has nothing left to do. */
export type Code<S extends Start> = (start: S, outside: Outside) => Promise<unknown>;

/** How a history was reached, and the histories that continue it, by their next reply. */
type Links<S extends Start> = {
  readonly before: History<S> | undefined;
  readonly answer: Answered | undefined;
  readonly next: Map<string, History<S>>;
};

/** Maximum number of suspended runs in memory. Other runs must replay all earlier replies before their next one. */
const MAX_LIVE = 2_000;

/** All histories that were reached so far. */
export function createHistories<S extends Start>(code: Code<S>) {
  const roots = new Map<string, History<S>>();
  const links: Links<S>[] = [];
  const live = new Map<number, Run>();
  const share = sharing<Ask>();

  const know = (run: Run, start: S, seen: Seen, link: Omit<Links<S>, 'next'>): History<S> => {
    const id = links.length;
    links.push({ ...link, next: new Map() });
    live.set(id, run);
    const [oldest] = live.keys();
    if (live.size > MAX_LIVE && oldest !== undefined) live.delete(oldest);
    const underWay = run.underWay().map(({ number, ask }) => ({ number, ask: share(ask) }));
    return { id, start, underWay, end: run.end(), ...seen };
  };

  const answersOf = ({ id }: History<S>): readonly Answered[] => {
    const answers: Answered[] = [];
    for (let link = links[id]; link?.answer !== undefined; link = links[link.before?.id ?? -1])
      answers.push(link.answer);
    return answers.reverse();
  };

  const runTo = async (history: History<S>): Promise<Run> => {
    const suspended = live.get(history.id);
    live.delete(history.id);
    if (suspended !== undefined) return suspended;
    const run = await startRun(history.start, code);
    for (const answer of answersOf(history)) await run.answer(answer);
    return run;
  };

  return {
    count: () => links.length,
    async begin(start: S): Promise<History<S>> {
      const name = JSON.stringify(start);
      const there = roots.get(name);
      if (there !== undefined) return there;
      const run = await startRun(start, code);
      const root = know(run, start, NOTHING_SEEN, { before: undefined, answer: undefined });
      roots.set(name, root);
      return root;
    },
    /** The history that continues this one with a reply. */
    async after(before: History<S>, answer: Answered): Promise<History<S>> {
      const name = JSON.stringify(answer);
      const there = links[before.id]?.next.get(name);
      if (there !== undefined) return there;
      const run = await runTo(before);
      await run.answer(answer);
      const after = know(run, before.start, seenAfter(before, answer), { before, answer });
      links[before.id]?.next.set(name, after);
      return after;
    },
  };
}

/** Creates a function that returns the first equal value of its calls: equal requests of many histories share memory. */
function sharing<T>(): (value: T) => T {
  const known = new Map<string, T>();
  return (value) => {
    const text = JSON.stringify(value);
    const there = known.get(text);
    if (there !== undefined) return there;
    known.set(text, value);
    return value;
  };
}

export type Histories<S extends Start> = ReturnType<typeof createHistories<S>>;

type Seen = Pick<History, 'hasHeard' | 'hasLooked' | 'fence'>;

const NOTHING_SEEN: Seen = { hasHeard: false, hasLooked: false, fence: 0 };

function seenAfter(before: History, { number, reply }: Answered): Seen {
  const { underWay, hasHeard, hasLooked } = before;
  const ask = underWay.find((each) => each.number === number)?.ask;
  const isHeld = ask?.kind === 'write the row' && ask.row['leaseUntilMs'] !== undefined;
  const fence = Math.max(before.fence, isHeld ? Number(ask.row['fence']) : 0);
  if (reply === 'no response') return { hasHeard, hasLooked, fence };
  const { got } = reply;
  const isExecution = got !== null && 'kind' in got && got.kind === 'executed';
  const isLook = got === null && ask?.kind === 'read an object' && ask.key.startsWith('work/outcomes/');
  return { hasHeard: hasHeard || isExecution, hasLooked: hasLooked || isLook, fence };
}

type Run = {
  readonly answer: (answered: Answered) => Promise<void>;
  readonly underWay: () => readonly UnderWay[];
  readonly end: () => End | undefined;
};

type Waiting = { readonly ask: Ask; readonly settle: (reply: Reply) => void };

/** Starts the code, and returns once it only waits for replies. */
async function startRun<S extends Start>(start: S, code: Code<S>): Promise<Run> {
  const waiting = new Map<number, Waiting>();
  let nowMs = start.nowMs;
  let [requests, tokens] = [0, 0];
  let end: End | undefined;

  const add = (ask: Ask, settle: Waiting['settle']): number => {
    requests += 1;
    waiting.set(requests, { ask, settle });
    return requests;
  };
  const outside: Outside = {
    ask: (ask) =>
      new Promise((resolve, reject) => {
        // `services` replies to each kind with the matching `gets` type: only here does TypeScript have to trust that.
        add(ask, (reply) =>
          reply === 'no response' ? reject(new NoResponseError(ask.kind)) : resolve(reply.got as never),
        );
      }),
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const number = add({ kind: 'sleep', untilMs: nowMs + ms }, () => resolve());
        signal?.addEventListener('abort', () => waiting.delete(number) && reject(signal.reason), {
          once: true,
        });
      }),
    now: () => nowMs,
    newToken() {
      tokens += 1;
      return `${start.name} ${tokens}`;
    },
  };
  code(start, outside).then(
    () => {
      end = { kind: 'returned' };
    },
    (error: unknown) => {
      end = { kind: 'threw', error: String(error) };
    },
  );
  await settled();
  return {
    async answer({ number, reply, nowMs: atMs }) {
      const one = waiting.get(number);
      if (one === undefined)
        throw new Error(`${start.name}: ask ${number} is not under way: not deterministic`);
      waiting.delete(number);
      nowMs = atMs;
      one.settle(reply);
      await settled();
    },
    underWay: () => Array.from(waiting, ([number, { ask }]) => ({ number, ask })),
    end: () => end,
  };
}
