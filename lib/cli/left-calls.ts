import type { HoldLeft } from '../platform/attempt.ts';
import type { Awaited, Awaits } from './awaits.ts';

/** What is waited for, and what is lost without it, by the operation; every other one can be sent again. */
const WORDS: Readonly<Record<string, Pick<Awaited, 'nouns' | 'lost'>>> = {
  analyzeSentiment: {
    nouns: ['# paid response', '# paid responses'],
    lost: [
      '# paid response, whose text is paid for again when it is scored',
      '# paid responses, whose texts are paid for again when they are scored',
    ],
  },
  runFunction: {
    nouns: ['the response of # function', 'the responses of # functions'],
    lost: [
      'the response of # function, which may have run: look at what it changes before it is run again',
      'the responses of # functions, which may have run: look at what they change before they are run again',
    ],
  },
  updateFormula: {
    nouns: ['the response to # update of a formula', 'the responses to # updates of formulas'],
    lost: [
      'the response to # update of a formula, which may be set: look at the calculation',
      'the responses to # updates of formulas, which may be set: look at the calculations',
    ],
  },
};

/** Holds calls that have left and are not given up by a stop. `now` in milliseconds. */
export const leftCalls =
  (hold: Awaits['hold'], now: () => number): HoldLeft =>
  ({ operation, timeoutMs }) => {
    const words = WORDS[operation];
    return words === undefined
      ? { [Symbol.dispose]: () => undefined }
      : hold({ ...words, untilMs: now() + timeoutMs });
  };
