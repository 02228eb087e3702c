import { randomFor } from '../../../lib/sandbox/platform/records/random.ts';

type LambdaRule = {
  /** A summary of AWS's documentation. */
  readonly says: string;
  readonly page: string;
  /** For an occasional event: it happens once in this number of times. */
  readonly oneIn?: number;
};

const GUIDE = 'https://docs.aws.amazon.com/lambda/latest/dg';

/** The rules by which the local Lambda is as strict, and as weak, as AWS documents. */
export const lambdaRules = {
  freezes: {
    says: 'A process does not run between invocations; what it left running continues in the next one, if at all.',
    page: `${GUIDE}/lambda-runtime-environment.html`,
  },
  'read-only': {
    says: 'Nothing may be written except a folder for temporary files, which ends with the execution environment.',
    page: `${GUIDE}/configuration-ephemeral-storage.html`,
  },
  'time-limit': {
    says: 'An invocation that exceeds its time limit fails, and its process is killed.',
    page: `${GUIDE}/configuration-timeout.html`,
  },
  'init-limit': {
    says: 'Code that does not load within 10 s is loaded once more, within the time limit of the invocation.',
    page: `${GUIDE}/lambda-runtime-environment.html#runtimes-lifecycle-ib`,
  },
  recycles: {
    says: 'Execution environments are ended now and then, however busy, and the next invocation gets a new one.',
    page: `${GUIDE}/lambda-runtime-environment.html#runtimes-lifecycle-shutdown`,
    oneIn: 20,
  },
  'repeats-events': {
    says: 'A function may receive the same asynchronous event several times, even if it returned no error.',
    page: `${GUIDE}/invocation-async-error-handling.html`,
    oneIn: 20,
  },
  'repeats-messages': {
    says: 'An event source mapping passes on each message at least once; a batch may hold one twice.',
    page: `${GUIDE}/invocation-eventsourcemapping.html`,
    oneIn: 20,
  },
} as const satisfies Readonly<Record<string, LambdaRule>>;

/** A rule for an occasional event. */
type SometimesRule = {
  [Name in keyof typeof lambdaRules]: (typeof lambdaRules)[Name] extends { readonly oneIn: number }
    ? Name
    : never;
}[keyof typeof lambdaRules];

/** Whether a rule applies this time. */
export type Sometimes = (rule: SometimesRule) => boolean;

/** Decides by a seeded random stream for each rule: true once in `oneIn` times on average. */
export function sometimes(seed: number): Sometimes {
  const streams = new Map<string, ReturnType<typeof randomFor>>();
  return (rule) => {
    const stream = streams.get(rule) ?? randomFor(seed, rule);
    streams.set(rule, stream);
    return stream.chance(1 / lambdaRules[rule].oneIn);
  };
}
