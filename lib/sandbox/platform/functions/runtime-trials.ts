import { type CodePackage, codeFunction } from './code-package.ts';
import { listOf, one, orNull } from './types.ts';

const throwsError = codeFunction(
  { message: orNull(one('text')) },
  one('text'),
  `function throwsError(message) {
    console.log('about to throw');
    throw new RangeError(message ?? 'it went wrong on purpose');
  }`,
);

const rejectsLater = codeFunction(
  {},
  one('text'),
  `async function rejectsLater() { await null; throw new Error('rejected on purpose'); }`,
);

const neverSettles = codeFunction(
  {},
  one('text'),
  'function neverSettles() { return new Promise(() => {}); }',
);

const returnsWrongType = codeFunction(
  {},
  one('number'),
  `function returnsWrongType() { return ['one', 'two']; }`,
);

const returnsNull = codeFunction({}, listOf('date'), 'function returnsNull() { return null; }');

const returnsNothing = codeFunction({}, one('text'), 'function returnsNothing() {}');

const loopsForever = codeFunction(
  {},
  one('number'),
  'function loopsForever() { for (;;) { try { for (;;) {} } catch {} } }',
);

const waitsForever = codeFunction(
  {},
  one('number'),
  `function waitsForever() {
    const work = () => { for (let step = 0; step < 20000; step += 1); };
    const again = () => Promise.resolve().then(work).then(again, again);
    return again();
  }`,
);

const eatsMemory = codeFunction(
  {},
  one('number'),
  `function eatsMemory() {
    const blocks = [];
    for (;;) blocks.push(new Uint8Array(1024 * 1024).fill(blocks.length));
  }`,
);

const callsItself = codeFunction({}, one('number'), 'function callsItself() { return callsItself() + 1; }');

const nestsTooDeep = codeFunction(
  {},
  one('object'),
  `function nestsTooDeep() {
    let nest = {};
    for (let depth = 0; depth < 100000; depth += 1) nest = { nest };
    return nest;
  }`,
);

const logsMuch = codeFunction(
  { count: one('number') },
  one('number'),
  `function logsMuch(count) {
    console.log('rows', count);
    console.log(count);
    console.log({ count, tags: ['a', 'b'] });
    for (let row = 0; row < count; row += 1) console.log('row ' + row);
    console.error('no errors', true, null);
    console.warn(new TypeError('only a warning'));
    return count;
  }`,
);

const reportsGlobals = codeFunction(
  {},
  one('object'),
  `function reportsGlobals() {
    const before = globalThis.visits ?? 0;
    globalThis.visits = before + 1;
    const names = ['process', 'require', 'module', 'fetch', 'WebAssembly', 'setTimeout', 'XMLHttpRequest'];
    return { visits: before, found: names.filter((name) => name in globalThis) };
  }`,
);

const echo = codeFunction(
  { value: orNull(one('object')) },
  orNull(one('object')),
  'function echo(value) { return value; }',
);

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
