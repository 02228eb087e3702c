import type { CodeFunction, CodePackage } from './code-package.ts';
import { listOf, one, orNull } from './types.ts';

const throwsError: CodeFunction = {
  name: 'throwsError',
  inputs: [{ name: 'message', ...orNull(one('text')) }],
  output: one('text'),
  source: `function throwsError(message) {
    console.log('about to throw');
    throw new RangeError(message ?? 'it went wrong on purpose');
  }`,
};

const rejectsLater: CodeFunction = {
  name: 'rejectsLater',
  inputs: [],
  output: one('text'),
  source: `async function rejectsLater() { await null; throw new Error('rejected on purpose'); }`,
};

const neverSettles: CodeFunction = {
  name: 'neverSettles',
  inputs: [],
  output: one('text'),
  source: 'function neverSettles() { return new Promise(() => {}); }',
};

const returnsWrongType: CodeFunction = {
  name: 'returnsWrongType',
  inputs: [],
  output: one('number'),
  source: `function returnsWrongType() { return ['one', 'two']; }`,
};

const returnsNull: CodeFunction = {
  name: 'returnsNull',
  inputs: [],
  output: listOf('date'),
  source: 'function returnsNull() { return null; }',
};

const returnsNothing: CodeFunction = {
  name: 'returnsNothing',
  inputs: [],
  output: one('text'),
  source: 'function returnsNothing() {}',
};

const loopsForever: CodeFunction = {
  name: 'loopsForever',
  inputs: [],
  output: one('number'),
  source: 'function loopsForever() { for (;;) { try { for (;;) {} } catch {} } }',
};

const waitsForever: CodeFunction = {
  name: 'waitsForever',
  inputs: [],
  output: one('number'),
  source: `function waitsForever() {
    const work = () => { for (let step = 0; step < 20000; step += 1); };
    const again = () => Promise.resolve().then(work).then(again, again);
    return again();
  }`,
};

const eatsMemory: CodeFunction = {
  name: 'eatsMemory',
  inputs: [],
  output: one('number'),
  source: `function eatsMemory() {
    const blocks = [];
    for (;;) blocks.push(new Uint8Array(1024 * 1024).fill(blocks.length));
  }`,
};

const callsItself: CodeFunction = {
  name: 'callsItself',
  inputs: [],
  output: one('number'),
  source: 'function callsItself() { return callsItself() + 1; }',
};

const nestsTooDeep: CodeFunction = {
  name: 'nestsTooDeep',
  inputs: [],
  output: one('object'),
  source: `function nestsTooDeep() {
    let nest = {};
    for (let depth = 0; depth < 100000; depth += 1) nest = { nest };
    return nest;
  }`,
};

const logsMuch: CodeFunction = {
  name: 'logsMuch',
  inputs: [{ name: 'count', ...one('number') }],
  output: one('number'),
  source: `function logsMuch(count) {
    console.log('rows', count);
    console.log(count);
    console.log({ count, tags: ['a', 'b'] });
    for (let row = 0; row < count; row += 1) console.log('row ' + row);
    console.error('no errors', true, null);
    console.warn(new TypeError('only a warning'));
    return count;
  }`,
};

const reportsGlobals: CodeFunction = {
  name: 'reportsGlobals',
  inputs: [],
  output: one('object'),
  source: `function reportsGlobals() {
    const before = globalThis.visits ?? 0;
    globalThis.visits = before + 1;
    const names = ['process', 'require', 'module', 'fetch', 'WebAssembly', 'setTimeout', 'XMLHttpRequest'];
    return { visits: before, found: names.filter((name) => name in globalThis) };
  }`,
};

const echo: CodeFunction = {
  name: 'echo',
  inputs: [{ name: 'value', ...orNull(one('object')) }],
  output: orNull(one('object')),
  source: 'function echo(value) { return value; }',
};

/** Functions that end in every possible way, for testing clients of the platform. */
export const runtimeTrials = {
  id: 'b0a94e17-52c3-4d8f-a6e1-07d3f9c2b856',
  name: 'Runtime Trials',
  versions: [
    {
      version: '1.0.0',
      released: true,
      functions: [
        throwsError,
        rejectsLater,
        neverSettles,
        returnsWrongType,
        returnsNull,
        returnsNothing,
        loopsForever,
        waitsForever,
        eatsMemory,
        callsItself,
        nestsTooDeep,
        logsMuch,
        reportsGlobals,
        echo,
      ],
    },
    { version: '1.1.0', released: false, functions: [echo] },
  ],
} as const satisfies CodePackage;
