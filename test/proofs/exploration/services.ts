import { createHash } from 'node:crypto';
import type { Ask, AskKind, Asks } from './asks.ts';
import { type State, withMember } from './state.ts';

/** The effect of a request on a service: the state after it, and its reply. */
export type Applied<Kind extends AskKind = AskKind> = {
  readonly state: State;
  readonly reply: Asks[Kind]['gets'];
};

type Services = { readonly [Kind in AskKind]: (state: State, ask: Ask<Kind>) => Applied<Kind> };

const withQueue = (state: State, queue: Partial<State['queue']>) => ({
  state: { ...state, queue: { ...state.queue, ...queue } },
  reply: null,
});

/** The services of the outside world, as pure functions of a state. Each request takes effect as one atomic step. */
const services: Services = {
  'read the row': (state, { key }) => ({ state, reply: state.rows[key] ?? null }),
  'write the row': (state, { key, row, expected, token }) => {
    const current = state.rows[key];
    if ((current?.token ?? null) !== expected) return { state, reply: { kind: 'other', current } };
    const stored = { row: JSON.parse(JSON.stringify(row)), token };
    return { state: { ...state, rows: withMember(state.rows, key, stored) }, reply: { kind: 'stored' } };
  },
  'read an object': (state, { key }) => {
    const body = state.objects[key];
    return { state, reply: body === undefined ? null : { body, etag: etagOf(body) } };
  },
  'write an object': (state, { key, body, condition }) => {
    const there = state.objects[key];
    const holds =
      condition === undefined ||
      ('ifAbsent' in condition
        ? there === undefined
        : there !== undefined && etagOf(there) === condition.ifMatch);
    if (!holds) return { state, reply: { kind: 'condition-failed' } };
    const objects = there === body ? state.objects : withMember(state.objects, key, body);
    return { state: { ...state, objects }, reply: { kind: 'stored', etag: etagOf(body) } };
  },
  'delete an object': (state, { key }) => {
    const { [key]: _, ...objects } = state.objects;
    return { state: { ...state, objects }, reply: null };
  },
  'list objects': (state, { prefix }) => ({
    state,
    reply: Object.keys(state.objects).filter((key) => key.startsWith(prefix)),
  }),
  'send a message': (state, { body }) => {
    const sent = state.queue.sent + 1;
    const message = { messageId: `m-${sent}`, body, receives: 0, visibleAtMs: state.nowMs };
    return withQueue(state, { sent, messages: [...state.queue.messages, message] });
  },
  'delete the message': (state, { receipt }) => {
    const messages = state.queue.messages.filter((each) => each.messageId !== messageOf(receipt));
    return withQueue(state, { messages });
  },
  // An old receipt delays nothing.
  'delay the message': (state, { receipt, delayMs }) => {
    const visibleAtMs = state.nowMs + delayMs;
    const messages = state.queue.messages.map((each) =>
      receiptOf(each) === receipt ? { ...each, visibleAtMs } : each,
    );
    return withQueue(state, { messages });
  },
  'call the platform': (state, { id, fence }) => {
    const before = state.facts.executed;
    const executed = [...before, { id, fence }].sort((a, b) => a.fence - b.fence);
    const execution = `execution ${executed.length} of ${id} by fence ${fence}`;
    const facts = { ...state.facts, executed };
    return { state: { ...state, facts }, reply: { kind: 'executed', execution } };
  },
  'take a slot': (state) => ({ state, reply: { isGranted: true } }),
  'report the end': (state, { status }) => {
    const reported = [...new Set([...state.facts.reported, status])].sort();
    return { state: { ...state, facts: { ...state.facts, reported } }, reply: null };
  },
  sleep: (state) => ({ state, reply: null }),
};

export function applyAsk<Kind extends AskKind>(state: State, ask: Ask<Kind>): Applied<Kind> {
  const service: Services[Kind] = services[ask.kind];
  return service(state, ask);
}

/** As in S3, the same content has the same etag. */
const etagOf = (body: string) => createHash('md5').update(body).digest('hex');

export const receiptOf = ({ messageId, receives }: State['queue']['messages'][number]) =>
  `${messageId}/${receives}`;

export const messageOf = (receipt: string) => receipt.split('/', 1)[0];

/**
 * False if a floating change can no longer have an effect. Tokens and receipts are never reused, so one that no
 * longer matches never will.
 */
export function mayMatter({ rows, queue }: State, ask: Ask): boolean {
  if (ask.kind === 'write the row') return (rows[ask.key]?.token ?? null) === ask.expected;
  if (ask.kind === 'delete the message')
    return queue.messages.some(({ messageId }) => messageId === messageOf(ask.receipt));
  if (ask.kind === 'delay the message') return queue.messages.some((each) => receiptOf(each) === ask.receipt);
  return true;
}
