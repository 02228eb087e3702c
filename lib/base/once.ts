/** Opens on the first call; a failed attempt is forgotten: its callers see the failure, and the next call tries again. */
export function once<T>(open: () => T | Promise<T>): () => Promise<Awaited<T>> {
  let opened: Promise<Awaited<T>> | undefined;
  return () => {
    if (opened !== undefined) return opened;
    const opening = started(open);
    opened = opening;
    opening.catch(() => {
      opened = undefined;
    });
    return opening;
  };
}

/** As `Promise.try`, which Node 22 lacks. */
const started = async <T>(open: () => T | Promise<T>): Promise<Awaited<T>> => await open();
