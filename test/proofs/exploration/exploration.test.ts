import { expect, test } from 'vitest';
import { sampled, scaledTimeout } from '../../scale.ts';
import { brokenCopies } from './broken-copies.ts';
import { choicesIn } from './choices.ts';
import { explore, firstState, follow, worldOf } from './explore.ts';
import { bounds, type ScenarioName, scenarios } from './scenario.ts';
import type { State } from './state.ts';
import { takeStep } from './steps.ts';
import { storyOf } from './story.ts';

/*
 * Explores all schedules of a few small worlds, up to a number of faults. It runs the real code, not a model of it.
 * docs/proofs.md explains how, and what `npm run explore` (also run by CI) adds to this sample.
 */

const small = Object.entries(bounds.test) as readonly (readonly [ScenarioName, number])[];

test.for(sampled(2, small))(
  'no order of steps breaks a promise in the scenario %s, with at most %i faults',
  { timeout: scaledTimeout(240_000) },
  async ([name, faults]) => {
    const options = { scenario: scenarios[name], faults };

    const { violation, isWhole, rests } = await explore(options);

    expect(violation && (await storyOf(options, violation.schedule))).toBeUndefined();
    expect(isWhole).toBe(true);
    expect(rests).toBeGreaterThan(0);
  },
);

test.for(sampled(3, Object.entries(brokenCopies)))(
  'the exploration detects a planted fault: %s',
  { timeout: scaledTimeout(240_000) },
  async ([, copy]) => {
    const { faults, breaks, only } = copy;
    const scenario = { ...scenarios[copy.in], ...(only === undefined ? {} : { only }) };
    const options = { scenario, copy, faults, breaks };

    const { violation } = await explore(options);

    expect(violation?.broken).toMatch(breaks);
    const story = await storyOf(options, violation?.schedule ?? []);
    expect(story.join('\n')).toMatch(breaks);
  },
);

test('a step whose outcome is remembered leads to the same state as if it is run again', async () => {
  const scenario = scenarios['a cancel and a redrive by id'];
  const world = worldOf(scenario);
  for (let walk = 1; walk <= 20; walk += 1) {
    let state = firstState(scenario);
    const schedule: number[] = [];
    for (let step = 0; step < 40; step += 1) {
      const choices = choicesIn(state, scenario, 3);
      const place = (walk * 7 + step * 3) % Math.max(1, choices.length);
      const choice = choices[place];
      if (choice === undefined) break;
      schedule.push(place);
      state = (await takeStep(state, choice, world)).state;
    }

    const afresh = await Array.fromAsync(follow({ scenario, faults: 3 }, schedule));

    expect(shown(afresh.at(-1)?.state)).toEqual(shown(state));
  }
});

const shown = (state: State | undefined) =>
  state && {
    ...state,
    actors: state.actors.map(({ history: { start, underWay } }) => ({ start, underWay })),
  };
