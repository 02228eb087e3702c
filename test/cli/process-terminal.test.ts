import { afterEach, describe, expect, test } from 'vitest';
import { processTerminal } from '../../lib/cli/terminal/terminal.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const STREAMS = ['stdin', 'stdout', 'stderr'] as const;

const before = {
  listeners: SIGNALS.map((signal) => [signal, process.listeners(signal)] as const),
  properties: STREAMS.flatMap((stream) =>
    ['isTTY', 'columns', 'writableNeedDrain'].map(
      (name) => [stream, name, Object.getOwnPropertyDescriptor(process[stream], name)] as const,
    ),
  ),
  errors: (['stdout', 'stderr'] as const).map(
    (stream) => [stream, process[stream].listeners('error')] as const,
  ),
};

/** Restores the listeners and properties of this process that a terminal or a test has changed. */
afterEach(() => {
  for (const [signal, original] of before.listeners)
    for (const added of process.listeners(signal)) if (!original.includes(added)) process.off(signal, added);
  for (const [stream, original] of before.errors)
    for (const added of process[stream].listeners('error'))
      if (!original.includes(added)) process[stream].off('error', added as () => void);
  for (const [stream, name, was] of before.properties)
    if (was === undefined) Reflect.deleteProperty(process[stream], name);
    else Object.defineProperty(process[stream], name, was);
});

/** Pretends that a stream of this process is, or is not, a terminal. */
function pretend(stream: (typeof STREAMS)[number], isTTY: boolean, columns?: number): void {
  Object.defineProperty(process[stream], 'isTTY', { value: isTTY, configurable: true });
  if (columns !== undefined)
    Object.defineProperty(process[stream], 'columns', { value: columns, configurable: true });
}

describe('the terminal of this process', () => {
  test('has a dialog, the width of a line, and a screen', () => {
    for (const stream of STREAMS) pretend(stream, true, 123);

    const { dialog, width, screen } = processTerminal();

    expect(dialog?.input).toBe(process.stdin);
    expect(dialog?.output).toBe(process.stdout);
    expect(width).toBe(123);
    expect(screen?.columns()).toBe(123);
  });

  test.each([
    ['stdin', { dialog: false, width: true, screen: true }],
    ['stdout', { dialog: false, width: false, screen: true }],
    ['stderr', { dialog: true, width: true, screen: false }],
  ] as const)('is absent if %s is not a terminal: %j', (stream, expected) => {
    for (const each of STREAMS) pretend(each, each !== stream, 80);

    const { dialog, width, screen } = processTerminal();

    const has = [dialog, width, screen].map((each) => each !== undefined);
    expect(has).toEqual([expected.dialog, expected.width, expected.screen]);
  });
});

describe('space in the output stream', () => {
  test('is available immediately if there is a reader', async () => {
    expect(await processTerminal().drained?.()).toBe(true);
  });

  test('is waited for if the stream is full', async () => {
    Object.defineProperty(process.stdout, 'writableNeedDrain', { value: true, configurable: true });
    let isDrained = false;

    const drained = processTerminal()
      .drained?.()
      .then(() => {
        isDrained = true;
      });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(isDrained).toBe(false);
    process.stdout.emit('drain');
    await drained;

    expect(isDrained).toBe(true);
  });
});
