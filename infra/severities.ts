/**
 * How soon an operator must react:
 * - `page`: immediately, even at night, since data or money is being lost or nothing works
 * - `ticket`: on the next working day
 * - `notice`: when there is time, since the problem ends by itself or only slows work down
 */
export const severities = ['page', 'ticket', 'notice'] as const;

/** The severity of a condition and its alarm. */
export type Severity = (typeof severities)[number];
