import { Badges } from '../parts/badges.tsx';
import { flagWords } from '../text/flags.ts';
import type { Column, Flag } from './list.ts';

type Name = keyof typeof flagWords;

/** The column of flags, and the flags by which rows are selected. */
export function flagged<N extends Name>(
  bits: Readonly<Record<N, number>>,
  flagsAt: (row: number) => number,
): { readonly column: Column; readonly flags: readonly Flag[] } {
  const names = Object.keys(bits) as N[];
  const has = (row: number, name: N) => (flagsAt(row) & bits[name]) !== 0;
  const namesAt = (row: number) => names.filter((name) => has(row, name));
  return {
    column: {
      name: 'flags',
      label: 'Notes',
      text: (row) => namesAt(row).join(' '),
      number: flagsAt,
      cell: (row) => <Badges names={namesAt(row)} />,
    },
    flags: names.map((name) => ({ name, ...flagWords[name], has: (row) => has(row, name) })),
  };
}
