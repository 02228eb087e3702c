/**
 * How soon a person must look. `page`: now, even at night, since data or money is being lost or nothing works. `ticket`:
 * on the next working day. `notice`: when there is time, since it ends by itself or only slows things down.
 */
export const severities = ['page', 'ticket', 'notice'] as const;

export type Severity = (typeof severities)[number];
