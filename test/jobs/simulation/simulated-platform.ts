import type { Pace } from '../../../lib/pace/pace.ts';
import { PaceWaitError } from '../../../lib/pace/pace-wait-error.ts';
import type { Platform } from '../../../lib/platform/client.ts';
import type { AttemptResult, PlatformRequest, Send } from '../../../lib/platform/http/transport.ts';
import { createFakePace } from '../../pace/fake-pace.ts';
import { clientOver } from '../../platform/client-over.ts';
import type { FunctionEnd } from './plan.ts';
import { type Fate, fates, isScoring, responseTo, subjectOf } from './platform-responses.ts';
import type { Process } from './process.ts';
import type { World } from './world.ts';

/** One thing that the platform did, or was asked to do. */
type Deed = { readonly subject: string; readonly process: Process; readonly atMs: number };

/** An execution, and the process that its response reached. `troubles`: those of the process at that time. */
type Delivered = Deed & { readonly execution: string; readonly troubles: number };

/** A text that was scored. */
type Scored = Deed & { isDelivered: boolean };

type Executed = { readonly execution: string | undefined; readonly result: AttemptResult };

/**
 * The platform, which knows the truth: what was requested, what it executed and whom its responses reached. A subject
 * is a job whose request may not be repeated, or a text, or a data file.
 */
export function createSimulatedPlatform(world: World, endOf: (subject: string) => FunctionEnd) {
  const started: Deed[] = [];
  const executed: Deed[] = [];
  const delivered: Delivered[] = [];
  const scored: Scored[] = [];
  /** Subjects of requests that met a fault. */
  const troubled: string[] = [];
  /** Subjects of requests that only the platform can prove were not executed. */
  const unproved: string[] = [];

  const execute = (process: Process, request: PlatformRequest, score: Scored): Executed => {
    const { subject } = score;
    executed.push({ subject, process, atMs: world.now() });
    if (isScoring(request)) scored.push(score);
    const execution = `${subject}#${executed.filter((each) => each.subject === subject).length}`;
    return { execution, result: responseTo(request, execution, endOf(subject)) };
  };

  const meetFate = (fate: Fate, request: PlatformRequest, perform: () => Executed): Executed => {
    const subject = subjectOf(request);
    const { executes } = fate;
    world.log('platform', `${subject} meets ${fate.name}`);
    troubled.push(subject);
    if (executes !== 'no') unproved.push(subject);
    const when = executes === 'perhaps' ? world.dice.pick(['now', 'later', 'no'] as const) : executes;
    if (when === 'now') perform();
    if (when === 'later') world.later(5_000, perform);
    return { execution: undefined, result: fate.result(request) };
  };

  const sendOf =
    (process: Process): Send =>
    async (request, _token, signal) => {
      signal?.throwIfAborted();
      const subject = subjectOf(request);
      started.push({ subject, process, atMs: world.now() });
      const score: Scored = { subject, process, atMs: world.now(), isDelivered: false };
      const perform = () => execute(process, request, score);
      const { execution, result } = await world.act(process, {
        label: `send ${subject}`,
        area: 'platform',
        perform: () => {
          if (world.meets('platform')) return meetFate(world.dice.pick(fates), request, perform);
          unproved.push(subject);
          return perform();
        },
        signal,
        travelMs: () => world.dice.pick([0, 0, 300, 3_000, Math.floor(request.timeoutMs * 0.9)]),
      });
      score.isDelivered = result.kind === 'response';
      if (execution !== undefined)
        delivered.push({ subject, process, atMs: world.now(), execution, troubles: process.troubles });
      return result;
    };

  return {
    started,
    executed,
    delivered,
    scored,
    troubled,
    unproved,
    /** The platform as one process sees it, through the real client. */
    of(process: Process): Platform {
      return clientOver({
        send: sendOf(process),
        pace: paceOf(process, world),
        now: world.now,
        sleep: (ms, signal) => world.sleep(process, ms, signal),
        random: world.dice.fraction,
      });
    },
  };
}

export type SimulatedPlatform = ReturnType<typeof createSimulatedPlatform>;

/** Lets every call leave at once, unless its turn is too far off or its process is held up. */
const paceOf = (process: Process, world: World): Pace =>
  createFakePace({
    now: world.now,
    async takeTurn(signal) {
      await world.act(process, { label: 'take a slot', area: 'platform', perform: () => undefined });
      signal?.throwIfAborted();
      if (world.meets('platform')) throw new PaceWaitError(45_000, 20_000);
      return 0;
    },
  });
