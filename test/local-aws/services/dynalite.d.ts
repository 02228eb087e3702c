/** The part of dynalite that is used here; the package has no types. */
declare module 'dynalite' {
  import type { Server } from 'node:http';

  /** DynamoDB in memory; the options say how long a table is CREATING, UPDATING or DELETING, in milliseconds. */
  export default function dynalite(options: {
    readonly createTableMs: number;
    readonly updateTableMs: number;
    readonly deleteTableMs: number;
  }): Server;
}
