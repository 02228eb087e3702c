import type { Send } from '../../lib/platform/http/transport.ts';
import { failed, lost, ok, refused, status } from '../platform/fake-call.ts';
import { calculation } from '../platform/sample-records.ts';
import type { FunctionEnd } from './job-plan.ts';

type AttemptResult = Awaited<ReturnType<Send>>;

type PlatformRequest = Parameters<Send>[0];

/** The API of a request: the second segment of its path. */
const apiOf = ({ target }: PlatformRequest) => target.split('/')[2];

/** The subject of a request: a job, recognized by what it sends, a text, or the path of a data file. */
export function subjectOf(request: PlatformRequest): string {
  const given = request.body === undefined ? undefined : JSON.parse(request.body);
  switch (apiOf(request)) {
    case 'codeengine':
      return given.inputVariables.subject;
    case 'query':
      return given.expression;
    case 'ai':
      return given.input[0].text;
    default:
      return request.target;
  }
}

/** The platform's response to an executed request. For functions and formulas it contains the execution's name. */
export const responseTo = (request: PlatformRequest, execution: string, end: FunctionEnd): AttemptResult =>
  ok(bodyTo(request, execution, end).body);

/** The body of the platform's response to an executed request, and the operation. */
export function bodyTo(request: PlatformRequest, execution: string, end: FunctionEnd) {
  switch (apiOf(request)) {
    case 'codeengine':
      return { operation: 'runFunction', body: { executionId: execution, status: end } };
    case 'query': {
      const body = calculation({ id: idOf(request), name: execution, expression: subjectOf(request) });
      return { operation: 'updateFormula', body };
    }
    case 'ai':
      return { operation: 'analyzeSentiment', body: { type: 'SIMPLE', sentiment: 'POSITIVE' } };
    default: {
      const body = { dataFileId: request.target.split('/')[5], name: execution };
      return { operation: 'getDataFile', body };
    }
  }
}

/** The id at the end of the path: of the calculation whose formula is set. */
const idOf = ({ target }: PlatformRequest) => Number(/(\d+)(?:\?.*)?$/.exec(target)?.[1]);

/** The ways in which a request can go wrong, and whether it is executed anyway. */
export type Fate = {
  readonly name: string;
  readonly executes: 'no' | 'now' | 'perhaps';
  readonly result: (request: PlatformRequest) => AttemptResult;
};

export const fates: readonly Fate[] = [
  { name: '429', executes: 'no', result: () => status(429, 1_000) },
  { name: '401', executes: 'no', result: () => status(401) },
  { name: '503', executes: 'perhaps', result: () => status(503) },
  { name: 'connection refused', executes: 'no', result: () => refused },
  { name: 'connection lost', executes: 'perhaps', result: () => lost },
  {
    name: 'cut response',
    executes: 'now',
    result: () => failed({ kind: 'cut', detail: 'ends after 10 bytes' }),
  },
  {
    name: 'timeout',
    executes: 'perhaps',
    result: ({ timeoutMs }) => failed({ kind: 'timeout', timeoutMs, phase: 'exchange' }),
  },
];
