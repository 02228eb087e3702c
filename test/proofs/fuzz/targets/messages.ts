import { setImmediate as turn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import * as z from 'zod/mini';
import { parseJson, printJson } from '../../../../lib/base/json/json.ts';
import type { Worker } from '../../../../lib/jobs/handle-message.ts';
import { withId } from '../../../../lib/jobs/message/check-message.ts';
import { parseMessage } from '../../../../lib/jobs/message/message.ts';
import { jobTypes, type Runners } from '../../../../lib/jobs/types/job-types.ts';
import { fakeWorker } from '../../../jobs/fake-worker.ts';
import { defineTarget, must } from '../target.ts';

type ParsedMessage = ReturnType<typeof parseMessage>;

/* Message bodies: each is always read as the same job, or rejected with faults. */

/** A part of the texts to score, which no fault may show. */
const PRIVATE = 'a private text 5b';

const TOKENS = [
  ...'{ } [ ] , : " \\ \\u0000 \\ud800 null true 1e400 -0 1.0 1e2 .. / 😀 2026-11-21T09:00:00Z "$.detail"'.split(
    ' ',
  ),
  ...'"id": "id":"a", "version":1, "type":"score", "__proto__":{}, "constructor": "priority":"high",'.split(
    ' ',
  ),
  ...'"notBefore":"2026-02-30" "texts":[{"text":"a"}] "expand":"revisions" "onUnknown":"retry",'.split(' '),
  ...'"rule":"a", "event":{"id":"e"}, {"$path":"$.x","$default":1}'.split(' '),
  ...['9'.repeat(20), '9'.repeat(1_200), '['.repeat(120), '\ufeff', ' ', '\n', '\u202e'],
];

const UUID = '0f8fad5b-d9cb-469f-a165-70867728950e';
const odd = fc.oneof(
  fc.constantFrom<unknown>(null, 1.5, -1, '', '..', 'a/b', [], {}, '\ud800', 2 ** 53),
  fc.jsonValue({ maxDepth: 2 }),
);
/** One of these values, or sometimes any other value. */
const mostly = (...valid: readonly unknown[]) =>
  fc.oneof({ weight: 30, arbitrary: fc.constantFrom(...valid) }, { weight: 1, arbitrary: odd });
const id = mostly(1, '17', '12345678901234567890', '007', 12);
const text = fc.oneof(fc.constant(PRIVATE), fc.string({ unit: 'binary', minLength: 1, maxLength: 10 }));

/** A placeholder for a field of an event, or a similar text. */
const ofEvent = mostly(
  ...['$', '$.id', '$.detail', '$.detail.a', "$.detail['a b']", '$.detail[0][1]', '$.__proto__', '$5'],
  ...[
    { $path: '$.detail.a', $default: null },
    { $path: '$.detail[0]', $optional: true },
  ],
  ...[{ $constant: { $path: '$' } }, { $path: 5 }, [{ $path: '$.x', $optional: true }], { a: ['$.detail'] }],
);

const common = {
  version: mostly(1),
  id: fc.oneof(fc.stringMatching(/^[A-Za-z0-9._:-]{1,8}$/), mostly('job-1')),
  notBefore: mostly('2026-11-21', '2026-11-21T09:15:00+02:00', '2027-01-01'),
  priority: mostly('high', 'normal'),
};
const fields = {
  'run-function': {
    packageId: mostly(UUID, UUID.toUpperCase()),
    packageVersion: mostly('1.0.0'),
    functionName: mostly('greet'),
    inputVariables: fc.option(fc.dictionary(fc.string(), fc.oneof(fc.jsonValue({ maxDepth: 2 }), ofEvent)), {
      nil: undefined,
    }),
    onUnknown: mostly(undefined, 'fail', 'retry'),
    rule: mostly(undefined, 'uploads'),
    event: fc.oneof(
      fc.constant(undefined),
      fc.record({ id: mostly('e-1'), detail: fc.jsonValue({ maxDepth: 3 }) }),
    ),
  },
  score: {
    texts: fc.oneof(
      {
        weight: 4,
        arbitrary: fc.array(fc.record({ id: fc.option(id, { nil: undefined }), text }), { maxLength: 3 }),
      },
      {
        weight: 1,
        arbitrary: fc.constantFrom<unknown>(PRIVATE, [PRIVATE], { text: PRIVATE }, [
          { id: 'a', txt: PRIVATE },
        ]),
      },
    ),
    topics: mostly(undefined, [{ topic: 'price' }]),
  },
  'update-formula': {
    calculationId: id,
    expression: mostly('SUM(`a`)', '1'),
    strict: mostly(undefined, true),
  },
  'data-files': { ids: fc.array(id, { maxLength: 3 }), expand: mostly(undefined, 'revisions', ['metadata']) },
  snapshot: {
    source: mostly('calculations', 'cards'),
    strict: fc.constantFrom(undefined, undefined, undefined, 1),
  },
} as const satisfies Record<(typeof jobTypes)[number], Record<string, fc.Arbitrary<unknown>>>;

const message = fc
  .constantFrom(...jobTypes)
  .chain((type) =>
    fc.tuple(
      fc.record(common, { requiredKeys: ['version'] }),
      fc.record<Record<string, unknown>>(fields[type]),
      fc.constant({ type }),
      fc.option(fc.dictionary(fc.constantFrom('extra', '__proto__', 'texts', 'Id'), odd, { maxKeys: 1 }), {
        nil: {},
        freq: 4,
      }),
    ),
  )
  .map((parts) => JSON.stringify(Object.fromEntries(parts.flatMap((part) => Object.entries(part)))));

export const messages = defineTarget({
  name: 'messages',
  schema: z.object({ body: z.string(), allow: z.enum(['all', 'scores']) }),
  tokens: TOKENS,
  inputs: fc.record({
    body: fc.oneof({ weight: 9, arbitrary: message }, fc.json()),
    allow: fc.constantFrom('all', 'all', 'all', 'scores'),
  }),
  async check({ body, allow }) {
    const options = { messageId: UUID, allow: allow === 'all' ? {} : { types: ['score' as const] } };
    const parsed = parseMessage(body, options);
    must(isDeepStrictEqual(parseMessage(body, options), parsed), 'the same body is the same', () => body);
    await checkHandled(body, parsed, options.allow);
    if (parsed.kind === 'refused') return checkRefusal(body, parsed.faults);
    const { id, type } = parsed.job;
    must(
      /^[A-Za-z0-9._:-]{1,128}$/.test(id) && /^[0-9a-f]{64}$/.test(parsed.contentHash),
      'a job has an id and a hash',
      () => id,
    );
    const again = parseMessage(printJson(parseJson(body)), options);
    must(isDeepStrictEqual(again, parsed), 'printing a message does not change it', () =>
      JSON.stringify(again),
    );
    const turned = parseMessage(printJson(reversed(parseJson(body))), options);
    must(
      turned.kind === 'job' && turned.contentHash === parsed.contentHash,
      'the order of names does not matter',
      () => body,
    );
    if (parsed.hasExplicitId) return `${type}, named`;
    const named = parseMessage(withId(body, id), { ...options, messageId: 'another' });
    must(
      isDeepStrictEqual(named, { ...parsed, hasExplicitId: true }),
      'a redriven message is the same job',
      () => JSON.stringify(named),
    );
    return `${type}, named by the queue`;
  },
});

/** Checks that faults are not empty, are bounded, and never quote a text to score. Returns the subject of the first one. */
function checkRefusal(body: string, faults: readonly string[]): string {
  must(faults.length > 0 && faults.length <= 100, 'a refusal has faults', () => String(faults.length));
  for (const fault of faults) must(fault.length <= 3_500, 'a fault is short', () => String(fault.length));
  must(hasPrivateElsewhere(body) || !faults.join().includes(PRIVATE), 'no fault shows a text', () =>
    faults.join('; '),
  );
  return `refused: ${faults[0]?.replaceAll(/".*"|\d+/gs, '…').slice(0, 40)}`;
}

/** Whether a mutation has put the private text outside `texts`, or into a member name or an id there. */
function hasPrivateElsewhere(body: string): boolean {
  if (!body.includes(PRIVATE)) return true;
  try {
    const { texts, ...others } = JSON.parse(body);
    const isName =
      new RegExp(`"[^"]*${PRIVATE}[^"]*":`).test(body) || !JSON.stringify(texts).includes(`"${PRIVATE}"`);
    return isName || /"id":"[^"]*private/.test(body) || JSON.stringify(others).includes(PRIVATE);
  } catch {
    // Invalid JSON is never quoted.
    return false;
  }
}

