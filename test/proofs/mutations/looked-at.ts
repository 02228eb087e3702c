import { everywhere } from './looked-at/everywhere.ts';
import { ledger } from './looked-at/ledger.ts';
import { pace } from './looked-at/pace.ts';
import { page } from './looked-at/page.ts';
import { publish } from './looked-at/publish.ts';
import { retry } from './looked-at/retry.ts';
import { scan } from './looked-at/scan.ts';
import { sources } from './looked-at/sources.ts';
import { texts } from './looked-at/texts.ts';
import type { LookedAt } from './report.ts';

/** The survivors that need no test, and why: a file a group. */
export const lookedAt: readonly LookedAt[] = [
  ...everywhere,
  ...pace,
  ...page,
  ...scan,
  ...sources,
  ...ledger,
  ...retry,
  ...texts,
  ...publish,
];
