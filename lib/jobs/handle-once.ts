import { type Handled, handleMessage } from './handle-message.ts';
import type { Lease } from './held.ts';
import { persist } from './persist.ts';
import { type PutBackParts, putBack } from './put-back.ts';
import type { QueueMessage } from './queue/queue.ts';
import { replaceMessage } from './queue/replace-message.ts';
import { isServiceAway } from './service-away.ts';

/** How one delivery of a message ended. */
export type HandledOnce =
  /** Its job has ended, or it was refused: the caller deletes it. */
  | { readonly kind: 'done' }
  /** It was replaced by another message, which comes after `delayMs`, and is deleted. */
  | { readonly kind: 'replaced'; readonly delayMs: number }
  /**
   * It comes back, after `delayMs` if that is known, otherwise when its visibility timeout ends. `isLost`: the lease was
   * lost while its job ran.
   */
  | { readonly kind: 'later'; readonly delayMs: number | undefined; readonly isLost?: boolean }
  /** The same, since it could not be handled. `isAway`: the table or the store did not respond. */
  | { readonly kind: 'failed'; readonly delayMs: number | undefined; readonly isAway: boolean };

/** How soon a message comes back that met a table or a store that was away, and over what time they are spread. */
const AWAY_MS = 10_000;
const AWAY_SPREAD_MS = 20_000;

/** Handles one delivery of a message, and sees to it that the message comes back if it has to. Never throws. */
export async function handleOnce(
  message: QueueMessage,
  parts: PutBackParts & { readonly lease: Lease; readonly stopHiding?: () => Promise<void> },
): Promise<HandledOnce> {
  const { worker, queue, lease, stopHiding } = parts;
  using _ = worker.inHand?.hold({ messageId: message.messageId });
  try {
    const handled = await handleMessage(message, worker, lease);
    await stopHiding?.();
    if (handled.kind === 'done') return handled;
    if (handled.kind === 'later') return await later(message, handled, parts);
    const replace = () => replaceMessage(message, handled.body, queue);
    await (handled.isLast ? persist(replace, { ...worker, untilMs: lease.writeUntilMs }) : replace());
    return { kind: 'replaced', delayMs: 0 };
  } catch (err) {
    worker.logger.error({ messageId: message.messageId, err }, 'message not handled');
    await stopHiding?.();
    // A fault that is not an outage counts towards the dead letters.
    if (!isServiceAway(err)) return { kind: 'failed', delayMs: undefined, isAway: false };
    const delayMs = AWAY_MS + Math.floor(worker.random() * AWAY_SPREAD_MS);
    const back = await later(message, { delayMs }, parts);
    return back.kind === 'replaced' ? back : { ...back, kind: 'failed', isAway: true };
  }
}

async function later(
  message: QueueMessage,
  { delayMs, isLost = false }: Omit<Extract<Handled, { readonly kind: 'later' }>, 'kind'>,
  parts: PutBackParts,
): Promise<Extract<HandledOnce, { readonly kind: 'later' | 'replaced' }>> {
  const back = await putBack(message, delayMs, parts);
  if (back === 'replaced') return { kind: 'replaced', delayMs };
  return { kind: 'later', delayMs: back === 'delayed' ? delayMs : undefined, isLost };
}
