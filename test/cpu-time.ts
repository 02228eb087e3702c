/** Milliseconds of the processor that something took: on a busy machine it waits, which does not count. */
export async function cpuMs(act: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await act();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
