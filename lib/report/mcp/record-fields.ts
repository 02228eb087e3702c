import { nameAt, noMembers, readMembers } from '../../snapshot/changes/line-members.ts';
import { lineOf } from '../../snapshot/changes/line-reader.ts';

/** The top-level fields of a record, each as the text of its JSON; none if it is not an object. Of a name that occurs twice, the last. */
export function readFields(text: string): ReadonlyMap<string, string> {
  const line = lineOf(Buffer.from(text));
  const members = noMembers();
  try {
    readMembers(line, members);
  } catch {
    return new Map();
  }
  const fields = new Map<string, string>();
  for (let at = 0; at < members.count; at += 1)
    fields.set(
      nameAt(line, members, at),
      line.json.bytes.toString('utf8', members.valueStarts[at], members.valueEnds[at]),
    );
  return fields;
}
