/** The waits before a degraded page is read again, in milliseconds; after the last one it is taken as it is. */
const WAITS_MS = [1_000, 2_000, 4_000, 8_000] as const;

/** Reads a page, and rereads it while it is degraded; one that stays degraded is returned as it is. */
export async function readUndegraded<Page extends { readonly degraded: boolean }>(
  read: () => Promise<Page>,
  sleep: (ms: number, signal?: AbortSignal) => Promise<void>,
  signal: AbortSignal | undefined,
): Promise<Page> {
  for (const waitMs of WAITS_MS) {
    const page = await read();
    if (!page.degraded) return page;
    await sleep(waitMs, signal);
  }
  return read();
}
