import { describe, expect, test } from 'vitest';
import { simulateScoring } from './simulated-scoring.ts';

const atTwoASecond = { rate: 2, concurrency: 8, textsOfChunk: 40, callMs: 800 };

describe('a backlog of chunks costs two writes a text and one read for several, and uses the whole rate', () => {
  test.each([
    { ...atTwoASecond, workers: 2, chunks: 6 },
    { ...atTwoASecond, workers: 2, chunks: 18, textsOfChunk: 20, invocationMs: 900_000 },
    { ...atTwoASecond, workers: 10, chunks: 30, textsOfChunk: 8, invocationMs: 900_000 },
    { ...atTwoASecond, rate: 50, workers: 4, chunks: 40, textsOfChunk: 16, callMs: 300 },
  ])('at $rate a second with $workers workers and $chunks chunks', async (plan) => {
    const { calls, writesOfText, readsOfText, allWrites, putOffs, shareOfRate } = await simulateScoring(plan);

    expect(calls).toBe(plan.chunks * plan.textsOfChunk);
    expect(writesOfText).toBeLessThan(2.05);
    expect(readsOfText).toBeLessThan(0.2);
    // Besides its texts' writes, a job has three of its own, and only eight texts in one of these plans.
    expect(allWrites).toBeLessThan(2.5);
    // A job is put off at most once, at the end of an invocation.
    expect(putOffs).toBeLessThanOrEqual(plan.chunks);
    expect(shareOfRate).toBeGreaterThan(0.95);
  });
});
