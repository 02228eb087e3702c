import { stopsWhenCancelled } from '../../../lib/jobs/types/job-types.ts';
import { bodyOf, type Deed, type Plan } from './plan.ts';
import type { SimulatedPlatform } from './simulated-platform.ts';
import { ledgerOf, type Scene } from './workers.ts';

/** What people did that the promises must allow for. */
export type Meddling = {
  readonly reopened: { readonly job: number; readonly sends: number; readonly fence: number }[];
  /** Ids of messages with different content under a job's id, with the number of the job. */
  readonly otherContents: { readonly messageId: string; readonly job: number }[];
};

/** The ids of the messages of the plan by the number of their job; the first of each is there from the start. */
export type Sent = Map<number, string[]>;

/** Cancels, reopens and resends, at the times in the plan. People are patient, and meet no trouble. */
export async function meddle(
  plan: Plan,
  deed: Deed,
  { sent, idOf }: { readonly sent: Sent; readonly idOf: (number: number) => string },
  scene: Scene,
  meddling: Meddling,
): Promise<void> {
  const { world, queue, platform } = scene;
  const number = (deed.job % plan.jobs.length) + 1;
  const job = plan.jobs[number - 1];
  if (job === undefined) return;
  const person = world.start(`person (${deed.kind} ${number})`, false);
  const ledger = ledgerOf(person, scene);
  const sendAgain = (content = '') => {
    const messageId = queue.send(bodyOf(job, number, content));
    world.log(person.name, `sends ${messageId}`);
    return messageId;
  };
  await world.sleep(person, deed.afterMs);
  switch (deed.kind) {
    case 'cancel':
      await ledger.cancel(idOf(number), { stops: stopsWhenCancelled });
      return;
    case 'reopen': {
      const answer = await ledger.reopen(idOf(number), { isNamed: true });
      if (answer.kind !== 'reopened') return;
      const { started } = platform;
      meddling.reopened.push({ job: number, sends: startsOf(number, started), fence: answer.row.fence });
      sent.get(number)?.push(queue.send(withId(bodyOf(job, number), idOf(number))));
      // Whichever content became the job, it alone is accepted.
      if (meddling.otherContents.some((other) => other.job === number))
        meddling.otherContents.push({ messageId: sendAgain('0'), job: number });
      return;
    }
    case 'send again':
      // A message without an id becomes another job each time.
      if (idOf(number) === `job-${number}`) sent.get(number)?.push(sendAgain());
      return;
    case 'send another content':
      if (idOf(number) !== `job-${number}`) return;
      meddling.otherContents.push({ messageId: sendAgain('0'), job: number });
      return;
    default:
      return deed.kind satisfies never;
  }
}

/** A message with its job's id written into it, since the queue's id stands for one that it does not name. */
const withId = (body: string, id: string) => JSON.stringify({ ...JSON.parse(body), id });

export const startsOf = (number: number, started: SimulatedPlatform['started']): number =>
  started.filter(({ subject }) => isOf(subject, number)).length;

/** Whether a subject belongs to a job, with any content. */
export const isOf = (subject: string, number: number): boolean =>
  subject === `subject-${number}` || subject === `subject-${number}0`;
