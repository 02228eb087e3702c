import { flagMeanings } from '../model/flags.ts';
import type { CalculationFlag, CardFlag } from './facts.ts';

/** `which` stands after a noun of things that have it, `meaning` is a sentence. */
const words = (label: string, which: string, meaning: string) => ({ label, which, meaning });

/** What each flag is called, and what it says of a thing: on the page, in its counts and in a digest. */
export const flagWords = {
  broken_links: words('broken links', 'with broken links', flagMeanings.broken_links),
  invalid: words('invalid', 'that are invalid', flagMeanings.invalid),
  missing_target: words('missing target', 'with a missing target', flagMeanings.missing_target),
  affected: words('affected', 'that are affected', flagMeanings.affected),
  unused: words('unused', 'that nothing uses', flagMeanings.unused),
  same_name: words('same name', 'that share a name', flagMeanings.same_name),
  same_links: words('same links', 'that have the same links', flagMeanings.same_links),
  locked: words('locked', 'that are locked', 'Its record says that it is locked.'),
  archived: words('archived', 'that are archived', 'Its record says that it is archived.'),
  hidden: words('hidden', 'that are hidden', 'Its record says that it is hidden.'),
  global: words('global', 'that are global', 'Its record says that it is global.'),
  oldest: words(
    'oldest',
    'left unchanged the longest',
    'It is among the hundred that were changed the longest time ago.',
  ),
  without_access: words('without access', 'without access', 'The token may not open it.'),
} as const satisfies Readonly<Record<CalculationFlag | CardFlag, object>>;
