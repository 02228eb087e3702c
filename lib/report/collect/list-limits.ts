import { MOST_LISTED, MOST_WHOLE } from '../facts.ts';

/** How many records a list may have and still be whole, and how many a list has that is not. */
export type ListLimits = { readonly whole: number; readonly top: number };

export const listLimits: ListLimits = { whole: MOST_WHOLE, top: MOST_LISTED };
