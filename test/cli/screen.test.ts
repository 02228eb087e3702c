import { expect, test } from 'vitest';
import { createFakeScreen } from './fake-screen.ts';

test('a status line replaces the previous one, and is only written if it differs', () => {
  const { screen, written } = createFakeScreen(80);

  screen.show('one');
  screen.show('one');
  screen.show('two');
  screen.show(undefined);

  expect(written()).toBe('\rone\u001b[K\rtwo\u001b[K\r\u001b[K');
});

test('messages appear above the progress line, which stays last', () => {
  const { screen, say, written } = createFakeScreen(80);

  say('before');
  screen.show('half');
  say('a warning');
  screen.show(undefined);
  say('after');

  expect(written()).toBe('before\n\rhalf\u001b[K\r\u001b[Ka warning\nhalf\r\u001b[Kafter\n');
});

test('a line is cut before the last column, even after the window has changed', () => {
  const { screen, stream, line } = createFakeScreen(10);

  screen.show('0123456789');
  expect(line()).toBe('012345678');
  stream.columns = 5;
  screen.show('0123456789');
  expect(line()).toBe('0123');
});

test('a terminal of unknown width counts as 80 columns', () => {
  const { screen } = createFakeScreen(0);

  expect(screen.columns()).toBe(80);
});
