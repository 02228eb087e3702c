/** Why a finished run is not published. */
export const gateNames = [
  'empty',
  'shrunk',
  'degraded',
  'type',
  'selection',
  'platform',
  'unproved',
  'incomplete',
  'future',
  'broken',
] as const;

export type GateName = (typeof gateNames)[number];
