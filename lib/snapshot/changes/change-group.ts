import type { RecordRules } from '../sources/source-definition.ts';
import { changeOf, type LineChange } from './change.ts';
import type { ObserveComparison, RunSide } from './comparison-events.ts';
import { createDifferingFields } from './differing-fields.ts';
import { copyOf, type Line, lineOf } from './line-reader.ts';

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
  /** The fields in which the lines that are held differ, if that is known. */
  let fields: readonly string[] | undefined;
  const differingHere = (before: Line, after: Line) => fields ?? differing(before, after);

  function end(): void {
    if (fields === undefined || fields.length > 0) {
      const change = changeOf(key, lineIn(held.before), lineIn(held.after), differingHere);
      if (change !== undefined) changed(change);
    }
    held.before.isHeld = false;
    held.after.isHeld = false;
    fields = undefined;
  }

  function open(next: string): void {
    if (next === key && (held.before.isHeld || held.after.isHeld)) return;
    end();
    key = next;
  }

  function hold(side: RunSide, line: Line): void {
    const place = held[side];
    if (place.isHeld) observe?.({ kind: 'repeated-key', side, key });
    setLine(place, line);
  }

  return {
    /** Adds a line of one run. */
    add(side: RunSide, of: string, line: Line): void {
      open(of);
      hold(side, line);
      fields = undefined;
    },
    /** Adds lines of both runs that differ in these fields. */
    addBoth(of: string, before: Line, after: Line, differing: readonly string[]): void {
      open(of);
      hold('before', before);
      hold('after', after);
      fields = differing;
    },
    /** Copies what is held, so that the readers may release it. */
    own(): void {
      for (const place of [held.before, held.after]) if (place.isHeld) setLine(place, lineOf(copyOf(place)));
    },
    /** Passes on the change of the last key. */
    end,
  };
}

const lineIn = (place: HeldLine): Line | undefined => (place.isHeld ? place : undefined);

function setLine(place: HeldLine, line: Line): void {
  place.json = line.json;
  place.start = line.start;
  place.end = line.end;
  place.isHeld = true;
}

const noLine = (): HeldLine => ({
  json: { bytes: Buffer.alloc(0), view: new DataView(new ArrayBuffer(0)) },
  start: 0,
  end: 0,
  isHeld: false,
});
