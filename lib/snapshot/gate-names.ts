/** Why a finished run is not published. */
export const gateNames = [
  'empty',
  'shrunk',
  'degraded',
  'type',
  'selection',
  'unproved',
  'incomplete',
] as const;

export type GateName = (typeof gateNames)[number];
