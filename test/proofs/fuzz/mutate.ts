import type { Dice } from '../dice.ts';

/** Mutates texts anywhere in an input. Each kind of mutation has broken some parser before. */
export function mutate(
  input: unknown,
  {
    dice,
    tokens,
    other,
  }: { readonly dice: Dice; readonly tokens: readonly string[]; readonly other: unknown },
): unknown {
  const count = textsIn(input).length;
  if (count === 0) return input;
  const donors = textsIn(other);
  const chosen = dice.below(count);
  let at = -1;
  return mapTexts(input, (text) => {
    at += 1;
    if (at !== chosen) return text;
    let mutated = text;
    for (let left = 1 + dice.below(4); left > 0; left -= 1) {
      mutated = mutateText(mutated, { dice, tokens, donors });
    }
    return mutated.slice(0, MAX_CHARACTERS);
  });
}

/** Maximum length of a mutated text. Larger inputs are generated on purpose, by the targets. */
const MAX_CHARACTERS = 100_000;

type Parts = { readonly dice: Dice; readonly tokens: readonly string[]; readonly donors: readonly string[] };

function mutateText(text: string, { dice, tokens, donors }: Parts): string {
  const from = dice.below(text.length + 1);
  const to = Math.min(text.length, from + dice.below(dice.percent(80) ? 8 : 200));
  const [before, piece, after] = [text.slice(0, from), text.slice(from, to), text.slice(to)];
  switch (dice.below(8)) {
    case 0:
      return before + dice.pick(tokens) + text.slice(from);
    case 1:
      return before + dice.pick(tokens) + after;
    case 2:
      return before + after;
    case 3:
      return before + piece.repeat(2 + dice.below(dice.percent(90) ? 4 : 200)) + after;
    case 4:
      return (
        before + String.fromCharCode(dice.below(dice.percent(80) ? 0x100 : 0x10000)) + text.slice(from + 1)
      );
    case 5:
      return dice.percent(50) ? before : text.slice(from);
    case 6:
      return before + flipped(text.charCodeAt(from), dice) + text.slice(from + 1);
    default: {
      const donor = donors.length === 0 ? text : dice.pick(donors);
      return before + donor.slice(dice.below(donor.length + 1));
    }
  }
}

const flipped = (code: number, dice: Dice): string =>
  Number.isNaN(code) ? '' : String.fromCharCode(code ^ (1 << dice.below(8)));

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** The same value with each string changed; names of members stay. */
function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((each) => mapTexts(each, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, mapTexts(each, change)]));
}
