import { flagMeanings } from '../../../model/flags.ts';
import type { CalculationFlag, CardFlag } from '../../facts.ts';

type Words = { readonly label: string; readonly meaning: string };

const own = (label: string, meaning: string): Words => ({ label, meaning });

/** What each flag is called, and what it says of a thing. */
export const flagWords: Readonly<Record<CalculationFlag | CardFlag, Words>> = {
  broken_links: own('broken links', flagMeanings.broken_links),
  invalid: own('invalid', flagMeanings.invalid),
  missing_target: own('missing target', flagMeanings.missing_target),
  affected: own('affected', flagMeanings.affected),
  unused: own('unused', flagMeanings.unused),
  same_name: own('same name', flagMeanings.same_name),
  same_links: own('same links', flagMeanings.same_links),
  locked: own('locked', 'Its record says that it is locked.'),
  archived: own('archived', 'Its record says that it is archived.'),
  hidden: own('hidden', 'Its record says that it is hidden.'),
  global: own('global', 'Its record says that it is global.'),
  oldest: own('oldest', 'It is among the hundred that were changed the longest time ago.'),
  without_access: own('without access', 'The token may not open it.'),
};
