/** The steps, each changed; and what they return. A caller that stops early also ends them. */
export async function* mappedSteps<Step, Changed, Result>(
  steps: AsyncGenerator<Step, Result, undefined>,
  change: (step: Step) => Changed,
): AsyncGenerator<Changed, Result, undefined> {
  try {
    for (;;) {
      const { done, value } = await steps.next();
      if (done) return value;
      yield change(value);
    }
  } finally {
    await steps.return(undefined as never);
  }
}
