import type { ScenarioName } from './scenario.ts';

type Bound = Readonly<Record<ScenarioName, number>>;

const test: Bound = {
  'one message': 1,
  'two messages': 0,
  'a message without an id': 0,
  'a function that may be repeated': 1,
  'a function that fails, and a redrive': 0,
  'a cancel': 1,
  'a cancel and a redrive of everything': 0,
  'a cancel and a redrive by id': 0,
  'a renewed lease': 1,
  'a renewed lease and two messages': 0,
  'a renewed lease and a function that may be repeated': 0,
  'a process that is held up, and dies': 1,
  'a table with lost responses': 1,
  'a renewed lease, and a table that loses each response to SENT': 1,
};

const minute: Bound = {
  ...test,
  'one message': 2,
  'two messages': 1,
  'a message without an id': 1,
  'a function that may be repeated': 2,
  'a function that fails, and a redrive': 1,
  'a cancel and a redrive of everything': 1,
  'a cancel and a redrive by id': 1,
  'a renewed lease and a function that may be repeated': 1,
  'a process that is held up, and dies': 2,
  'a table with lost responses': 2,
};

const hour: Bound = {
  ...minute,
  'a message without an id': 2,
  'a cancel': 2,
  'a renewed lease and two messages': 1,
};

/** How many faults there are at most in a schedule of each scenario: for `npm test`, for CI, and for a whole hour. */
export const bounds = { test, minute, hour } as const;
