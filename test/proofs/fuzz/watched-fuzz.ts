import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** What a thread reports at its end. */
export type ThreadReport = {
  readonly executions: number;
  readonly outcomes: readonly (readonly [string, number])[];
  readonly found?: { readonly message: string; readonly input: unknown };
};

export type ThreadOptions = {
  readonly target: string;
  readonly seed: number;
  readonly seconds: number;
  /** The input that the thread started last: its length, then its JSON in UTF-8. */
  readonly current: SharedArrayBuffer;
};

/** A thread that works on one input for this long hangs, even on a busy machine. */
const HUNG_MS = 120_000;
/** Heap limit of the thread: inputs are small, so a correct target never needs as much. */
const HEAP_MB = 768;
const CURRENT_BYTES = 8_000_000;

/** Fuzzes a target in a separate thread with little memory. If the thread hangs or dies, its current input is the finding. */
export async function watchedFuzz(options: Omit<ThreadOptions, 'current'>): Promise<ThreadReport> {
  const current = new SharedArrayBuffer(CURRENT_BYTES);
  const workerData: ThreadOptions = { ...options, current };
  const thread = new Worker(new URL('./fuzz-process.ts', import.meta.url), {
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
  });
  const ended = Promise.withResolvers<ThreadReport>();
  const died = (message: string) =>
    ended.resolve({ executions: 0, outcomes: [], found: { message, input: inputIn(current) } });
  let last = '';
  const watch = setInterval(() => {
    const now = countIn(current);
    if (now === last) died(`ends: an input took more than ${HUNG_MS} ms`);
    last = now;
  }, HUNG_MS);
  thread.on('message', (report: ThreadReport) => ended.resolve(report));
  thread.on('error', (error) => died(`the thread died: ${error.message}`));
  const exited = once(thread, 'exit').then(() => died('the thread ended without a report'));
  try {
    return await ended.promise;
  } finally {
    clearInterval(watch);
    await thread.terminate();
    await exited;
  }
}

const HEADER = 8;

/** Stores the current input in shared memory, and counts it. */
export function setInput(current: SharedArrayBuffer, input: unknown): void {
  const header = new Uint32Array(current, 0, 2);
  const room = new Uint8Array(current, HEADER);
  const bytes = Buffer.from(JSON.stringify(input)).subarray(0, room.byteLength);
  room.set(bytes);
  header.set([bytes.byteLength, (header[1] ?? 0) + 1]);
}

const countIn = (current: SharedArrayBuffer) => String(new Uint32Array(current, 0, 2)[1]);

function inputIn(current: SharedArrayBuffer): unknown {
  const [length = 0] = new Uint32Array(current, 0, 2);
  if (length === 0) return null;
  return JSON.parse(Buffer.from(new Uint8Array(current, HEADER, length)).toString());
}
