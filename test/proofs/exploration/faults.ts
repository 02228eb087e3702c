/** What can go wrong. Each one that happens counts against the bound. */
export type Fault =
  /** A request gets none: what it would change is changed then, at any later time, or never. */
  | 'no response'
  /** A write to the table is made, and its response comes at any later time. */
  | 'late response'
  /** A worker or a person's command is killed: what it had asked for is applied later or never. */
  | 'a kill'
  /** The queue delivers a message while another worker handles it. */
  | 'a second delivery'
  /** Although there is work, time passes: until a timer, a lease, a visibility timeout or a deadline ends. */
  | 'a pause'
  /** The platform refuses the call, and proves by that that nothing was executed. */
  | 'a 429'
  /** The platform reads the call and rejects it. */
  | 'a 400'
  /** The pace would make the call wait too long. */
  | 'no slot'
  /** The queue moves a message that was received before, and gives it another id. */
  | 'another id';
