import { parseJson } from '../../../lib/base/json/json.ts';
import type { Send } from '../../../lib/platform/http/transport.ts';
import { ok, status } from '../../platform/fake-call.ts';
import type { FunctionEnd } from '../job-plan.ts';
import { bodyTo, fates, subjectOf } from '../platform-responses.ts';
import { createOddPlatform } from './odd-platform.ts';
import { cardsOf, createRecords } from './records.ts';
import { platformFates } from './spells.ts';
import type { Process, World } from './world.ts';

type AttemptResult = Awaited<ReturnType<Send>>;

type PlatformRequest = Parameters<Send>[0];

/** A call that the platform executed. `isKnown`: its response reached the process that sent it. */
type Execution = {
  readonly subject: string;
  readonly process: Process;
  readonly name: string;
  readonly atMs: number;
  isKnown: boolean;
  /** The number of faults of the process when it sent the call. */
  readonly troublesBefore: number;
};

const SEARCH = '/api/query/v1/functions/search';
const CARDS = /^\/api\/content\/v1\/datasources\/(\d+)\/cards\b/;
const travelMs = [1, 3, 5, 8] as const;

/** How long the platform takes for a call, in milliseconds. */
const TAKES_MS = [30, 60, 120, 300, 1_500] as const;

/** The platform, which records when each request arrived, what was executed, and which responses reached their process. */
export function createWholePlatform(world: World, endOf: (subject: string) => FunctionEnd) {
  const odd = createOddPlatform(world.plan.seed, world.plan.odd);
  const records = createRecords(world.plan, world.dice, world.now, odd);
  /** The times of requests, in milliseconds from the start. */
  const arrivals: number[] = [];
  /** The executed calls in order, by subject. */
  const executed = new Map<string, Execution[]>();
  /** Subjects of requests that may have been executed without the process knowing. */
  const doubtful = new Set<string>();
  /** Subjects of requests that had a fault here, executed or not. */
  const troubled = new Set<string>();
  const throttled: number[] = [];
  const offsets = new WeakMap<Process, number[]>();
  let used: number[] = [];

  /** A 429 if the request exceeds the rate limit. */
  const overLimit = (subject: string): AttemptResult | undefined => {
    const { plan } = world;
    const atMs = world.sinceStartMs();
    used = used.filter((each) => each > atMs - 1_000);
    const { rate } = plan.limits.findLast(({ fromMs }) => fromMs <= atMs) ?? plan;
    const isUsedUp = plan.quotas.some(({ fromMs, toMs }) => atMs >= fromMs && atMs < toMs);
    const isText = subject.startsWith('text ');
    if (used.length < rate && !(isUsedUp && isText)) {
      used.push(atMs);
      return undefined;
    }
    throttled.push(atMs);
    return isText ? status(429) : status(429, 1_000);
  };

  const execute = (process: Process, request: PlatformRequest, subject: string, troublesBefore: number) => {
    const before = executed.get(subject) ?? [];
    const execution: Execution = {
      subject,
      process,
      name: `${subject}#${before.length + 1}`,
      atMs: world.sinceStartMs(),
      isKnown: false,
      troublesBefore,
    };
    executed.set(subject, before);
    before.push(execution);
    world.log('platform', `executes ${execution.name} for ${process.name}`);
    const { operation, body } = bodyTo(request, execution.name, endOf(subject));
    return { execution, result: ok(parseJson(odd.bodyOf(operation, body))) };
  };

  const pageOf = (request: PlatformRequest): string => {
    const [, dataset] = CARDS.exec(request.target) ?? [];
    if (dataset !== undefined) return odd.bodyOf('listCards', cardsOf(dataset));
    const { sort, offset = 0, limit } = JSON.parse(request.body ?? '{}');
    records.shift();
    return records.page({ ascending: sort.ascending, offset, limit });
  };

  const read = (request: PlatformRequest): AttemptResult => {
    const body = Buffer.from(pageOf(request));
    const own = Buffer.from(Uint8Array.from(body).buffer);
    return { kind: 'response', status: 200, sizeBytes: own.byteLength, response: request.read(own) };
  };

  const send = async (process: Process, request: PlatformRequest): Promise<AttemptResult> => {
    const own = world.diceFor(process);
    const isRead = request.target === SEARCH || CARDS.test(request.target);
    const subject = isRead ? 'read' : subjectOf(request);
    const spell = world.spellAt('platform', own);
    const noise = !world.isCalm() && own.percent(world.plan.noisePercent);
    const name = spell?.border === 'platform' ? spell.fate : noise ? own.pick(platformFates) : undefined;
    const fate = fates.find((each) => each.name === name);
    if (fate !== undefined) troubled.add(subject);
    if (name === 'connection refused' && fate !== undefined) {
      await world.clock.sleep(2);
      return fate.result(request);
    }
    const leftMs = world.sinceStartMs();
    // A process may be paused while its request travels, or at the moment it leaves.
    const isStopped = process.pausedUntilMs > leftMs;
    const before = process.troubles - (isStopped ? 1 : 0);
    await world.clock.sleep(own.pick(travelMs));
    world.log('platform', `receives ${subject} of ${process.name}, which left at ${leftMs.toFixed(1)}`);
    arrivals.push(world.sinceStartMs());
    const refused = overLimit(subject);
    if (refused !== undefined) {
      world.log('platform', `throttles ${subject} of ${process.name}`);
      return refused;
    }
    const takesMs = own.pick(TAKES_MS);
    if (fate !== undefined) {
      world.log('platform', `${subject} of ${process.name} meets ${fate.name}`);
      if (fate.executes !== 'no') doubtful.add(subject);
      const when = fate.executes === 'perhaps' ? own.pick(['now', 'later', 'no'] as const) : fate.executes;
      if (when === 'now' && !isRead) execute(process, request, subject, before);
      if (when === 'later' && !isRead)
        void world.clock.sleep(5_000).then(() => execute(process, request, subject, before));
      await world.clock.sleep(fate.name === 'timeout' ? request.timeoutMs : takesMs);
      const retryAfterMs = spell?.border === 'platform' ? spell.retryAfterMs : 1_000;
      return fate.name === '429' ? status(429, retryAfterMs) : fate.result(request);
    }
    if (isRead) {
      await world.clock.sleep(takesMs);
      const { sort, offset, limit } = JSON.parse(request.body ?? '{}');
      if (sort?.ascending === true && limit > 1)
        offsets.set(process, [...(offsets.get(process) ?? []), offset ?? 0]);
      return read(request);
    }
    const { execution, result } = execute(process, request, subject, before);
    await world.clock.sleep(takesMs);
    await world.troubles(process, `response of ${execution.name}`);
    execution.isKnown = true;
    return result;
  };

  return {
    arrivals,
    throttled,
    doubtful,
    troubled,
    records,
    /** The platform as one process reaches it. An abort counts only until the request leaves, which is immediately. */
    sendFor:
      (process: Process): Send =>
      async (request, _token, signal) => {
        signal?.throwIfAborted();
        // There is no other act between a call's slot and its request at which the process could be paused.
        if (!process.isAlive) await world.awake(process);
        const result = await send(process, request);
        await world.awake(process);
        return result;
      },
    executionsOf: (subject: string): readonly Execution[] => executed.get(subject) ?? [],
    /** The offsets of the pages that a process got in a scan, in order. */
    offsetsOf: (process: Process): readonly number[] => offsets.get(process) ?? [],
    /** The texts that were scored. */
    texts: () => [...executed.keys()].filter((subject) => subject.startsWith('text ')),
  };
}

export type WholePlatform = ReturnType<typeof createWholePlatform>;
