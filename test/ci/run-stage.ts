import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Outcome } from '../counts.ts';

/** A command that checks something. Its last line is `N passed, N failed`. */
export type Stage = {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
  /** A stage that takes longer counts as hanging: three times its duration on an idle machine, and more for downloads. */
  readonly limitMinutes: number;
};

export type StageOutcome = Outcome & {
  readonly name: string;
  readonly minutes: number;
  /** The lines of its output that are repeated at the very end: `flaky: …`, `not run: …`, `FAILED: …`. */
  readonly notes: readonly string[];
};

export type StageOptions = {
  /** Ends the stage. The signal's reason becomes a note. */
  readonly signal: AbortSignal;
  readonly print: (line: string) => void;
};

const COUNTS = /^(\d+) passed, (\d+) failed$/;
const NOTE = /^(?:flaky|not run|FAILED): /;

/** How long a process may take to end on request, and how long other processes may keep its output open after it has ended. */
const GRACE_MS = 10_000;

/**
 * Runs a stage to its end, or ends it with all processes that it has started. A stage without counts in its last line
 * counts as failed.
 */
export async function runStage(stage: Stage, { signal, print }: StageOptions): Promise<StageOutcome> {
  const { name, command, limitMinutes } = stage;
  const startedMs = performance.now();
  const late = AbortSignal.timeout(limitMinutes * 60_000);
  const [notes, counted] = [new Set<string>(), { line: '' }];
  const code = await codeOf(command, AbortSignal.any([late, signal]), (line, isOutput) => {
    print(`${name} | ${line}`);
    if (NOTE.test(line)) notes.add(line);
    if (isOutput && line.trim() !== '') counted.line = line.trim();
  });
  if (late.aborted || signal.aborted)
    notes.add(`FAILED: ${name}: ${late.aborted ? `took longer than ${limitMinutes} min` : signal.reason}`);
  const minutes = (performance.now() - startedMs) / 60_000;
  return { name, minutes, notes: [...notes], ...countsIn(counted.line, code) };
}

/**
 * The counts of a stage. A failing exit code counts as a failure even if the line has none; a line without counts means
 * that the counting process died.
 */
export function countsIn(lastLine: string, code: number): Outcome {
  const [, passed, failed] = COUNTS.exec(lastLine) ?? [];
  if (passed === undefined) return { passed: 0, failed: 1 };
  return { passed: Number(passed), failed: code === 0 ? Number(failed) : Math.max(1, Number(failed)) };
}

/** Runs a command in a new process group. Returns its exit code, or 1 if it was killed or could not be started. */
async function codeOf(
  [program, ...words]: Stage['command'],
  signal: AbortSignal,
  onLine: (line: string, isOutput: boolean) => void,
): Promise<number> {
  if (signal.aborted) return 1;
  const child = spawn(program, words, { detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  for (const stream of [child.stdout, child.stderr])
    createInterface(stream).on('line', (line) => onLine(line, stream === child.stdout));
  const closed = once(child, 'close').catch((error) => onLine(String(error), false));
  const kill = () => signalGroup(child.pid, 'SIGKILL');
  const end = () => {
    signalGroup(child.pid, 'SIGTERM');
    setTimeout(kill, GRACE_MS).unref();
  };
  signal.addEventListener('abort', end);
  // Processes that it leaves behind must not keep its output open.
  child.once('exit', () => {
    kill();
    setTimeout(() => [child.stdout, child.stderr].map((stream) => stream.destroy()), GRACE_MS).unref();
  });
  await closed;
  signal.removeEventListener('abort', end);
  return child.exitCode ?? 1;
}

/** Sends a signal to a process group, unless the group has ended. */
function signalGroup(group: number | undefined, name: NodeJS.Signals): void {
  try {
    if (group !== undefined) process.kill(-group, name);
  } catch {}
}
