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
] as const;

export type GateName = (typeof gateNames)[number];
