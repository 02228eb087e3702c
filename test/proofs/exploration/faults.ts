/** What can go wrong, and what happens then. Each one that happens counts against the bound. */
const faults = {
  'no response': 'a request gets none: what it would change is changed then, at any later time, or never',
  'late response': 'a write to the table is made, and its response comes at any later time',
  'a kill': 'a worker or a person’s command dies: what it had asked for is applied later, or never',
  'a second delivery': 'the queue delivers a message while another worker handles it',
  'a pause': 'although there is work, time passes: until a timer, a lease or a deadline ends',
  'a 429': 'the platform refuses the call, and proves by that that nothing was executed',
  'a 400': 'the platform reads the call and rejects it',
  'no slot': 'the pace would make the call wait too long',
  'another id': 'the queue moves a message that was received before, and gives it another id',
} as const;

export type Fault = keyof typeof faults;

export const faultKinds = Object.keys(faults) as readonly Fault[];
