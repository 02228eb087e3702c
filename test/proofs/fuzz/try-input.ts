import { inspect } from 'node:util';
import { Finding, type FuzzTarget, NotAnInputError } from './target.ts';

export type Tried =
  | { readonly kind: 'outcome'; readonly outcome: string }
  | { readonly kind: 'finding'; readonly finding: Finding }
  | { readonly kind: 'not-an-input' };

/** The most CPU of this thread that one input may take: garbage collection and first compilation included. */
const MOST_CPU_MS = 3_000;
/** How long nothing may happen, on a machine that does much else. */
const MOST_WALL_MS = 60_000;

/** Checks one input, with its CPU, its time and whatever it throws. Cannot end a loop that never yields. */
export async function tryInput(target: FuzzTarget, input: unknown): Promise<Tried> {
  const before = process.threadCpuUsage();
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new Finding('ends', `nothing came within ${MOST_WALL_MS} ms`)),
    MOST_WALL_MS,
  );
  try {
    const outcome = await Promise.race([target.check(input), late.promise]);
    const { user, system } = process.threadCpuUsage(before);
    const cpuMs = (user + system) / 1_000;
    if (cpuMs <= MOST_CPU_MS) return { kind: 'outcome', outcome };
    return { kind: 'finding', finding: new Finding('time', `took ${Math.round(cpuMs)} ms of CPU`) };
  } catch (error) {
    if (error instanceof NotAnInputError) return { kind: 'not-an-input' };
    if (error instanceof Finding) return { kind: 'finding', finding: error };
    const finding = new Finding('throws only its own errors', inspect(error), { cause: error });
    return { kind: 'finding', finding };
  } finally {
    clearTimeout(timer);
  }
}
