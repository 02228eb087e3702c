import { createScoreCache, type TextClaim } from '../../../lib/jobs/texts/cache/score-cache.ts';
import { type ClientOptions, recorded } from './client.ts';

const ATTEMPT_MS = 3_000;

const SPARE_MS = 3_000;

const DAY_MS = 86_400_000;

/** A worker that scores one text through the cache. */
export function textClient(options: ClientOptions): () => Promise<void> {
  const { history, dice, fault, table, nowMs, newId } = options;
  let now = nowMs();
  const cache = createScoreCache({
    table,
    host: 'platform.example',
    owner: newId(),
    newToken: newId,
    attemptMs: ATTEMPT_MS,
    spareMs: SPARE_MS,
    now: () => now + (fault === 'held-text' ? DAY_MS : 0),
  });
  let claim: TextClaim | undefined;
  let own: string | undefined;

  const ask = async <Answer extends { readonly kind: string; readonly result?: object }>(
    asked: object,
    act: () => Promise<Answer>,
  ) => {
    now = nowMs();
    const outOf = ({ kind, result }: Answer) => ({
      kind,
      result: (result as { model?: string })?.model ?? '',
    });
    const given = await recorded(options, { now, own: own ?? '', ...asked }, act, outOf);
    // After a request without a response, read the claim again.
    if (given === undefined) claim = own = undefined;
    return given;
  };

  const frees = async (op: 'release' | 'takeBack', of: TextClaim) => {
    await ask({ op }, async () => {
      await of[op]();
      return { kind: 'freed' };
    });
    claim = own = undefined;
  };

  return async () => {
    if (claim === undefined) {
      const found = await ask({ op: 'lookup' }, async () => {
        const [answer] = await cache.lookup([{ text: history }], history);
        if (answer === undefined) throw new Error('expected one answer, got none');
        return answer;
      });
      if (found?.answer.kind === 'open') claim = found.answer.claim;
      return;
    }
    const held = claim;
    if (own === undefined || dice.percent(30)) {
      const sent = await ask({ op: 'send', lease: ATTEMPT_MS + SPARE_MS }, () => held.send());
      own = sent?.answer.kind === 'sent' ? sent.id : undefined;
      if (own === undefined) claim = undefined;
    } else if (dice.percent(15)) {
      const model = newId();
      await ask({ op: 'finish', result: model }, () => held.finish({ model }));
      claim = own = undefined;
    } else await frees(dice.pick(['release', 'takeBack']), held);
  };
}
