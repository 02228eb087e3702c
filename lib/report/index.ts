/*
 * Shows what snapshots and jobs contain: an HTML page, a search for what depends on a thing, a digest, and lineage.
 * Every command loads this door at its start, so each function loads its code only when it is called.
 */

export type { WebhookService } from './digest/webhook.ts';
export { type FindableKind, findableKinds } from './findable-kinds.ts';
export { findReport, REPORT_PAGE_KEY } from './stored-report.ts';
export type { WhereUsed } from './where-used.ts';

type Given<Verb extends (...args: never[]) => unknown> = Parameters<Verb>;
type Print = typeof import('./print-report.ts');
/** Finds the things with an id, and what depends on them. Throws `StoredObjectError`. */
export const whereUsed = async (...args: Given<typeof import('./where-used.ts').whereUsed>) =>
  (await import('./where-used.ts')).whereUsed(...args);

/** Opens a read-only view of a store as it was at a moment. Throws `StoredObjectError`. */
export const storeAsOf = async (...args: Given<typeof import('./as-of.ts').storeAsOf>) =>
  (await import('./as-of.ts')).storeAsOf(...args);

/** Collects what the report shows, and prints its page and its figures. */
export const printReport = async (...args: Given<Print['printReport']>) =>
  (await import('./print-report.ts')).printReport(...args);

/** Writes the page's script and style into the folder in which `printReport` looks for them. */
export const savePageCode = async (...args: Given<Print['savePageCode']>) =>
  (await import('./print-report.ts')).savePageCode(...args);

/** Describes what uses what, with owners, as entries for a data catalog. Throws `StoredObjectError`. */
export const lineageOf = async (...args: Given<typeof import('./lineage/lineage.ts').lineageOf>) =>
  (await import('./lineage/lineage.ts')).lineageOf(...args);

/** Reports what has changed, broken and failed since a time, as one message. */
export const digestSince = async (...args: Given<typeof import('./digest/since.ts').digestSince>) =>
  (await import('./digest/since.ts')).digestSince(...args);

/** The body of the request that posts a digest to a webhook. */
export const webhookBody = async (...args: Given<typeof import('./digest/webhook.ts').webhookBody>) =>
  (await import('./digest/webhook.ts')).webhookBody(...args);

/** Returns a function to call after publications: it writes the report, renews the model, and sends digests. */
export const followPublications = async (
  ...args: Given<typeof import('./after-publishing.ts')['followPublications']>
) => (await import('./after-publishing.ts')).followPublications(...args);
