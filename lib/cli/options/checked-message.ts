import { checkMessage, type FieldNames, type MessageChecks } from '../../jobs/message/check-message.ts';
import type { GivenMessage } from '../../jobs/message/fields.ts';
import { UsageError } from '../errors/usage-error.ts';

/**
 * The message that a command's arguments describe, checked like one from the queue. `names`: the arguments and options
 * that set its fields. Throws `UsageError` with every fault.
 */
export function checkedMessage<Message>(
  checks: Pick<MessageChecks<Message>, 'schema' | 'rules'>,
  given: GivenMessage,
  names: FieldNames,
): Message {
  const checked = checkMessage(checks, given, names);
  if (checked.kind === 'faults') throw new UsageError(checked.faults.join('\n'));
  return checked.message;
}
