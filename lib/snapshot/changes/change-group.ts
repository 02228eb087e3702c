import type { RecordRules } from '../sources/source-definition.ts';
import { changeOf, type LineChange } from './change.ts';
import type { ObserveComparison, RunSide } from './comparison-events.ts';
import { createDifferingFields } from './differing-fields.ts';
import type { Line } from './line-reader.ts';

/** A line that is held while its reader moves on; reused, since most lines are held for one step only. */
type HeldLine = { -readonly [M in keyof Line]: Line[M] } & { isHeld: boolean };

/**
 * Gathers the lines of one key from both runs, and passes on its change, if it is one, when the next key comes. A later
 * line with the key replaces the one before it.
 */
export function createChangeGroup(
  rules: RecordRules,
  changed: (change: LineChange) => void,
  observe: ObserveComparison | undefined,
) {
  const differing = createDifferingFields(rules);
  const held: Readonly<Record<RunSide, HeldLine>> = { before: noLine(), after: noLine() };
  let key = '';
  /** True if both lines are held and have the same bytes. */
  let isSame = false;

  function end(): void {
    const { before, after } = held;
    if (!isSame) {
      const change = changeOf(
        key,
        before.isHeld ? before : undefined,
        after.isHeld ? after : undefined,
        differing,
      );
      if (change !== undefined) changed(change);
    }
    before.isHeld = false;
    after.isHeld = false;
    isSame = false;
  }

  function open(next: string): void {
    if (next === key && (held.before.isHeld || held.after.isHeld)) return;
    end();
    key = next;
  }

  function hold(side: RunSide, line: Line): void {
    const place = held[side];
    if (place.isHeld) observe?.({ kind: 'repeated-key', side, key });
    place.json = line.json;
    place.start = line.start;
    place.end = line.end;
    place.isHeld = true;
  }

  return {
    /** Adds a line of one run. */
    add(side: RunSide, of: string, line: Line): void {
      open(of);
      hold(side, line);
      isSame = false;
    },
    /** Adds lines of both runs that have the same bytes. */
    addSame(of: string, before: Line, after: Line): void {
      open(of);
      hold('before', before);
      hold('after', after);
      isSame = true;
    },
    /** Passes on the change of the last key. */
    end,
  };
}

const noLine = (): HeldLine => ({
  json: { bytes: Buffer.alloc(0), view: new DataView(new ArrayBuffer(0)) },
  start: 0,
  end: 0,
  isHeld: false,
});
