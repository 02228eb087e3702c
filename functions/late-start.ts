import type { Environment } from '../lib/settings.ts';
import { problemLine, writeLine } from './log-lines.ts';

/**
 * A start that is later than this, in milliseconds, is reported. Lambda starts a function within seconds, unless it
 * throttles the function.
 */
const LATE_MS = 60_000;

/**
 * Logs a problem if a scheduled function started late, with the delay in seconds. Lambda delays functions while the
 * account has reached its limit of concurrent executions. EventBridge Scheduler sets `scheduledAt` in the event.
 */
export function reportLateStart(
  event: unknown,
  { SYNC_STACK: service = 'local' }: Environment,
  write: (line: string) => void = writeLine,
): void {
  const at = Date.now();
  const lateMs = at - Date.parse(String(Object(event).scheduledAt));
  if (lateMs > LATE_MS) write(problemLine('FunctionThrottles', Math.round(lateMs / 1_000), { at, service }));
}
