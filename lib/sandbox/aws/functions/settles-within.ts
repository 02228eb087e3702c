/** True if the promise settles, either way, before so many milliseconds have gone. */
export const settlesWithin = async (promise: Promise<unknown>, ms: number): Promise<boolean> => {
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => late.resolve(false), ms);
  const settled = promise.then(
    () => true,
    () => true,
  );
  try {
    return await Promise.race([settled, late.promise]);
  } finally {
    clearTimeout(timer);
  }
};
