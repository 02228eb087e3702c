import type { Session } from '../../session.ts';
import type { Environment, Settings } from '../../settings.ts';

/** What a check found. `detail` says what is so; `advice` what to do about it. */
export type Finding =
  | { readonly status: 'ok' | 'skipped'; readonly detail: string }
  | { readonly status: 'failed'; readonly detail: string; readonly advice?: string };

/** What checks work with, once the settings are valid. */
export type Examined = {
  readonly environment: Environment;
  readonly settings: Settings;
  readonly session: Session;
  /** What the platform responds to the cheapest read; each call returns the same. Throws what that throws. */
  readonly firstRead: () => Promise<unknown>;
  readonly now: () => number;
  readonly signal: AbortSignal;
};

/** Throws if what it looks at is not well; the error is the finding. */
export type Check = (examined: Examined) => Promise<Finding>;

export const ok = (detail: string): Finding => ({ status: 'ok', detail });
export const skipped = (detail: string): Finding => ({ status: 'skipped', detail });
export const failed = (detail: string, advice?: string): Finding => ({
  status: 'failed',
  detail,
  ...(advice === undefined ? {} : { advice }),
});