function reversed(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).reverse());
}

/** Checks what a worker does: reject and store the message, report it by name, run it once with a result, or postpone it. */
async function checkHandled(
  body: string,
  parsed: ParsedMessage,
  allow: { readonly types?: ['score'] | readonly 'score'[] },
): Promise<void> {
  const ran: string[] = [];
  const run = async (job: { readonly id: string }) => {
    ran.push(job.id);
    return { status: 'done', response: '{}' } as const;
  };
  const runners = Object.fromEntries(jobTypes.map((type) => [type, run])) as unknown as Runners;
  const fake = fakeWorker(runners);
  // Waits that run alongside the job are aborted by the signal when it ends.
  const sleep: Worker['sleep'] = async (_ms, signal) => {
    await turn();
    signal?.throwIfAborted();
  };
  const worker = {
    ...fake.worker,
    allow: allow.types === undefined ? {} : { types: [...allow.types] },
    sleep,
  };
  const handled = await fake.handle(body, { message: { messageId: UUID }, worker });
  const keys = [...fake.store.objects.keys()];
  if (parsed.kind === 'refused') {
    must(
      handled.kind === 'done' && keys.join() === `refused/${UUID}.json`,
      'a refused message is stored',
      () => keys.join(),
    );
    return;
  }
  if (!parsed.hasExplicitId) {
    must(
      handled.kind === 'replace' && handled.body === withId(body, UUID),
      'a message without an id is named',
      () => handled.kind,
    );
    return;
  }
  if (handled.kind === 'later') {
    const isEarly = parsed.job.notBefore !== undefined && Date.parse(parsed.job.notBefore) > fake.clock.nowMs;
    must(isEarly && ran.length === 0, 'only an early job is put off', () => body);
    return;
  }
  must(handled.kind === 'done' && ran.join() === parsed.job.id, 'a job runs once', () => ran.join());
  must(keys.filter((key) => key.startsWith('results/')).length === 1, 'a job has one result', () =>
    keys.join(),
  );
}
