import { describe } from './describe.ts';
import type { FindableKind } from './used-thing.ts';

/** A thing that may have been meant. */
export type Hint = { readonly kind: FindableKind; readonly id: string; readonly name: string | null };

const MOST_HINTS = 5;
/** Fewer characters begin too many ids. */
const LEAST_START = 3;

/** Looks for things that have the text as their name, whatever its case, or as the start of their id; at most five. */
export function createHints(text: string) {
  const wanted = text.trim().toLowerCase();
  const found = new Map<string, Hint>();
  const isStart = (id: string) => wanted.length >= LEAST_START && id.toLowerCase().startsWith(wanted);
  return {
    see({ kind, id }: { readonly kind: FindableKind; readonly id: string }, record?: unknown): void {
      if (found.size >= MOST_HINTS || wanted === '') return;
      const { name } = describe(kind, record);
      if (isStart(id) || name?.trim().toLowerCase() === wanted)
        found.set(`${kind} ${id}`, { kind, id, name });
    },
    found: (): readonly Hint[] => [...found.values()],
  };
}

export type Hints = ReturnType<typeof createHints>;
