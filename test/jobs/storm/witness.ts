import { textHashOf } from '../../../lib/jobs/texts/cache/score-cache.ts';
import type { Exchange, ProxiedReply, ProxiedRequest } from './faulty-proxy.ts';

/**
 * Sees all requests, and derives which sends met a fault that leaves their outcome open: the worker did not receive the
 * platform's whole response, or was killed or stopped while the job was recorded as sent.
 */
export type Witness = {
  readonly platform: (exchange: Exchange) => void;
  /** Called when a request to the platform arrives. */
  readonly arrived: (atMs: number) => void;
  /** Maximum number of requests to the platform within one second. */
  readonly mostInOneSecond: () => number;
  /** Called when a request to the table arrives. */
  readonly asked: (request: ProxiedRequest) => void;
  readonly replied: (request: ProxiedRequest, reply: ProxiedReply) => void;
  /** Called when a worker was killed, or stopped beyond its leases. `sent`: what else it is known to have sent. */
  readonly struck: (worker: string, sent: readonly string[]) => void;
  /** Called when the platform's connections break: unread requests are lost, and their senders cannot know it. */
  readonly broken: () => void;
  /** How many faults could have hidden the outcome of a send, by job id (`job:…`) or text hash (`hash:…`). */
  readonly excuses: () => ReadonlyMap<string, number>;
  /** Jobs that were taken over before their lease had ended, one line each. */
  readonly tooSoon: () => readonly string[];
};

export function createWitness(): Witness {
  const inHand = new Map<string, Set<string>>();
  const excuses = new Map<string, number>();
  const rows = new Map<string, JobPut>();
  const tooSoon: string[] = [];
  const lately: number[] = [];
  let max = 0;
  const excuse = (name: string) => void excuses.set(name, (excuses.get(name) ?? 0) + 1);
  const heldBy = ({ headers }: ProxiedRequest) => {
    const [, worker = ''] = /Credential=([^/]+)\//.exec(String(headers.authorization)) ?? [];
    const held = inHand.get(worker) ?? new Set();
    inHand.set(worker, held);
    return held;
  };
  return {
    platform({ request, status }) {
      if (status !== undefined && status < 500) return;
      const subject = subjectOf(request.path, request.body.toString());
      if (subject !== undefined) excuse(subject);
    },
    arrived(atMs) {
      lately.push(atMs);
      while ((lately[0] ?? atMs) <= atMs - 1_000) lately.shift();
      max = Math.max(max, lately.length);
    },
    mostInOneSecond: () => max,
    asked(request) {
      const put = putOf(request.body.toString());
      if (put?.state === 'SENT') heldBy(request).add(put.name);
    },
    replied(request, { status }) {
      const put = status === 200 ? putOf(request.body.toString()) : undefined;
      if (put === undefined) return;
      if (put.state !== 'SENT') heldBy(request).delete(put.name);
      const before = rows.get(put.name);
      rows.set(put.name, put);
      if (before?.leaseUntilMs === undefined || put.takeovers <= before.takeovers) return;
      const leftMs = before.leaseUntilMs - Date.now();
      if (leftMs > CLOCKS_MS) tooSoon.push(`${put.name} was taken over, with ${leftMs} ms of its lease left`);
    },
    struck(worker, sent) {
      for (const name of [...(inHand.get(worker) ?? []), ...sent]) excuse(name);
      inHand.delete(worker);
    },
    broken() {
      for (const names of inHand.values()) for (const name of names) excuse(name);
    },
    excuses: () => excuses,
    tooSoon: () => tooSoon,
  };
}

function subjectOf(path: string, body: string): string | undefined {
  const [, calculation] = /\/functions\/template\/(\d+)/.exec(path) ?? [];
  if (calculation !== undefined) return `calculation:${calculation}`;
  const [, file] = /\/data-files\/([^/]+)\/details/.exec(path) ?? [];
  if (file !== undefined) return `file:${file}`;
  const sent = body.startsWith('{') ? JSON.parse(body) : {};
  if (path.includes('/targeted-sentiment')) return `text:${sent.input?.[0]?.text}`;
  return sent.inputVariables === undefined ? undefined : `first:${sent.inputVariables.first}`;
}

/** Leases are in the table's time, which workers know to within one second. */
const CLOCKS_MS = 1_000;

/** The job or text whose row a request puts, and the relevant members of the new row. */
type JobPut = {
  readonly name: string;
  readonly state: string;
  readonly takeovers: number;
  readonly leaseUntilMs: number | undefined;
};

function putOf(body: string): JobPut | undefined {
  const { Item } = JSON.parse(body);
  const row = Item?.row?.S ?? '{}';
  const { state, takeovers = 0, leaseUntilMs } = JSON.parse(row);
  const name = nameOfRow(Item?.pk?.S ?? '', row);
  return state === undefined || name === undefined ? undefined : { name, state, takeovers, leaseUntilMs };
}

/** The key of a job's or text's row in `excuses`; undefined for any other row. */
export function nameOfRow(partition: string, row: string): string | undefined {
  if (partition.startsWith('job#')) return partition.replace('job#', 'job:');
  const { textHash } = JSON.parse(row);
  return textHash === undefined ? undefined : `hash:${textHash}`;
}

/** The key of a text in `excuses`. */
export const hashName = (text: string): string => `hash:${textHashOf(text)}`;
