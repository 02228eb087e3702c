import { flagMeanings } from '../../../model/flags.ts';
import type { CalculationFlag, CardFlag } from '../../facts.ts';

/** What each flag is called, and what it says of a thing. */
export const flagWords: Readonly<
  Record<CalculationFlag | CardFlag, { readonly label: string; readonly meaning: string }>
> = {
  broken_links: { label: 'broken links', meaning: flagMeanings.broken_links },
  invalid: { label: 'invalid', meaning: flagMeanings.invalid },
  missing_target: { label: 'missing target', meaning: flagMeanings.missing_target },
  affected: { label: 'affected', meaning: flagMeanings.affected },
  unused: { label: 'unused', meaning: flagMeanings.unused },
  same_name: { label: 'same name', meaning: flagMeanings.same_name },
  same_links: { label: 'same links', meaning: flagMeanings.same_links },
  locked: { label: 'locked', meaning: 'Its record says that it is locked.' },
  archived: { label: 'archived', meaning: 'Its record says that it is archived.' },
  hidden: { label: 'hidden', meaning: 'Its record says that it is hidden.' },
  global: { label: 'global', meaning: 'Its record says that it is global.' },
  oldest: { label: 'oldest', meaning: 'It is among the hundred that were changed the longest time ago.' },
  without_access: { label: 'without access', meaning: 'The token may not open it.' },
};
