/** What is wrong or odd about a thing, as bits; `flagMeanings` describes them. */
export const flagBits = {
  broken_links: 1,
  invalid: 2,
  missing_target: 4,
  affected: 8,
  unused: 16,
  same_name: 32,
  same_links: 64,
  same_formula: 256,
} as const;

/** The name of a flag. */
export type Flag = keyof typeof flagBits;

/** The flags of a thing that is wrong, worst first. */
export const brokenFlags = [
  'broken_links',
  'invalid',
  'missing_target',
  'affected',
] as const satisfies Flag[];

/** What each flag means, as a sentence. */
export const flagMeanings: Readonly<Record<Flag, string>> = {
  broken_links: 'One of its links says that it is not VALID.',
  invalid: 'Its own status says that it is not VALID.',
  missing_target: 'It uses a calculation or card that is missing from a complete snapshot.',
  affected:
    'It depends, over any number of steps, on another thing that has broken links or a missing target, or is invalid.',
  unused: 'Nothing else uses it.',
  same_name: 'Another calculation has the same name.',
  same_links: 'Another calculation uses the same things (at least two).',
  same_formula:
    'Another calculation has the same formula, except for white space, case of names and order of AND (if the text of both is known).',
};

/** The bit of things that have a record in a snapshot. */
export const IN_SNAPSHOT = 128;

/** The flags that records of each kind may have. */
export const flagsOf = {
  calculation: [...brokenFlags, 'unused', 'same_name', 'same_links', 'same_formula'],
  card: ['missing_target', 'affected'],
} as const satisfies Readonly<Record<string, readonly Flag[]>>;

/** The bits of flags that mean that a thing is wrong itself, so that all things that depend on it are affected. */
export const WRONG = flagBits.broken_links | flagBits.invalid | flagBits.missing_target;

/** The kinds of things that are counted for each user. */
export const ownedNames = ['calculations', 'cards', 'files', 'data_files', 'locked'] as const;
/** The flags that are counted over time and for each owner: they show how a clean-up progresses. */
export const wrongFlags = [...brokenFlags, 'unused'] as const satisfies Flag[];

/** How many calculations and cards had each flag on one day. */
export type DayCounts = { readonly day: string } & Readonly<Record<(typeof wrongFlags)[number], number>>;
